const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** Returns a duration in its two largest units, such as `2 h 5 min`. Shorter than ten seconds: with one decimal. */
export function formatSeconds(seconds: number): string {
  if (seconds < 0) return `−${formatSeconds(-seconds)}`;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  let rest = Math.round(seconds);
  // Beside days, minutes say nothing; beside hours, seconds do not.
  if (rest >= 86_400) rest = Math.round(rest / 3_600) * 3_600;
  else if (rest >= 3_600) rest = Math.round(rest / 60) * 60;
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const amount = Math.floor(rest / size);
    if (amount > 0) parts.push(`${amount} ${unit}`);
    rest -= amount * size;
  }
  return parts.join(' ');
}

/** Returns the duration of a call: shorter than a second in milliseconds. */
export const formatLatency = (seconds: number): string =>
  seconds < 0.9995 ? `${Math.round(seconds * 1_000)} ms` : formatSeconds(seconds);

/** Returns how long ago an instant was, or in how long it will be. */
export function formatAge(at: Date, now: Date): string {
  const seconds = (now.getTime() - at.getTime()) / 1_000;
  // The clocks of the browser and the service may differ by some seconds.
  if (Math.abs(seconds) < 5) return 'now';
  return seconds > 0 ? `${formatSeconds(seconds)} ago` : `in ${formatSeconds(-seconds)}`;
}
