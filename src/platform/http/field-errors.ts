import type { FieldError } from '../problem/problem.js';
import { LosslessNumber } from '../json/lossless.js';

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
