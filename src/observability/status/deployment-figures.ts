import { FACTS } from './facts.view.js';
import { figuresOf, type Figure } from './figures.js';
import { lastingReleasesOf } from './releases.rules.js';
import { slowOf, vanishedOf } from './replicas.rules.js';
import type { DeploymentFacts } from './status.store.js';

const HEALTHS = ['healthy', 'degraded', 'credentials_rejected'];

const figure = (
  name: string,
  help: string,
  of: Figure<DeploymentFacts>['of'],
  ...labels: string[]
): Figure<DeploymentFacts> => ({ name, help, of, labels });

/** The figures of the status fields, and those that are computed from several fields. */
export const FIGURES: readonly Figure<DeploymentFacts>[] = [
  ...figuresOf<DeploymentFacts>(FACTS, (facts) => [[[], facts]]),
  figure(
    'replicas',
    'Processes that showed a sign of life within 5 seconds, by ROLE',
    ({ replicas }) =>
      ['api', 'worker', 'all'].map((role) => [
        [role],
        replicas.filter((each) => each.isAlive && each.role === role).length,
      ]),
    'role',
  ),
  figure(
    'worker_last_seen_timestamp_seconds',
    'When a process with ROLE worker or all last showed a sign of life; absent if none did within the last hour',
    ({ replicas }) =>
      replicas
        .filter(({ role }) => role !== 'api')
        .sort((a, b) => b.lastSeenAt.getTime() - a.lastSeenAt.getTime())
        .slice(0, 1)
        .map(({ lastSeenAt }) => [[], lastSeenAt]),
  ),
  figure(
    'vanished_replicas',
    'Processes that ended within the last 10 minutes without stopping in order',
    ({ replicas }) => [[[], vanishedOf(replicas).length]],
  ),
  figure(
    'lasting_releases',
    'Releases of the processes that have been alive for over 15 minutes',
    ({ replicas }) => [[[], lastingReleasesOf(replicas).length]],
  ),
  figure(
    'clock_offset_seconds',
    'The largest difference between the clock of a live process and that of the database',
    ({ replicas }) => {
      const offsets = replicas.map((each) => (each.isAlive ? Math.abs(each.clockOffsetSeconds ?? 0) : 0));
      return [[[], Math.max(0, ...offsets)]];
    },
  ),
  figure(
    'oldest_transaction_age_seconds',
    'Age of the oldest open transaction of the database that the service may see, of a pg_dump only after 6 hours; 0 if there is none',
    ({ oldestTransaction }) => [[[], oldestTransaction?.seconds ?? 0]],
  ),
  figure(
    'webhook_endpoints',
    'working: Enabled endpoints whose last attempt did not fail',
    ({ outbox: { readers } }) => [
      [['working'], readers.webhooks.endpoints - readers.webhooks.failingEndpoints],
    ],
    'state',
  ),
  figure(
    'remote_health',
    '1 for the health of the remote service that the replicas agree on, 0 for the others, by operation',
    ({ operations }) =>
      operations.flatMap(({ operation, health }) =>
        HEALTHS.map((each) => [[operation, each], each === health ? 1 : 0] as const),
      ),
    'operation',
    'health',
  ),
  figure(
    'remote_slow',
    '1 if most of the latest calls of all processes took over 2 seconds, else 0, by operation',
    ({ operations, replicas }) => {
      const slow = slowOf(replicas).map(({ operation }) => operation);
      return operations.map(({ operation }) => [[operation], slow.includes(operation) ? 1 : 0]);
    },
    'operation',
  ),
  figure(
    'remote_wait_seconds',
    'The rest of the wait that the remote service requested (Retry-After); 0 if there is none, by operation',
    ({ operations }) => operations.map(({ operation, waitSeconds }) => [[operation], waitSeconds]),
    'operation',
  ),
  figure(
    'pending_wishes',
    'Starts for which owners clicked over a minute ago and that have not led to a session yet',
    ({ pendingWishes }) => [[[], pendingWishes]],
  ),
  figure('token_age_seconds', 'Age of the access token; absent if there is none', ({ tokenAgeSeconds }) => [
    [[], tokenAgeSeconds],
  ]),
];
