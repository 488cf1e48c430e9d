import { areSlow, type LatestCalls } from './signs/slow-calls.rules.js';
import type { Facts } from './facts.view.js';

type Replicas = Facts['replicas'];
type Replica = Replicas[number];
type Release = Pick<Replica, 'version' | 'commit' | 'newestMigration'>;
type Process = Release & Pick<Replica, 'name' | 'isAlive' | 'startedAt' | 'lastSeenAt'>;
type Operation = Replicas[number]['latestCalls'][number]['operation'];

const VANISHED_MS = 600_000;
/**
 * The time after the last sign of life for which the pool of a replica still counts as used up: without a connection, the replica may be
 * unable to give another sign.
 */
const SILENT_MS = 60_000;
/** The least number of failed requests in a minute that is a reason: fewer may all come from one caller. */
const LEAST_FAILED = 5;
const MOST_FAILED_SHARE = 0.05;
/** The least number of refused requests in a minute that is a reason: fewer say little. */
const LEAST_REFUSED = 7;
const MOST_REFUSED_SHARE = 0.5;
/** After this wait for a connection, pg-pool gives up, and requests fail. */
const WAITING_SECONDS = 5;

/** A rollout replaces the last process of the earlier release within this time. */
const ROLLOUT_MS = 900_000;

/** Returns the time of the latest sign of life, which is at most some seconds ago. */
const latestOf = (replicas: Replicas): number =>
  Math.max(0, ...replicas.map(({ lastSeenAt }) => lastSeenAt.getTime()));

/** The time within which the processes of a new deployment start, one after the other. */
const BEGINNING_MS = 120_000;

/**
 * Returns whether the deployment has begun: requests are served and workers run or, if one of both is missing, a process has run for longer
 * than the start of the others takes.
 */
export function hasBegun(replicas: Replicas): boolean {
  const runs = (exceptRole: 'api' | 'worker') =>
    replicas.some(({ isAlive, role }) => isAlive && role !== exceptRole);
  const latest = latestOf(replicas);
  return (
    (runs('api') && runs('worker')) ||
    replicas.some(({ startedAt }) => latest - startedAt.getTime() > BEGINNING_MS)
  );
}

/** Returns the process with the latest sign of life, ignoring processes with the role `exceptRole`. */
export const lastSeenOf = (replicas: Replicas, exceptRole: 'api' | 'worker'): Replica | undefined =>
  replicas
    .filter(({ role }) => role !== exceptRole)
    .sort((a, b) => b.lastSeenAt.getTime() - a.lastSeenAt.getTime())[0];

/** Returns the processes that ended within the last 10 minutes and did not stop in order. */
export const vanishedOf = (replicas: Replicas): Replicas =>
  replicas.filter(
    ({ isAlive, stoppedAt, lastSeenAt }) =>
      !isAlive && stoppedAt === null && latestOf(replicas) - lastSeenAt.getTime() < VANISHED_MS,
  );

/** Returns the processes whose connection pool is used up, including those that can no longer report it. */
export const usedUpOf = (replicas: Replicas): Replicas =>
  replicas.filter(
    ({ stoppedAt, lastSeenAt, waitingForConnectionsSeconds }) =>
      waitingForConnectionsSeconds > WAITING_SECONDS &&
      stoppedAt === null &&
      latestOf(replicas) - lastSeenAt.getTime() < SILENT_MS,
  );

/** Returns the requests of the last minute to all live replicas, and whether too many failed or were refused. */
export function requestsOf(replicas: Replicas) {
  const live = replicas.filter(({ isAlive }) => isAlive);
  const sum = (of: (replica: Replica) => number) => live.reduce((total, each) => total + of(each), 0);
  const requests = sum((each) => each.requests);
  const failed = sum((each) => each.failedRequests);
  const refused = sum((each) => each.refusedRequests);
  return {
    requests,
    failed,
    areFailing: failed >= LEAST_FAILED && failed > MOST_FAILED_SHARE * requests,
    refused,
    areRefused: refused >= LEAST_REFUSED && refused > MOST_REFUSED_SHARE * requests,
  };
}

/** Returns the operations for which most of the latest calls of all live replicas were slow. */
export function slowOf(replicas: Replicas): readonly (LatestCalls & { operation: Operation })[] {
  const all = replicas.filter(({ isAlive }) => isAlive).flatMap(({ latestCalls }) => latestCalls);
  return [...new Set(all.map(({ operation }) => operation))]
    .map((operation) => {
      const calls = all.filter((each) => each.operation === operation);
      return {
        operation,
        calls: calls.reduce((sum, each) => sum + each.calls, 0),
        slow: calls.reduce((sum, each) => sum + each.slow, 0),
      };
    })
    .filter(areSlow);
}

/** Returns one process of each release, among the live processes that started longer ago than a rollout takes. */
export function lastingReleasesOf(replicas: readonly Process[]): Process[] {
  const live = replicas.filter(({ isAlive }) => isAlive);
  const now = Math.max(...live.map(({ lastSeenAt }) => lastSeenAt.getTime()));
  const lasting = live.filter(({ startedAt }) => now - startedAt.getTime() > ROLLOUT_MS);
  return lasting.filter((each, index) => lasting.slice(0, index).every((earlier) => differ(each, earlier)));
}

/** Returns whether two releases differ. Ignores the commits if one of them is unknown. */
const differ = (one: Release, other: Release): boolean =>
  one.version !== other.version ||
  one.newestMigration !== other.newestMigration ||
  (one.commit !== null && other.commit !== null && one.commit !== other.commit);

/** Names a release, for people. */
export const releaseOf = ({ version, commit, newestMigration }: Release): string =>
  `${version} (commit ${commit?.slice(0, 12) ?? 'unknown'}, migration ${newestMigration ?? 'unknown'})`;
