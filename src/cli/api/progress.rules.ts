import type { Schemas } from '#client/client.js';

type Progress = Pick<
  Schemas['CampaignView'],
  'status' | 'rows' | 'counts' | 'perSecond' | 'remainingSeconds'
>;

const LONGEST_BAR = 24;
const SHORTEST_BAR = 6;

/**
 * Returns a line such as `[######------] 1,200 of 4,000 rows, 2 min left, 19.8/s, 3 invalid`. Omits the bar, then parts at the end, if the
 * line is longer than `width`. Without a width, there is no bar.
 */
export function progressLine(
  { status, rows, counts, perSecond, remainingSeconds }: Progress,
  width?: number,
): string {
  const done = rows - counts.accepted;
  const troubles = (['invalid', 'rejected', 'uncertain', 'cancelled'] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => `${count(counts[name])} ${name}`);
  const parts = [
    `${count(done)} of ${count(rows)} rows`,
    ...(status === 'running' ? [] : [status]),
    ...(remainingSeconds === null ? [] : [`${duration(remainingSeconds)} left`]),
    ...(perSecond === null ? [] : [`${perSecond.toFixed(1)}/s`]),
    ...troubles,
  ];
  if (width === undefined) return parts.join(', ');
  while (parts.length > 1 && parts.join(', ').length > width) parts.pop();
  const text = parts.join(', ');
  const bar = Math.min(LONGEST_BAR, width - text.length - '[] '.length);
  if (bar < SHORTEST_BAR) return text;
  const filled = rows === 0 ? bar : Math.floor((done / rows) * bar);
  return `[${'#'.repeat(filled)}${'-'.repeat(bar - filled)}] ${text}`;
}

/** Returns a duration in its largest unit, rounded up, because it is only an estimate. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.ceil(seconds / 60)} min`;
  return seconds < 36 * 3_600 ? `${Math.ceil(seconds / 3_600)} h` : `${Math.ceil(seconds / 86_400)} days`;
}

export const count = (number: number): string => number.toLocaleString('en');
