import { counted } from '../../platform/counted.rules.js';
import { SLOW_SECONDS } from '../signs/slow-calls.rules.js';
import { slowOf } from '../replicas.rules.js';
import type { Facts } from '../facts.view.js';
import type { Reason } from './reason.js';

/** Ignores shorter waits for our ceiling, which are only bursts. */
const PACED_MS = 60_000;

export const REASONS_OF_REMOTE = {
  // Does not use the state of the token, which stays valid when its renewal is refused.
  credentials_rejected: {
    severity: 'critical',
    title: 'The remote service rejects our credentials',
    runbook: 'the-token-is-rejected',
    waitsFor: 'us',
    remedies: [
      {
        operationId: 'probeCredentials',
        method: 'POST',
        path: '/api/v1/status/credentials/probe',
        label: 'Request a token now',
      },
    ],
    alertAfter: '1m',
    find: ({ remote }) =>
      troubleOf(remote, 'credentials_rejected').map(
        ({ reason }) => `the remote service rejects our credentials or fresh tokens: ${reason}`,
      ),
    began: ({ remote }) => troubleOf(remote, 'credentials_rejected').map(({ since }) => since),
  },
  proxy_fails: {
    severity: 'critical',
    title: 'The outbound proxy opens no connections to the remote service',
    runbook: 'the-outbound-proxy-fails',
    waitsFor: 'us',
    alertAfter: '2m',
    find: ({ replicas }) => proxyFaultsOf(replicas),
  },
  // While the proxy of every process fails, nothing is known about the remote service.
  remote_degraded: {
    severity: 'critical',
    title: 'The remote service fails',
    runbook: 'the-remote-service-is-down-or-slow',
    waitsFor: 'remote_service',
    alertAfter: '5m',
    find: (facts) =>
      failingOf(facts).map(
        ({ operation, reason, since }) =>
          `${operation}: ${reason}, since ${since.toISOString()}${operation === 'read_session' ? brandsIn(facts) : ''}`,
      ),
    began: (facts) => failingOf(facts).map(({ since }) => since),
  },
  remote_slow: {
    severity: 'warning',
    title: 'The remote service is slow',
    runbook: 'the-remote-service-is-down-or-slow',
    waitsFor: 'remote_service',
    alertAfter: '5m',
    find: ({ replicas }) =>
      slowOf(replicas).map(
        ({ operation, calls, slow }) =>
          `${operation}: ${slow} of the latest ${calls} calls of all processes took over ${SLOW_SECONDS} s`,
      ),
  },
  brand_unreachable: {
    severity: 'warning',
    title: 'The sessions of a brand cannot be read, while others are',
    runbook: 'owners-wait',
    waitsFor: 'remote_service',
    alertAfter: '5m',
    find: ({ brandOutages }) =>
      brandOutages.map(
        ({ brand, failing, read }) =>
          `${brand}: of its newest sessions, ${failing} cannot be read and ${read} can; its owners wait`,
      ),
    began: ({ brandOutages }) => brandOutages.map(({ seconds }) => seconds),
  },
  held_back_by_remote_service: {
    severity: 'warning',
    title: 'The remote service asks us to wait',
    runbook: 'the-remote-service-is-down-or-slow',
    waitsFor: 'remote_service',
    alertAfter: '5m',
    find: ({ remote }) =>
      operationsOf(remote, 'remote_service').map(
        ([name, { requestedWaitMs, retryAfterMs }]) =>
          `${name}: the remote service asked to wait for ${seconds(requestedWaitMs)} s; ${seconds(retryAfterMs)} s are left`,
      ),
  },
  held_back_by_breaker: {
    severity: 'warning',
    title: 'Calls of the remote service fail and are blocked',
    runbook: 'the-remote-service-is-down-or-slow',
    waitsFor: 'remote_service',
    alertAfter: '2m',
    // Calls are not blocked while a probe is in flight.
    alertKeeps: '1m',
    find: ({ remote, replicas }) =>
      !isBehindProxyFault(replicas) &&
      operationsOf(remote, 'breaker').map(
        ([name, { lastError, retryAfterMs }]) =>
          `${name}: calls fail (${lastError}); the next attempt is in ${seconds(retryAfterMs)} s`,
      ),
  },
  held_back_by_ceiling: {
    severity: 'warning',
    title: 'Our own limit of requests holds calls back',
    runbook: 'the-remote-service-is-down-or-slow',
    waitsFor: 'us',
    alertAfter: '15m',
    find: ({ replicas }, { SCS_MAX_REQUESTS_PER_SECOND: perSecond }) =>
      replicas.map(
        ({ name, isAlive, lastSeenAt, pacedSince }) =>
          isAlive &&
          pacedSince !== null &&
          lastSeenAt.getTime() - pacedSince.getTime() > PACED_MS &&
          `${name}: calls have waited for SCS_MAX_REQUESTS_PER_SECOND=${perSecond} since ${pacedSince.toISOString()}`,
      ),
  },
  contract_drifted: {
    severity: 'warning',
    title: 'Responses of the remote service differ from its description in a new way',
    runbook: 'the-interface-has-changed',
    waitsFor: 'remote_service',
    alertAfter: '2m',
    find: ({ remote: { deployment } }) =>
      deployment.newDrift > 0 &&
      `${counted(deployment.newDrift, 'difference was', 'differences were')} first seen within the last hour; admin.contract_drift lists all`,
  },
} satisfies Record<string, Reason>;

const troubleOf = ({ deployment }: Facts['remote'], of: 'degraded' | 'credentials_rejected') =>
  deployment.degraded.filter(({ health }) => health === of);

const failingOf = ({ remote, replicas }: Facts) =>
  isBehindProxyFault(replicas) ? [] : troubleOf(remote, 'degraded');

/** Returns the brands whose sessions fail, while those of others were read. Whether they hold back the reads of all, or others fail by now, is not known. */
const brandsIn = ({ brandOutages }: Facts): string =>
  brandOutages.length === 0
    ? ''
    : `; sessions of ${brandOutages.map(({ brand }) => brand).join(', ')} fail, and may hold back the reads of all`;

const proxyFaultsOf = (replicas: Facts['replicas']): string[] =>
  replicas.flatMap(({ name, isAlive, proxyFault }) =>
    isAlive && proxyFault !== null ? [`${name}: ${proxyFault}`] : [],
  );

const isBehindProxyFault = (replicas: Facts['replicas']): boolean =>
  replicas.some(({ isAlive }) => isAlive) &&
  replicas.every(({ isAlive, proxyFault }) => !isAlive || proxyFault !== null);

const operationsOf = ({ operations }: Facts['remote'], by: string) =>
  Object.entries(operations).filter(([, { heldBackBy }]) => heldBackBy === by);

const seconds = (ms: number | null): number => Math.ceil((ms ?? 0) / 1_000);
