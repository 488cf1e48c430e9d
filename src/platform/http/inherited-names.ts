import { LosslessNumber } from '../json/lossless.js';
import type { FieldError } from '../problem/problem.js';

/**
 * Finds properties named like those that every JavaScript object inherits, `toString` for instance, wherever a class says which
 * properties there are: class-transformer drops them without a word, and class-validator takes them for declared. `instance` is
 * what was made of `value`; where it is not a DTO, the data is free-form and may use these names.
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
