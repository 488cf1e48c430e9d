const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** Returns a duration in its two largest units, such as `2 h 5 min`. A duration below ten seconds has one decimal. */
export function formatSeconds(seconds: number): string {
  if (seconds < 0) return `−${formatSeconds(-seconds)}`;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  let rest = Math.round(seconds);
  // Rounds a duration of days to hours, and one of hours to minutes.
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

/** Returns the duration of a call, in milliseconds if it is shorter than a second. */
export const formatLatency = (seconds: number): string =>
  seconds < 0.9995 ? `${Math.round(seconds * 1_000)} ms` : formatSeconds(seconds);

/** Returns a duration for reading at a glance: in one unit, or in two if the larger one counts less than ten hours or days. */
function formatRoughly(seconds: number): string {
  const at = UNITS.findIndex(([, size]) => seconds >= size);
  const [unit, size] = UNITS[at] ?? UNITS[3];
  const amount = Math.floor(seconds / size);
  const [smaller, smallerSize] = UNITS[at + 1] ?? UNITS[3];
  const rest = Math.floor((seconds % size) / smallerSize);
  return size > 60 && amount < 10 && rest > 0 ? `${amount} ${unit} ${rest} ${smaller}` : `${amount} ${unit}`;
}

/** Returns how long ago an instant was, or how far in the future it is. */
export function formatAge(at: Date, now: Date): string {
  const seconds = (now.getTime() - at.getTime()) / 1_000;
  // A difference of less than 5 s may come from the clocks of the browser and the service.
  if (Math.abs(seconds) < 5) return 'now';
  return seconds > 0 ? `${formatRoughly(seconds)} ago` : `in ${formatRoughly(-seconds)}`;
}
