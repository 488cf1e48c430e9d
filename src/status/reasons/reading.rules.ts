import { SHORT_STRETCH } from '../../onboarding/rules/read-budget.rules.js';
import { longestIntervalMs } from '../../onboarding/rules/schedule.rules.js';
import { counted } from '../../platform/counted.rules.js';
import type { Reason } from './reason.js';

const NOTHING_READ_SECONDS = 600;
const LATE_SECONDS = 120;
/** If an hour usually has fewer changes or starts, an hour without any is not unusual. */
const LEAST_USUAL = 10;
const FALLEN_TO = 0.2;

export const REASONS_OF_READING = {
  nothing_read: {
    severity: 'critical',
    title: 'Sessions are due, and none is being read',
    runbook: 'many-sessions-are-overdue',
    waitsFor: 'us',
    alertAfter: '2m',
    // Does not use overdue sessions: claimed sessions, and those that are planned again after a failed read, are not overdue.
    find: ({ poller }) =>
      poller !== null &&
      poller.longestWaitSeconds > NOTHING_READ_SECONDS &&
      (poller.newestReadSeconds ?? Infinity) > NOTHING_READ_SECONDS &&
      `a session has waited for ${Math.round(poller.longestWaitSeconds)} s to be read; the last successful read was ${poller.newestReadSeconds === null ? 'at an unknown time' : `${Math.round(poller.newestReadSeconds)} s ago`}`,
  },
  budget_short: {
    severity: 'warning',
    title: 'Sessions are read less often than planned',
    runbook: 'the-budget-is-short',
    waitsFor: 'remote_service',
    alertAfter: '15m',
    find: ({ budget: { isShort, stretch, wantedPerSecond, allowedPerSecond } }) =>
      allowedPerSecond !== null &&
      (isShort || stretch > SHORT_STRETCH) &&
      `sessions want ${wantedPerSecond.toFixed(1)} reads per second; ${allowedPerSecond.toFixed(1)} are allowed, so intervals are ${stretch.toFixed(1)} times as long`,
  },
  reads_stale: {
    severity: 'warning',
    title: 'Sessions have not been read for too long',
    runbook: 'many-sessions-are-overdue',
    waitsFor: 'us',
    alertAfter: '5m',
    // The ages are those of a sample, which may miss a session.
    alertKeeps: '5m',
    find: ({ poller, budget: { recentMaxIntervalSeconds } }) =>
      (poller?.phases ?? []).map(
        ({ phase, oldestReadSeconds }) =>
          oldestReadSeconds * 1_000 > 2 * longestIntervalMs(phase, recentMaxIntervalSeconds * 1_000) &&
          `${phase}: a session was last read ${Math.round(oldestReadSeconds)} s ago, more than twice its longest interval`,
      ),
  },
  sessions_overdue: {
    severity: 'warning',
    title: 'Sessions are read late',
    runbook: 'many-sessions-are-overdue',
    waitsFor: 'us',
    alertAfter: '5m',
    find: ({ poller }) =>
      poller !== null &&
      poller.oldestOverdueSeconds > LATE_SECONDS &&
      `${counted(poller.overdue, 'session is', 'sessions are')} due, the most overdue for ${Math.round(poller.oldestOverdueSeconds)} s`,
    began: ({ poller }) => [poller?.oldestOverdueSeconds ?? 0],
  },
  nothing_changes: {
    severity: 'warning',
    title: 'No session has changed for unusually long',
    runbook: 'nothing-changes',
    waitsFor: 'remote_service',
    alertAfter: '5m',
    find: ({ poller, activity: { unchangedSeconds, usualChanges } }) =>
      usualChanges !== null &&
      usualChanges >= LEAST_USUAL &&
      (poller?.readsPerSecond ?? 0) > 0 &&
      `${poller?.readsPerSecond.toFixed(1)} reads per second, and no change of a session for ${Math.round(unchangedSeconds / 60)} minutes; at the same hours of each of the last days there were at least ${usualChanges}`,
  },
  starts_fell: {
    severity: 'warning',
    title: 'Unusually few sessions are started',
    runbook: 'nothing-changes',
    waitsFor: 'tenant',
    alertAfter: '10m',
    find: ({ activity: { startsPerHour, usualStartsPerHour } }) =>
      usualStartsPerHour !== null &&
      usualStartsPerHour >= LEAST_USUAL &&
      startsPerHour < FALLEN_TO * usualStartsPerHour &&
      `${counted(startsPerHour, 'start', 'starts')} within the last hour; at the same hour of each of the last days there were at least ${usualStartsPerHour}`,
  },
} satisfies Record<string, Reason>;
