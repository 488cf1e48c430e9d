import type { FieldError } from '../problem/problem.js';
import { LosslessNumber } from '../json/lossless.js';

/** JavaScript gives these names a special meaning, and class-transformer drops them silently. */
const RESERVED_NAMES = ['__proto__', 'constructor'];

/**
 * Returns an error for each NUL and lone surrogate, anywhere in a request: PostgreSQL cannot store them, and UTF-8 cannot encode the
 * latter. Also for names that no body may use. `field` is the name of the value itself, empty for a whole body or query.
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
