import { SHORT_STRETCH } from '../onboarding/rules/read-budget.rules.js';
import { longestIntervalMs } from '../onboarding/rules/schedule.rules.js';
import { counted } from '../platform/counted.rules.js';
import type { Environment } from '../platform/env/environment.js';
import { SLOW_SECONDS } from '../remote/pace/slow-calls.rules.js';
import {
  lastingReleasesOf,
  lastSeenOf,
  releaseOf,
  requestsOf,
  slowOf,
  usedUpOf,
  vanishedOf,
} from './replicas.rules.js';
import type { Facts } from './facts.view.js';

type Code = keyof typeof FINDERS;
type Ceilings = Pick<Environment, 'POLL_MAX_INTERVAL_MS' | 'SCS_MAX_REQUESTS_PER_SECOND'>;
/** Returns the details of the reasons of one kind. */
type Finder = (facts: Facts, ceilings: Ceilings) => string | false | readonly (string | false)[];

/** The bounds of reasons. Each has the name of the alert in ops/prometheus/alerts.yml with the same bound. */
export const BOUNDS = {
  ReplicasVanish: 3,
  SessionsAreReadLate: 120,
  // If an hour usually has fewer changes or starts, an hour without any is not unusual.
  NothingChanges: 10,
  StartsHaveFallen: 10,
  EventsAreUnsequenced: 60,
  EventsDoNotReachAReader: 900,
  BrokerFails: 60,
  StartsAreAbandoned: 60,
  // A dump is exempt for 6 hours: see FIND_OLDEST_TRANSACTION. Our other transactions take seconds.
  TransactionIsOld: 900,
  ClocksDiffer: 30,
};
const FALLEN_TO = 0.2;
/** Ignores webhook failures that have lasted for a shorter time, because a single failed attempt proves little about a receiver. */
const FAILING_SECONDS = 60;
/** Ignores shorter waits for our ceiling, which are only bursts. */
const PACED_MS = 60_000;

/**
 * Returns the reasons why the deployment is degraded, the worst first. The alert for the same reason may fire some minutes later (`for`).
 */
export function findReasons(facts: Facts, ceilings: Ceilings): { code: Code; detail: string }[] {
  return REASON_CODES.flatMap((code) =>
    [FINDERS[code](facts, ceilings)].flat().flatMap((detail) => (detail === false ? [] : { code, detail })),
  );
}

/** The finders of reasons, the worst reason first. */
export const FINDERS = {
  disk_full: ({ replicas }) =>
    replicas.map(
      ({ name, isAlive, hasNoSpace }) => isAlive && hasNoSpace && `${name}: the database has no space left`,
    ),
  tables_locked: ({ tableLocks }) => tableLocks,
  connections_used_up: ({ replicas }) =>
    usedUpOf(replicas).map(
      ({ name, waitingForConnectionsSeconds, longestStatement }) =>
        `${name}: statements have waited for its DATABASE_POOL_SIZE connections for ${Math.round(waitingForConnectionsSeconds)} s; the longest use of one: ${longestStatement ?? 'unknown'}`,
    ),
  no_api: ({ replicas }) =>
    !replicas.some(({ isAlive, role }) => isAlive && role !== 'worker') &&
    `no process with ROLE api or all is alive${lastOf(replicas, 'worker')}`,
  requests_fail({ replicas }) {
    const { requests, failed, areFailing } = requestsOf(replicas);
    return areFailing && `${failed} of ${requests} requests of the last minute failed by a fault of ours`;
  },
  no_worker: ({ replicas }) =>
    !replicas.some(({ isAlive, role }) => isAlive && role !== 'api') &&
    `no process with ROLE worker or all is alive${lastOf(replicas, 'api')}`,
  replicas_vanish({ replicas }) {
    const vanished = vanishedOf(replicas);
    return (
      vanished.length >= BOUNDS.ReplicasVanish &&
      `${vanished.length} processes ended within 10 minutes without stopping in order: ${vanished.map(({ name, role }) => `${name} (${role})`).join(', ')}`
    );
  },
  // Does not use the state of the token, which stays valid when its renewal is refused.
  credentials_rejected: ({ remote }) =>
    troubleOf(remote, 'credentials_rejected').map(
      ({ reason }) => `the remote service rejects our credentials or fresh tokens: ${reason}`,
    ),
  remote_degraded: ({ remote }) =>
    troubleOf(remote, 'degraded').map(
      ({ operation, reason, since }) => `${operation}: ${reason}, since ${since.toISOString()}`,
    ),
  remote_slow: ({ replicas }) =>
    slowOf(replicas).map(
      ({ operation, calls, slow }) =>
        `${operation}: ${slow} of the latest ${calls} calls of all processes took over ${SLOW_SECONDS} s`,
    ),
  held_back_by_remote_service: ({ remote }) =>
    operationsOf(remote, 'remote_service').map(
      ([name, { requestedWaitMs, retryAfterMs }]) =>
        `${name}: the remote service asked to wait for ${seconds(requestedWaitMs)} s; ${seconds(retryAfterMs)} s are left`,
    ),
  held_back_by_breaker: ({ remote }) =>
    operationsOf(remote, 'breaker').map(
      ([name, { lastError, retryAfterMs }]) =>
        `${name}: calls fail (${lastError}); the next attempt is in ${seconds(retryAfterMs)} s`,
    ),
  held_back_by_ceiling: ({ replicas }, { SCS_MAX_REQUESTS_PER_SECOND: perSecond }) =>
    replicas.map(
      ({ name, isAlive, lastSeenAt, pacedSince }) =>
        isAlive &&
        pacedSince !== null &&
        lastSeenAt.getTime() - pacedSince.getTime() > PACED_MS &&
        `${name}: calls have waited for SCS_MAX_REQUESTS_PER_SECOND=${perSecond} since ${pacedSince.toISOString()}`,
    ),
  budget_short: ({ budget: { isShort, stretch, wantedPerSecond, allowedPerSecond } }) =>
    allowedPerSecond !== null &&
    (isShort || stretch > SHORT_STRETCH) &&
    `sessions want ${wantedPerSecond.toFixed(1)} reads per second; ${allowedPerSecond.toFixed(1)} are allowed, so intervals are ${stretch.toFixed(1)} times as long`,
  reads_stale: ({ poller, budget: { stretch } }, { POLL_MAX_INTERVAL_MS: maxIntervalMs }) =>
    (poller?.phases ?? []).map(
      ({ phase, oldestReadSeconds }) =>
        oldestReadSeconds * 1_000 > 2 * longestIntervalMs(phase, maxIntervalMs) * stretch &&
        `${phase}: a session was last read ${Math.round(oldestReadSeconds)} s ago, more than twice its longest interval`,
    ),
  sessions_overdue: ({ poller }) =>
    poller !== null &&
    poller.oldestOverdueSeconds > BOUNDS.SessionsAreReadLate &&
    `${counted(poller.overdue, 'session is', 'sessions are')} due, the most overdue for ${Math.round(poller.oldestOverdueSeconds)} s`,
  nothing_changes: ({ poller, activity: { unchangedSeconds, usualChanges } }) =>
    usualChanges !== null &&
    usualChanges >= BOUNDS.NothingChanges &&
    (poller?.readsPerSecond ?? 0) > 0 &&
    `${poller?.readsPerSecond.toFixed(1)} reads per second, and no change of a session for ${Math.round(unchangedSeconds / 60)} minutes; at the same hours of each of the last days there were at least ${usualChanges}`,
  requests_refused({ replicas }) {
    const { requests, refused, areRefused } = requestsOf(replicas);
    return (
      areRefused &&
      `${refused} of ${requests} requests of the last minute were refused with a 4xx; GET /api/v1/api-keys says which keys are refused`
    );
  },
  starts_fell: ({ activity: { startsPerHour, usualStartsPerHour } }) =>
    usualStartsPerHour !== null &&
    usualStartsPerHour >= BOUNDS.StartsHaveFallen &&
    startsPerHour < FALLEN_TO * usualStartsPerHour &&
    `${counted(startsPerHour, 'start', 'starts')} within the last hour; at the same hour of each of the last days there were at least ${usualStartsPerHour}`,
  events_unsequenced: ({ outbox: { unsequenced, oldestUnsequencedSeconds } }) =>
    oldestUnsequencedSeconds > BOUNDS.EventsAreUnsequenced &&
    `${counted(unsequenced, 'event has', 'events have')} no sequence, the oldest for ${Math.round(oldestUnsequencedSeconds)} s`,
  reader_behind: ({ outbox: { readers } }) =>
    Object.entries({
      handlers: readers.handlers.oldestUndeliveredSeconds,
      webhooks: readers.webhooks.oldestUndeliveredSeconds,
      broker: readers.broker?.oldestUnpublishedSeconds ?? 0,
    })
      .filter(([, age]) => age > BOUNDS.EventsDoNotReachAReader)
      .map(([reader, age]) => `${reader}: an event has not arrived for ${Math.round(age)} s`),
  broker_failing: ({ outbox: { readers } }) =>
    readers.broker !== null &&
    readers.broker.failingSeconds > BOUNDS.BrokerFails &&
    `the broker has accepted no event for ${Math.round(readers.broker.failingSeconds)} s: ${readers.broker.lastError}`,
  webhooks_failing: ({ outbox }) => {
    const { endpoints, failingEndpoints, oldestFailingSeconds, disabledEndpoints } = outbox.readers.webhooks;
    return [
      oldestFailingSeconds > FAILING_SECONDS &&
        `${failingEndpoints} of ${counted(endpoints, 'endpoint fails', 'endpoints fail')}, the longest for ${Math.round(oldestFailingSeconds)} s`,
      disabledEndpoints > 0 &&
        `${counted(disabledEndpoints, 'endpoint was', 'endpoints were')} disabled automatically`,
    ];
  },
  starts_abandoned: ({ starts: { abandoned, oldestAbandonedSeconds } }) =>
    oldestAbandonedSeconds > BOUNDS.StartsAreAbandoned &&
    `${counted(abandoned, 'start waits', 'starts wait')} for a worker to end ${abandoned === 1 ? 'it' : 'them'}`,
  registrations_uncertain: ({ registrations: { uncertain } }) =>
    uncertain > 0 && `${counted(uncertain, 'registration waits', 'registrations wait')} for a person`,
  sessions_doubtful: ({ sessions }) =>
    Object.entries({
      'the interface does not describe the flags of': sessions.unrecognised,
      'the remote service no longer knows': sessions.lost,
      'all inverters are missing from': sessions.allInvertersMissing,
    }).map(([what, count]) => count > 0 && `${what} ${counted(count, 'session', 'sessions')}`),
  inverters_shared: ({ sessions: { sharedInverters } }) =>
    sharedInverters > 0 &&
    `${counted(sharedInverters, 'inverter is', 'inverters are each')} listed for 5 or more customers at once`,
  transaction_old: ({ oldestTransaction }) =>
    oldestTransaction !== null &&
    oldestTransaction.seconds > BOUNDS.TransactionIsOld &&
    `${oldestTransaction.process} has had a transaction open for ${Math.round(oldestTransaction.seconds)} s`,
  clocks_differ: ({ replicas }) =>
    replicas.map(
      ({ name, isAlive, clockOffsetSeconds }) =>
        isAlive &&
        Math.abs(clockOffsetSeconds) > BOUNDS.ClocksDiffer &&
        `${name}: its clock differs from that of the database by ${Math.round(clockOffsetSeconds)} s`,
    ),
  releases_differ({ replicas }) {
    const releases = lastingReleasesOf(replicas);
    return (
      releases.length > 1 &&
      `processes of ${releases.length} releases have run for over 15 minutes: ${releases.map((each) => `${each.name} runs ${releaseOf(each)}`).join(', ')}`
    );
  },
} satisfies Record<string, Finder>;

export const REASON_CODES = Object.keys(FINDERS) as Code[];

/** Describes the last process with a role other than `exceptRole`, and whether it stopped or vanished. */
function lastOf(replicas: Facts['replicas'], exceptRole: 'api' | 'worker'): string {
  const last = lastSeenOf(replicas, exceptRole);
  if (last === undefined) return '';
  const { name, stoppedAt, lastSeenAt } = last;
  return stoppedAt === null
    ? `; the last sign of life was at ${lastSeenAt.toISOString()}, by ${name}`
    : `; the last one, ${name}, stopped at ${stoppedAt.toISOString()}`;
}

export const troubleOf = ({ deployment }: Facts['remote'], of: 'degraded' | 'credentials_rejected') =>
  deployment.degraded.filter(({ health }) => health === of);

const operationsOf = ({ operations }: Facts['remote'], by: string) =>
  Object.entries(operations).filter(([, { heldBackBy }]) => heldBackBy === by);

const seconds = (ms: number | null): number => Math.ceil((ms ?? 0) / 1_000);
