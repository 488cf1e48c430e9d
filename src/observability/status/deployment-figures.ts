import { lastingReleasesOf } from './releases.rules.js';
import { slowOf, vanishedOf } from './replicas.rules.js';
import type { DeploymentFacts } from './status.store.js';

export type Facts = DeploymentFacts & { readonly poller: NonNullable<DeploymentFacts['poller']> };

/** Null if there is no value. */
type Value = number | null;
/** A figure: its help, its value, and its labels. With labels, a value for each of their combinations. */
type Figure = readonly [
  help: string,
  of: (facts: Facts) => Value | readonly (readonly [string | readonly string[], Value])[],
  ...labels: readonly string[],
];

const HEALTHS = ['healthy', 'degraded', 'credentials_rejected'];

/** By name, without the prefix `pv_onboarding_deployment_`. */
export const FIGURES: Readonly<Record<string, Figure>> = {
  watched_sessions: ['Watched sessions', ({ poller }) => poller.watched],
  claimed_sessions: ['Sessions that workers have claimed now', ({ poller }) => poller.reading],
  overdue_sessions: ['Sessions that are due and not claimed', ({ poller }) => poller.overdue],
  lateness_seconds: [
    'By how much the most overdue session is late; 0 if none is overdue',
    ({ poller }) => poller.oldestOverdueSeconds,
  ],
  oldest_read_age_seconds: [
    'Age of the last successful read of the session that was read longest ago, of those that are due, being read, or planned again after a failure, by phase; of a sample if there are more than some 50,000 sessions',
    ({ poller }) => poller.phases.map(({ phase, oldestReadSeconds }) => [phase, oldestReadSeconds]),
    'phase',
  ],
  median_read_age_seconds: [
    'Median age of the last successful reads of the watched sessions, by phase',
    ({ poller }) => poller.phases.map(({ phase, medianReadSeconds }) => [phase, medianReadSeconds]),
    'phase',
  ],
  replicas: [
    'Processes that showed a sign of life within 5 seconds, by ROLE',
    ({ replicas }) =>
      ['api', 'worker', 'all'].map((role) => [
        role,
        replicas.filter((each) => each.isAlive && each.role === role).length,
      ]),
    'role',
  ],
  worker_last_seen_timestamp_seconds: [
    'When a process with ROLE worker or all last showed a sign of life; absent if none did within the last hour',
    ({ replicas }) => {
      const workers = replicas.filter(({ role }) => role !== 'api');
      if (workers.length === 0) return null;
      return Math.max(...workers.map(({ lastSeenAt }) => lastSeenAt.getTime())) / 1_000;
    },
  ],
  vanished_replicas: [
    'Processes that ended within the last 10 minutes without stopping in order',
    ({ replicas }) => vanishedOf(replicas).length,
  ],
  lasting_releases: [
    'Releases of the processes that have been alive for over 15 minutes',
    ({ replicas }) => lastingReleasesOf(replicas).length,
  ],
  clock_offset_seconds: [
    'The largest difference between the clock of a live process and that of the database',
    ({ replicas }) =>
      Math.max(
        0,
        ...replicas.map(({ isAlive, clockOffsetSeconds }) =>
          isAlive ? Math.abs(clockOffsetSeconds ?? 0) : 0,
        ),
      ),
  ],
  oldest_transaction_age_seconds: [
    'Age of the oldest open transaction of the database that the service may see, of a pg_dump only after 6 hours; 0 if there is none',
    ({ oldestTransaction }) => oldestTransaction?.seconds ?? 0,
  ],
  last_change_timestamp_seconds: [
    'When a session last changed to awaiting_installation or online; absent if none has',
    ({ activity: { lastChangeAt } }) => lastChangeAt && lastChangeAt.getTime() / 1_000,
  ],
  usual_changes: [
    'The least number of such changes at the same hours of the last 7 days, within the time for which there has been none; absent if that is under 15 minutes or there are less than 3 days',
    ({ activity: { usualChanges } }) => usualChanges,
  ],
  starts_per_hour: [
    'Sessions that were started within the last hour, at most 1,000',
    ({ activity: { startsPerHour } }) => startsPerHour,
  ],
  usual_starts_per_hour: [
    'The least number of sessions that were started at the same hour of the last 7 days; absent if there are less than 3 days',
    ({ activity: { usualStartsPerHour } }) => usualStartsPerHour,
  ],
  abandoned_batches: [
    'Claims whose lease has expired and whose sessions no worker has taken over yet',
    ({ poller }) => poller.abandonedBatches,
  ],
  read_stretch: [
    'By how much all intervals between reads are longer than planned; 1 while there is room',
    ({ budget }) => budget.stretch,
  ],
  wanted_reads_per_second: [
    'Reads per second that all watched sessions would take at stretch 1',
    ({ budget }) => budget.wantedPerSecond,
  ],
  allowed_reads_per_second: [
    'Reads per second to which the stretch leads; absent if nothing is known to limit them',
    ({ budget }) => budget.allowedPerSecond,
  ],
  phase_lateness_seconds: [
    'By how much the most overdue session of a phase is late; absent if none is overdue',
    ({ late }) => late.map(({ phase, oldestOverdueSeconds }) => [phase, oldestOverdueSeconds]),
    'phase',
  ],
  noticed_after_seconds: [
    'How long after a change of a session in its first 10 minutes it was noticed, over the last hour; absent without changes',
    ({ budget: { noticed } }) => [
      ['50', noticed.p50Seconds],
      ['95', noticed.p95Seconds],
    ],
    // Not `quantile`, which Prometheus reserves for summaries.
    'percentile',
  ],
  unsequenced_events: ['Events without a sequence number', ({ outbox }) => outbox.unsequenced],
  unsequenced_event_age_seconds: [
    'Age of the oldest event without a sequence number; 0 if there is none',
    ({ outbox }) => outbox.oldestUnsequencedSeconds,
  ],
  reader_pending: [
    'Deliveries that a reader has not completed; for webhooks also events that are not yet offered to an endpoint, for the broker events that it has not confirmed. No broker sample without a broker',
    ({ handlers, webhooks, broker }) => [
      ['handlers', handlers.undelivered],
      ['webhooks', webhooks.unread + webhooks.undelivered],
      ['broker', broker?.unpublished ?? null],
    ],
    'reader',
  ],
  reader_lag_seconds: [
    'Age of the oldest delivery that a reader has not completed; 0 if there is none',
    ({ handlers, webhooks, broker }) => [
      ['handlers', handlers.oldestUndeliveredSeconds],
      ['webhooks', webhooks.oldestUndeliveredSeconds],
      ['broker', broker?.oldestUnpublishedSeconds ?? null],
    ],
    'reader',
  ],
  broker_failing_seconds: [
    'How long the broker has accepted no event; 0 while it accepts them; absent without a broker',
    ({ broker }) => broker?.failingSeconds ?? null,
  ],
  webhook_endpoints: [
    'Webhook endpoints: working, failing since their last attempt, or disabled automatically',
    ({ webhooks }) => [
      ['working', webhooks.endpoints - webhooks.failingEndpoints],
      ['failing', webhooks.failingEndpoints],
      ['disabled', webhooks.disabledEndpoints],
    ],
    'state',
  ],
  registrations: [
    'Registrations that are sent again automatically (pending) or wait for a person (uncertain)',
    ({ registrations }) => [
      ['pending', registrations.pending],
      ['uncertain', registrations.uncertain],
    ],
    'status',
  ],
  registration_age_seconds: [
    'Age of the oldest registration in this status; 0 if there is none',
    ({ registrations }) => [
      ['pending', registrations.oldestPendingSeconds],
      ['uncertain', registrations.oldestUncertainSeconds],
    ],
    'status',
  ],
  doubtful_sessions: [
    'Open sessions that may need a person, by what is wrong',
    ({ sessions }) => [
      ['unrecognised', sessions.unrecognised],
      ['lost', sessions.lost],
      ['all_inverters_missing', sessions.allInvertersMissing],
      ['some_inverters_missing', sessions.someInvertersMissing],
    ],
    'reason',
  ],
  shared_inverters: [
    'Inverters of the last 7 days that are listed for 5 or more customers at once',
    ({ sessions }) => sessions.sharedInverters,
  ],
  abandoned_starts: [
    'Starts whose lease has expired; a worker ends them within seconds',
    ({ starts }) => starts.abandoned,
  ],
  abandoned_start_age_seconds: [
    'How long ago the first lease of an abandoned start expired; 0 if there is none',
    ({ starts }) => starts.oldestAbandonedSeconds,
  ],
  orphans: [
    'Sessions that the remote service may have started in the last 24 hours and whose id nobody knows',
    ({ starts }) => starts.orphans,
  ],
  remote_health: [
    '1 for the health of the remote service that the replicas agree on, 0 for the others, by operation',
    ({ operations }) =>
      operations.flatMap(({ operation, health }) =>
        HEALTHS.map((each) => [[operation, each], each === health ? 1 : 0]),
      ),
    'operation',
    'health',
  ],
  remote_slow: [
    '1 if most of the latest calls of all processes took over 2 seconds, else 0, by operation',
    ({ operations, replicas }) =>
      operations.map(({ operation }) => [
        operation,
        slowOf(replicas).some((slow) => slow.operation === operation) ? 1 : 0,
      ]),
    'operation',
  ],
  remote_wait_seconds: [
    'The rest of the wait that the remote service requested (Retry-After); 0 if there is none, by operation',
    ({ operations }) => operations.map(({ operation, waitSeconds }) => [operation, waitSeconds]),
    'operation',
  ],
  contract_drift: [
    'Ways in which responses of the remote service differ from the interface description',
    ({ contractDrift }) => contractDrift,
  ],
  token_age_seconds: [
    'Age of the access token; absent if there is none',
    ({ tokenAgeSeconds }) => tokenAgeSeconds,
  ],
};
