const MAX_LENGTH = 100;

/** Returns why `value` is not an inverter brand, or undefined if it is one. The interface lists no brands, so any name is accepted. */
export function brandFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length === 0 || value.length > MAX_LENGTH)
    return `must have 1 to ${MAX_LENGTH} characters, not ${value.length}`;
  if (/[\p{Cc}\p{Surrogate}\u2028\u2029]/u.test(value))
    return 'must not contain control characters or line breaks';
  if (/^\s|\s$/u.test(value)) return 'must not begin or end with a blank';
  return undefined;
}
