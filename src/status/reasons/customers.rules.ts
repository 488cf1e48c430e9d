import { counted } from '../../platform/counted.rules.js';
import { missingForOwners } from '../../platform/env/owner-settings.rules.js';
import type { Reason } from './reason.js';

const ABANDONED_SECONDS = 60;

export const REASONS_OF_CUSTOMERS = {
  starts_abandoned: {
    severity: 'warning',
    title: 'Starts wait for a worker to end them',
    runbook: 'starts-were-lost',
    waitsFor: 'us',
    find: ({ starts: { abandoned, oldestAbandonedSeconds } }) =>
      oldestAbandonedSeconds > ABANDONED_SECONDS &&
      `${counted(abandoned, 'start waits', 'starts wait')} for a worker to end ${abandoned === 1 ? 'it' : 'them'}`,
    began: ({ starts }) => [starts.oldestAbandonedSeconds],
  },
  starts_lost: {
    severity: 'warning',
    title: 'Sessions may exist whose id nobody knows',
    runbook: 'starts-were-lost',
    waitsFor: 'tenant',
    alertAfter: '2m',
    find: ({ starts: { newOrphans } }) =>
      newOrphans > 0 &&
      `${counted(newOrphans, 'session', 'sessions')} may have been started within the last hour whose id nobody knows`,
  },
  registrations_uncertain: {
    severity: 'warning',
    title: 'Registrations wait for your decision',
    runbook: 'a-registration-is-uncertain',
    waitsFor: 'tenant',
    find: ({ registrations: { uncertain, areUnchecked } }) => [
      uncertain > 0 && `${counted(uncertain, 'registration waits', 'registrations wait')} for a person`,
      areUnchecked &&
        'since a restore, new registrations and campaigns wait until its references are checked (docs/postgresql.md)',
    ],
    began: ({ registrations }) => [registrations.oldestUncertainSeconds],
  },
  sessions_doubtful: {
    severity: 'warning',
    title: 'Sessions need a person',
    runbook: 'a-session-is-doubtful',
    waitsFor: 'tenant',
    alertAfter: '5m',
    find: ({ sessions }) =>
      Object.entries({
        'the interface does not describe the flags of': sessions.unrecognised,
        'the remote service no longer knows': sessions.lost,
        'all inverters are missing from': sessions.allInvertersMissing,
      }).map(([what, count]) => count > 0 && `${what} ${counted(count, 'session', 'sessions')}`),
  },
  inverters_shared: {
    severity: 'critical',
    title: 'Inverters are listed for several customers',
    runbook: 'a-session-is-doubtful',
    waitsFor: 'remote_service',
    alertAfter: '5m',
    find: ({ sessions: { sharedInverters } }) =>
      sharedInverters > 0 &&
      `${counted(sharedInverters, 'inverter is', 'inverters are each')} listed for 5 or more customers at once`,
  },
  brand_unnamed: {
    severity: 'warning',
    title: 'Owners do not see who invites them',
    runbook: 'owners-see-no-name',
    waitsFor: 'us',
    alertAfter: '10m',
    find: (_, settings) => missingForOwners('BRAND_NAME', settings),
  },
  privacy_unlinked: {
    severity: 'warning',
    title: 'Owners find no privacy statement',
    runbook: 'owners-see-no-name',
    waitsFor: 'us',
    alertAfter: '10m',
    find: (_, settings) => missingForOwners('BRAND_PRIVACY_URL', settings),
  },
} satisfies Record<string, Reason>;
