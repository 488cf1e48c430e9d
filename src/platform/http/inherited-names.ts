import { LosslessNumber } from '../json/lossless.js';
import type { FieldError } from '../problem/problem.js';

/**
 * Returns errors for properties named like those that every JavaScript object inherits, for instance `toString`, if a class declares the
 * properties: class-transformer drops them silently, and class-validator treats them as declared. `instance` was made from `value`; if it
 * is not a DTO, the data is free-form and may use these names.
 */
export function inheritedNames(value: unknown, instance: unknown, path = ''): FieldError[] {
  if (Array.isArray(value) && Array.isArray(instance))
    return value.flatMap((item, index) => inheritedNames(item, instance[index], `${path}[${index}]`));
  if (!isObject(value) || !isDto(instance)) return [];
  return Object.keys(value).flatMap((name) => {
    const field = path === '' ? name : `${path}.${name}`;
    if (name in Object.prototype) return [{ field, message: 'is not known here' }];
    return inheritedNames(value[name], instance[name], field);
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function isDto(value: unknown): value is Record<string, unknown> {
  if (!isObject(value) || value instanceof LosslessNumber) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype;
}
