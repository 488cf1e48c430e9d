const DAY_MS = 86_400_000;

/** Returns an instant in the time zone of the viewer: only the time if it is today, with the day if it is this year, else with the year. */
export function formatInstant(at: Date, now: Date, timeZone?: string): string {
  const zone = timeZone === undefined ? {} : { timeZone };
  const dayOf = (date: Date) => date.toLocaleDateString('en-GB', { ...zone, day: 'numeric', month: 'short' });
  const time = at.toLocaleTimeString('en-GB', {
    ...zone,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const distance = Math.abs(now.getTime() - at.getTime());
  if (distance < DAY_MS && dayOf(at) === dayOf(now)) return time;
  if (distance < 180 * DAY_MS) return `${dayOf(at)}, ${time.slice(0, 5)}`;
  return at.toLocaleDateString('en-GB', { ...zone, day: 'numeric', month: 'short', year: 'numeric' });
}
