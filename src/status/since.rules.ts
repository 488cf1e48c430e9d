import { troubleOf, type REASON_CODES } from './health.rules.js';
import type { Facts } from './facts.view.js';

type Code = (typeof REASON_CODES)[number];
/** Returns the times at which failures or waits began, or their ages in seconds; 0 if nothing fails or waits. */
type Known = (facts: Facts) => readonly (Date | number)[];

/** The functions that find the beginning of a reason in the facts. The facts do not contain the beginning of other reasons. */
const KNOWN: Partial<Record<Code, Known>> = {
  credentials_rejected: ({ remote }) => troubleOf(remote, 'credentials_rejected').map(({ since }) => since),
  remote_degraded: ({ remote }) => troubleOf(remote, 'degraded').map(({ since }) => since),
  sessions_overdue: ({ poller }) => [poller?.oldestOverdueSeconds ?? 0],
  events_unsequenced: ({ outbox }) => [outbox.oldestUnsequencedSeconds],
  reader_behind: ({ outbox: { readers } }) => [
    readers.handlers.oldestUndeliveredSeconds,
    readers.webhooks.oldestUndeliveredSeconds,
    readers.broker?.oldestUnpublishedSeconds ?? 0,
  ],
  broker_failing: ({ outbox }) => [outbox.readers.broker?.failingSince ?? 0],
  webhooks_failing: ({ outbox }) => [outbox.readers.webhooks.oldestFailingSeconds],
  starts_abandoned: ({ starts }) => [starts.oldestAbandonedSeconds],
  registrations_uncertain: ({ registrations }) => [registrations.oldestUncertainSeconds],
  transaction_old: ({ oldestTransaction }) => [oldestTransaction?.seconds ?? 0],
};

/** Returns since when a reason has been true: the earliest of the beginning by the facts and `sampled`; null if neither is known. */
export function sinceOf(code: Code, facts: Facts, sampled: Date | undefined, now: Date): Date | null {
  const known = (KNOWN[code]?.(facts) ?? []).filter((each) => each !== 0);
  const times = known.map((each) =>
    typeof each === 'number' ? now.getTime() - each * 1_000 : each.getTime(),
  );
  if (sampled !== undefined) times.push(sampled.getTime());
  return times.length === 0 ? null : new Date(Math.min(...times));
}
