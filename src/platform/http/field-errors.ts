import type { FieldError } from '../problem/problem.js';
import { LosslessNumber } from '../json/lossless.js';

export const UNKNOWN_NAME = 'is not known here';

/** JavaScript gives these names a special meaning, and class-transformer drops them silently. */
const RESERVED_NAMES = ['__proto__', 'constructor'];

/** Returns errors for reserved names, and for NULs and lone surrogates, which PostgreSQL cannot store. `field` is the path of `value`. */
export function textErrors(value: unknown, field = ''): FieldError[] {
  if (typeof value === 'string') return errorsOf(value, field);
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => textErrors(item, `${field}[${index}]`));
  return Object.entries(value).flatMap(([name, item]) => {
    const path = field === '' ? name : `${field}.${name}`;
    const unusable = errorsOf(name, field || 'a name').concat(
      RESERVED_NAMES.includes(name) ? [{ field: path, message: 'is a name that is not allowed' }] : [],
    );
    return unusable.length > 0 ? unusable : textErrors(item, path);
  });
}

function errorsOf(text: string, field: string): FieldError[] {
  if (text.includes('\0')) return [{ field, message: 'must not contain the character U+0000' }];
  if (!text.isWellFormed()) return [{ field, message: 'must not contain half of a surrogate pair' }];
  return [];
}

/** Returns errors for inherited names such as `toString`, which class-transformer drops from a DTO. Free-form data may use such names. */
export function inheritedNames(value: unknown, instance: unknown, path = ''): FieldError[] {
  if (Array.isArray(value) && Array.isArray(instance))
    return value.flatMap((item, index) => inheritedNames(item, instance[index], `${path}[${index}]`));
  if (!isObject(value) || !isDto(instance)) return [];
  return Object.keys(value).flatMap((name) => {
    const field = path === '' ? name : `${path}.${name}`;
    if (name in Object.prototype) return [{ field, message: UNKNOWN_NAME }];
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
