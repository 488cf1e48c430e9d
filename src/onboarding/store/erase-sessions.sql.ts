import type { NewEvent } from '../../events/catalogue.rules.js';
import type { Statement, Transaction } from '../../platform/database/database.js';
import { STOP_POLLS } from '../poll/polls.sql.js';
import type { SessionRecord } from '../rules/reconcile.rules.js';
import { erasedEvent } from '../rules/session-events.rules.js';
import { LOCK_SESSIONS_OF_USER } from './sessions.sql.js';

/**
 * Fails a user's starts that are in flight; their responses can then no longer be recorded. Each counts as an orphan, since its call may
 * have had its effect. Clears the remote service's words, which may quote anything.
 */
export const ERASE_STARTS: Statement = {
  name: 'erase_session_starts',
  text: `
    UPDATE session_starts
       SET status = CASE WHEN status = 'sending' THEN 'failed' ELSE status END,
           orphans = orphans + CASE WHEN status = 'sending' THEN 1 ELSE 0 END,
           last_error = CASE WHEN status = 'sending' THEN 'the user was erased' END,
           updated_at = clock_timestamp()
     WHERE grid_location_id IN (SELECT id FROM grid_locations WHERE user_id = $1)`,
};

/**
 * Clears and closes sessions. The state stays, and so does an earlier closed_at. Copies the time of the last good read from the poll,
 * which is then deleted.
 */
export const ERASE_SESSIONS: Statement = {
  name: 'erase_sessions',
  text: `
    UPDATE onboarding_sessions s
       SET metadata = '{}', start_url_ciphertext = NULL, closed_at = coalesce(s.closed_at, $2), close_reason = 'erased',
           last_checked_at = coalesce(
             (SELECT CASE WHEN b.id IS NULL THEN p.claimed_at ELSE p.checked_at END
                FROM session_polls p LEFT JOIN poll_batches b ON b.id = p.batch_id WHERE p.session_id = s.id),
             s.last_checked_at),
           changed_at = $2
     WHERE s.id = ANY($1::uuid[])`,
};

export const DELETE_OBSERVATIONS: Statement = {
  name: 'erase_session_observations',
  text: 'DELETE FROM session_observations WHERE session_id = ANY($1::uuid[]) RETURNING id',
};

export const DELETE_INVERTERS: Statement = {
  name: 'erase_inverters',
  text: 'DELETE FROM inverters WHERE session_id = ANY($1::uuid[]) RETURNING id',
};

export interface ErasedSessions {
  readonly sessionIds: readonly string[];
  readonly observations: number;
  readonly inverters: number;
  /** `session.closed` for sessions that were not closed yet. */
  readonly events: readonly NewEvent[];
}

/**
 * Clears and closes the sessions of a user that the caller's transaction has locked. A read in flight then finds no poll for its session,
 * and is stale.
 */
export async function eraseSessions(
  tx: Transaction,
  userId: string,
  erasedAt: Date,
): Promise<ErasedSessions> {
  await tx.query(ERASE_STARTS, [userId]);
  const sessions = await tx.query<SessionRecord>(LOCK_SESSIONS_OF_USER, [userId]);
  const sessionIds = sessions.map(({ id }) => id);
  await tx.query(ERASE_SESSIONS, [sessionIds, erasedAt]);
  await tx.query(STOP_POLLS, [sessionIds]);
  const observations = await tx.query(DELETE_OBSERVATIONS, [sessionIds]);
  const inverters = await tx.query(DELETE_INVERTERS, [sessionIds]);
  return {
    sessionIds,
    observations: observations.length,
    inverters: inverters.length,
    events: sessions
      .filter(({ closedAt }) => closedAt === null)
      .map((session) => erasedEvent(session, erasedAt)),
  };
}
