import { causes, remedy } from '../../stalls/cause.rules.js';
import { later, look, type Look } from '../../stalls/look.rules.js';
import type { StartStatus } from '../rules/start-failure.rules.js';

/** Why a start does not continue by itself. */
export const START_CAUSES = causes({
  start_failed: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'The start failed, and was not repeated.',
    text: ({ lastError }) =>
      lastError === null ? 'The start failed.' : `The start failed: ${String(lastError)}.`,
    before: 'Remove the cause, if the error names one.',
    remedies: [remedy('startSession', 'Start again', { body: ({ brand }) => ({ ...(brand && { brand }) }) })],
  },
});

/** The facts that decide whether a start is stalled. */
export interface StartFacts {
  readonly status: StartStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly attempts: number;
  readonly orphans: number;
  readonly lastError: string | null;
  /** Whether its location and brand have a later start that did not fail, a later failed start, or a later session. */
  readonly isReplaced: boolean;
}

/** How long a failed start counts. After that, nobody repeats it as it was. */
const COUNTS_MS = 30 * 86_400_000;
/** When to look again whether a session was adopted for the location: an adoption replaces a failed start, but does not change its row. */
const LOOK_AGAIN_MS = 3_600_000;

export function stallOfStart(facts: StartFacts, now: Date): Look {
  const { status, updatedAt, attempts, orphans, lastError, isReplaced } = facts;
  // A start in flight whose lease has expired waits for a worker: that is the trouble of the deployment.
  if (status !== 'failed' || isReplaced) return { stall: null, lookAgainAt: null };
  const evidence = { attempts, lastAttemptAt: updatedAt.toISOString(), orphans, lastError };
  const until = later(updatedAt, COUNTS_MS);
  const lookAgainAt = until > now ? later(now, LOOK_AGAIN_MS) : null;
  return look([{ cause: 'start_failed', since: updatedAt, until, evidence }], now, lookAgainAt);
}
