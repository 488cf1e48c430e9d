import { lastingReleasesOf, lastSeenOf, releaseOf, requestsOf, vanishedOf } from '../replicas.rules.js';
import type { Facts } from '../facts.view.js';
import type { Reason } from './reason.js';

const MOST_VANISHED = 2;
const MOST_CLOCK_OFFSET_SECONDS = 30;

export const REASONS_OF_PROCESSES = {
  no_api: {
    severity: 'critical',
    title: 'No process serves the API',
    runbook: 'no-process-runs',
    waitsFor: 'us',
    alertAfter: '2m',
    find: ({ replicas, writesFault }) =>
      writesFault === null &&
      !replicas.some(({ isAlive, role }) => isAlive && role !== 'worker') &&
      `no process with ROLE api or all is alive${lastOf(replicas, 'worker')}`,
  },
  requests_fail: {
    severity: 'critical',
    title: 'Requests fail by a fault of ours',
    runbook: 'requests-fail',
    waitsFor: 'us',
    alertAfter: '5m',
    find: ({ replicas }) => {
      const { requests, failed, areFailing } = requestsOf(replicas);
      return areFailing && `${failed} of ${requests} requests of the last minute failed by a fault of ours`;
    },
  },
  no_worker: {
    severity: 'critical',
    title: 'No worker runs: no session is read, no event is delivered',
    runbook: 'no-process-runs',
    waitsFor: 'us',
    alertAfter: '2m',
    find: ({ replicas, writesFault }) =>
      writesFault === null &&
      !replicas.some(({ isAlive, role }) => isAlive && role !== 'api') &&
      `no process with ROLE worker or all is alive${lastOf(replicas, 'api')}`,
  },
  replicas_vanish: {
    severity: 'critical',
    title: 'Processes vanish',
    runbook: 'processes-vanish-or-differ',
    waitsFor: 'us',
    alertAfter: '1m',
    find: ({ replicas, writesFault }) => {
      const vanished = vanishedOf(replicas);
      return (
        writesFault === null &&
        vanished.length > MOST_VANISHED &&
        `${vanished.length} processes ended within 10 minutes without stopping in order: ${vanished.map(({ name, role }) => `${name} (${role})`).join(', ')}`
      );
    },
  },
  requests_refused: {
    severity: 'warning',
    title: 'Many requests of the apps are refused',
    runbook: 'an-app-is-refused',
    waitsFor: 'tenant',
    alertAfter: '10m',
    find: ({ replicas }) => {
      const { requests, refused, areRefused } = requestsOf(replicas);
      return (
        areRefused &&
        `${refused} of ${requests} requests of the last minute were refused with a 4xx; GET /api/v1/api-keys says which keys are refused`
      );
    },
  },
  certificates_expire: {
    severity: 'warning',
    title: 'A certificate expires soon, or a renewed one is not used',
    runbook: 'a-certificate-expires',
    waitsFor: 'us',
    alertAfter: '10m',
    find: ({ replicas }) =>
      replicas
        .filter(({ isAlive }) => isAlive)
        .flatMap(({ name, certificates }) =>
          certificates.flatMap((each) => [
            each.fault !== null && `${name}: ${each.fault}; the files as they were read before stay in use`,
            each.isExpiring && `${name}: the certificate in ${each.name} expires at ${each.expiresAt}`,
          ]),
        ),
  },
  clocks_differ: {
    severity: 'warning',
    title: 'The clocks of processes differ',
    runbook: 'processes-vanish-or-differ',
    waitsFor: 'us',
    alertAfter: '2m',
    find: ({ replicas }) =>
      replicas.map(
        ({ name, isAlive, clockOffsetSeconds }) =>
          isAlive &&
          Math.abs(clockOffsetSeconds) > MOST_CLOCK_OFFSET_SECONDS &&
          `${name}: its clock differs from that of the database by ${Math.round(clockOffsetSeconds)} s`,
      ),
  },
  remote_services_differ: {
    severity: 'critical',
    title: 'Processes use different remote services',
    runbook: 'processes-vanish-or-differ',
    waitsFor: 'us',
    alertAfter: '5m',
    find: ({ replicas }) => {
      const known = replicas.filter(({ isAlive, remoteService }) => isAlive && remoteService);
      const services = new Set(known.map(({ remoteService }) => remoteService));
      const uses = known.map(({ name, remoteService }) => `${name} uses ${remoteService}`);
      return services.size > 1 && `customers are registered at ${services.size} services: ${uses.join(', ')}`;
    },
  },
  releases_differ: {
    severity: 'warning',
    title: 'Processes of different releases run',
    runbook: 'processes-vanish-or-differ',
    waitsFor: 'us',
    alertAfter: '1m',
    find: ({ replicas }) => {
      const releases = lastingReleasesOf(replicas);
      return (
        releases.length > 1 &&
        `processes of ${releases.length} releases have run for over 15 minutes: ${releases.map((each) => `${each.name} runs ${releaseOf(each)}`).join(', ')}`
      );
    },
  },
} satisfies Record<string, Reason>;

/** Describes the last process with a role other than `exceptRole`, and whether it stopped or vanished. */
function lastOf(replicas: Facts['replicas'], exceptRole: 'api' | 'worker'): string {
  const last = lastSeenOf(replicas, exceptRole);
  if (last === undefined) return '';
  const { name, stoppedAt, lastSeenAt } = last;
  return stoppedAt === null
    ? `; the last sign of life was at ${lastSeenAt.toISOString()}, by ${name}`
    : `; the last one, ${name}, stopped at ${stoppedAt.toISOString()}`;
}
