const MAX_LENGTH = 200;
const CONTROL_CHARACTER = /[\p{Cc}\u2028\u2029]/u;
const BLANK_AT_AN_END = /^\s|\s$/u;

/** Returns why `value` is not a tenantReference, else undefined. Does not trim it: it must equal the reference in the tenant's system. */
export const tenantReferenceFault = (value: unknown) => lineFault(value, MAX_LENGTH);

/** Returns why `value` is not one line of 1 to `maxLength` characters, else undefined. */
export function lineFault(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length === 0 || value.length > maxLength)
    return `must have 1 to ${maxLength} characters, not ${value.length}`;
  if (CONTROL_CHARACTER.test(value)) return 'must not contain control characters or line breaks';
  if (!value.isWellFormed()) return 'must not contain half a surrogate pair';
  if (BLANK_AT_AN_END.test(value)) return 'must not begin or end with a blank';
  return undefined;
}
