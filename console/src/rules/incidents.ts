import type { Status } from '../api/client.js';

type Reason = Status['reasons'][number];
type Code = Reason['code'];

const LATE_READS: readonly Code[] = ['nothing_read', 'reads_stale', 'sessions_overdue', 'nothing_changes'];
const LATE_EVENTS: readonly Code[] = ['events_unsequenced', 'reader_behind'];
const BLOCKED_DATABASE: readonly Code[] = [
  ...LATE_READS,
  ...LATE_EVENTS,
  'requests_fail',
  'handlers_failing',
  'starts_abandoned',
];

/** The reasons that usually follow from another one, the most far-reaching cause first. */
const FOLLOWS: Readonly<Partial<Record<Code, readonly Code[]>>> = {
  disk_full: [...BLOCKED_DATABASE, 'no_worker'],
  tables_locked: BLOCKED_DATABASE,
  no_worker: [...LATE_READS, ...LATE_EVENTS, 'starts_abandoned'],
  credentials_rejected: [...LATE_READS, 'remote_degraded', 'held_back_by_breaker', 'starts_fell'],
  remote_degraded: [...LATE_READS, 'remote_slow', 'held_back_by_breaker', 'starts_fell'],
  held_back_by_breaker: LATE_READS,
  held_back_by_remote_service: [...LATE_READS, 'budget_short'],
  remote_slow: ['reads_stale', 'sessions_overdue'],
  budget_short: ['reads_stale'],
};

export interface Incident {
  readonly cause: Reason;
  /** The reasons that probably follow from the cause. */
  readonly symptoms: readonly Reason[];
}

/** Returns the reasons as incidents, in the order of their causes. A reason is a symptom of the first present reason that it follows from. */
export function incidentsOf(reasons: readonly Reason[]): Incident[] {
  const causes = (Object.keys(FOLLOWS) as Code[]).filter((code) =>
    reasons.some((each) => each.code === code),
  );
  const causeOf = (code: Code): Code | undefined => causes.find((cause) => FOLLOWS[cause]?.includes(code));
  const rootOf = (code: Code): Code => {
    const cause = causeOf(code);
    return cause === undefined ? code : rootOf(cause);
  };
  return reasons
    .filter(({ code }) => causeOf(code) === undefined)
    .map((cause, index, roots) => ({
      cause,
      // A reason may be present several times, once for each of its subjects.
      symptoms:
        roots.findIndex(({ code }) => code === cause.code) === index
          ? reasons.filter(({ code }) => code !== cause.code && rootOf(code) === cause.code)
          : [],
    }));
}
