import { FACTS } from './facts.view.js';
import { figuresOf, type Figure } from './figures.js';
import { lastingReleasesOf, lastSeenOf, slowOf, vanishedOf } from './replicas.rules.js';
import type { DeploymentStatus } from './status.service.js';

const HEALTHS = ['healthy', 'degraded', 'credentials_rejected'];

const figure = (help: string, of: Figure<DeploymentStatus>['of'], ...labels: string[]) => ({
  help,
  of,
  labels,
});

/** The figures that are computed from several fields, or from facts that are not in the status, by their names. */
export const COMPUTED = {
  replicas: figure(
    'Processes that showed a sign of life within 5 seconds, by ROLE',
    ({ facts: { replicas } }) =>
      ['api', 'worker', 'all'].map((role) => [
        [role],
        replicas.filter((each) => each.isAlive && each.role === role).length,
      ]),
    'role',
  ),
  worker_last_seen_timestamp_seconds: figure(
    'When a process with ROLE worker or all last showed a sign of life; absent if none did within the last hour',
    ({ facts: { replicas } }) => [[[], lastSeenOf(replicas, 'api')?.lastSeenAt ?? null]],
  ),
  vanished_replicas: figure(
    'Processes that ended within the last 10 minutes without stopping in order',
    ({ facts: { replicas } }) => [[[], vanishedOf(replicas).length]],
  ),
  lasting_releases: figure(
    'Releases of the processes that have been alive for over 15 minutes',
    ({ facts: { replicas } }) => [[[], lastingReleasesOf(replicas).length]],
  ),
  clock_offset_seconds: figure(
    'The largest difference between the clock of a live process and that of the database',
    ({ facts: { replicas } }) => {
      const offsets = replicas.map((each) => (each.isAlive ? Math.abs(each.clockOffsetSeconds) : 0));
      return [[[], Math.max(0, ...offsets)]];
    },
  ),
  oldest_transaction_age_seconds: figure(
    'Age of the oldest open transaction of the database that the service may see, of a pg_dump only after 6 hours; 0 if there is none',
    ({ facts: { oldestTransaction } }) => [[[], oldestTransaction?.seconds ?? 0]],
  ),
  webhook_endpoints: figure(
    'working: Enabled endpoints that are not stalled as `failing`',
    ({ facts: { outbox } }) => [
      [['working'], outbox.readers.webhooks.endpoints - outbox.readers.webhooks.failingEndpoints],
    ],
    'state',
  ),
  remote_health: figure(
    '1 for the health of the remote service that the replicas agree on, 0 for the others, by operation',
    ({ operations }) =>
      operations.flatMap(({ operation, health }) =>
        HEALTHS.map((each) => [[operation, each], each === health ? 1 : 0] as const),
      ),
    'operation',
    'health',
  ),
  remote_slow: figure(
    '1 if most of the latest calls of all processes took over 2 seconds, else 0, by operation',
    ({ operations, facts: { replicas } }) => {
      const slow = slowOf(replicas).map(({ operation }) => operation);
      return operations.map(({ operation }) => [[operation], slow.includes(operation) ? 1 : 0]);
    },
    'operation',
  ),
  remote_wait_seconds: figure(
    'The rest of the wait that the remote service requested (Retry-After); 0 if there is none, by operation',
    ({ operations }) => operations.map(({ operation, waitSeconds }) => [[operation], waitSeconds]),
    'operation',
  ),
  pending_wishes: figure(
    'Starts for which owners clicked over a minute ago and that have not led to a session yet',
    ({ pendingWishes }) => [[[], pendingWishes]],
  ),
  stalled: figure(
    'What does not continue by itself, counted by kind and cause',
    ({ stalled }) => stalled.map(({ kind, cause, count }) => [[kind, cause], count] as const),
    'kind',
    'cause',
  ),
  token_age_seconds: figure('Age of the access token; absent if there is none', ({ facts: { token } }) => [
    [[], token.ageSeconds],
  ]),
};

/** The figures of the status fields, and the computed ones. */
export const FIGURES: readonly Figure<DeploymentStatus>[] = [
  ...figuresOf<DeploymentStatus>(FACTS, ({ facts }) => [[[], facts]]),
  ...Object.entries(COMPUTED).map(([name, figure]) => ({ name, ...figure })),
];
