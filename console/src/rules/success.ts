import type { Delivery } from '../api/client.js';

const HOUR_MS = 3_600_000;
export const HOURS = 24;

export interface Hour {
  readonly at: Date;
  readonly delivered: number;
  /** Tried, and not delivered yet, or given up. */
  readonly failed: number;
}

/** Returns the deliveries that were last tried in each of the last hours, the oldest hour first. */
export function successOf(
  deliveries: readonly Pick<Delivery, 'status' | 'lastAttemptAt'>[],
  now: Date,
): Hour[] {
  const first = Math.floor(now.getTime() / HOUR_MS) - HOURS + 1;
  const hours = Array.from({ length: HOURS }, (_, index) => ({
    at: new Date((first + index) * HOUR_MS),
    delivered: 0,
    failed: 0,
  }));
  for (const { status, lastAttemptAt } of deliveries) {
    const hour = hours[Math.floor(Date.parse(lastAttemptAt ?? '') / HOUR_MS) - first];
    if (hour !== undefined) hour[status === 'delivered' ? 'delivered' : 'failed'] += 1;
  }
  return hours;
}
