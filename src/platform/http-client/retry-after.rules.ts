/** Returns the wait of a Retry-After header (RFC 9110, section 10.2.3) in ms, at most an hour; undefined if it is not valid. */
export function readRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const waitMs = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : /^[A-Z][a-z]{2}/.test(text)
      ? readDate(text) - now.getTime()
      : NaN;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), 3_600_000);
}

/** Returns when a response was sent, by the clock of its sender, which also wrote a date in Retry-After. Default: `now`. */
export const respondedAt = (dateHeader: string | undefined, now: Date): Date => {
  const ms = readDate(dateHeader ?? '');
  return Number.isNaN(ms) ? now : new Date(ms);
};

/** Reads an HTTP date. The oldest of its forms, that of asctime, names no zone (RFC 9110, section 5.6.7). */
const readDate = (text: string): number => Date.parse(/^[A-Z][a-z]{2} /.test(text) ? `${text} GMT` : text);
