/** A period in seconds since 1970. */
export interface Span {
  readonly min: number;
  readonly max: number;
}

const LEAST_SECONDS = 300;

/**
 * Returns the period to show: that which is shown, with its length times `factor` around its middle, later by `shift` of its length. It
 * stays within `all`, and is at least 5 minutes long.
 */
export function zoomed(shown: Span, all: Span, factor: number, shift: number): Span {
  const before = shown.max - shown.min;
  const length = Math.min(all.max - all.min, Math.max(LEAST_SECONDS, before * factor));
  const min = shown.min + (before - length) / 2 + shift * length;
  const within = Math.max(all.min, Math.min(all.max - length, min));
  return { min: within, max: within + length };
}
