import type { Schemas } from '#client/client.js';

type Progress = Pick<
  Schemas['CampaignView'],
  'status' | 'rows' | 'counts' | 'perSecond' | 'remainingSeconds'
>;

const WIDTH = 24;

/** Returns a line such as `[######------] 1,200 of 4,000 rows, 19.8/s, 2 min left, 3 invalid`. */
export function progressLine({ status, rows, counts, perSecond, remainingSeconds }: Progress): string {
  const done = rows - counts.accepted;
  const filled = rows === 0 ? WIDTH : Math.floor((done / rows) * WIDTH);
  const troubles = (['invalid', 'rejected', 'uncertain', 'cancelled'] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => `${count(counts[name])} ${name}`);
  const parts = [
    `${count(done)} of ${count(rows)} rows`,
    ...(status === 'running' ? [] : [status]),
    ...(perSecond === null ? [] : [`${perSecond.toFixed(1)}/s`]),
    ...(remainingSeconds === null ? [] : [`${duration(remainingSeconds)} left`]),
    ...troubles,
  ];
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${parts.join(', ')}`;
}

/** Returns a duration in its largest unit, rounded up: an estimate is no more exact. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.ceil(seconds / 60)} min`;
  return seconds < 36 * 3_600 ? `${Math.ceil(seconds / 3_600)} h` : `${Math.ceil(seconds / 86_400)} days`;
}

export const count = (number: number): string => number.toLocaleString('en');
