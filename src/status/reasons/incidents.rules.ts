import type { ReasonCode } from '../reasons.js';

const LATE_READS: readonly ReasonCode[] = [
  'nothing_read',
  'reads_stale',
  'sessions_overdue',
  'nothing_changes',
];
const LATE_EVENTS: readonly ReasonCode[] = ['events_unsequenced', 'reader_behind'];
const BLOCKED_DATABASE: readonly ReasonCode[] = [
  ...LATE_READS,
  ...LATE_EVENTS,
  'requests_fail',
  'handlers_failing',
  'starts_abandoned',
];

/** The reasons that usually follow from another one, the most far-reaching cause first. */
const FOLLOWS: Readonly<Partial<Record<ReasonCode, readonly ReasonCode[]>>> = {
  disk_full: [...BLOCKED_DATABASE, 'writes_fail', 'no_worker'],
  tables_locked: [...BLOCKED_DATABASE, 'writes_fail'],
  writes_fail: BLOCKED_DATABASE,
  no_worker: [...LATE_READS, ...LATE_EVENTS, 'starts_abandoned'],
  proxy_fails: [...LATE_READS, 'remote_degraded', 'held_back_by_breaker', 'starts_fell'],
  credentials_rejected: [...LATE_READS, 'remote_degraded', 'held_back_by_breaker', 'starts_fell'],
  remote_degraded: [...LATE_READS, 'remote_slow', 'held_back_by_breaker', 'starts_fell'],
  held_back_by_breaker: LATE_READS,
  held_back_by_remote_service: [...LATE_READS, 'budget_short'],
  remote_slow: ['reads_stale', 'sessions_overdue'],
  budget_short: ['reads_stale'],
  webhooks_failing: ['reader_behind'],
};
const CAUSES = Object.keys(FOLLOWS) as ReasonCode[];

/** Returns the first cause of an incident from which `code` probably follows, among the reasons that are `present`; null if it is a cause itself. */
export function causeOf(code: ReasonCode, present: ReadonlySet<ReasonCode>): ReasonCode | null {
  const cause = CAUSES.find((each) => present.has(each) && FOLLOWS[each]?.includes(code));
  return cause === undefined ? null : (causeOf(cause, present) ?? cause);
}
