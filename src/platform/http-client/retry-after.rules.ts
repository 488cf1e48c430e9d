/** A service that requests a year means "later"; we try again after an hour. */
const LONGEST_WAIT_MS = 3_600_000;

/** Reads Retry-After (RFC 9110, section 10.2.3) as a wait of 0 to 1 hour; undefined if it is neither seconds nor a date. */
export function readRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const waitMs = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : /^[A-Z][a-z]{2}/.test(text)
      ? Date.parse(text) - now.getTime()
      : NaN;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), LONGEST_WAIT_MS);
}
