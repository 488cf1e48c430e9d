import type { FieldError } from '../problem/problem.js';
import { LosslessNumber } from '../json/lossless.js';

/** JavaScript gives these names a meaning of their own, and class-transformer drops them without a word. */
const RESERVED_NAMES = ['__proto__', 'constructor'];

/**
 * What PostgreSQL cannot store, wherever it stands in a request: NUL, and surrogates without their other half (no UTF-8 says
 * them); with them the names that no body may use. `field` is the name of the value itself, empty for a whole body or query.
 */
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
