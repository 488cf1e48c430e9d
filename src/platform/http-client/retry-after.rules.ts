/** A service that asks for a year means "later"; after an hour we ask how it is. */
const LONGEST_WAIT_MS = 3_600_000;

/** Retry-After (RFC 9110, section 10.2.3) as a wait of 0 to 1 hour; undefined when it is neither seconds nor a date. */
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
