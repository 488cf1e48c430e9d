import type { Transaction } from '../../platform/database/database.js';
import { STOP_POLLS } from '../poll/polls.sql.js';
import { ERASED } from '../rules/start-failure.rules.js';
import { failedStart, PLACE_OF_START, startFailedEvents } from '../start/failed-starts.store.js';
import type { EndedStart } from '../start/failed-starts.store.js';
import type { SessionRecord } from '../rules/reconcile.rules.js';
import { erasedEvent } from '../rules/session-events.rules.js';
import { CHECKED_AT, LOCK_SESSIONS_OF_USER } from './sessions.sql.js';

/** Marks a user's starts in flight as failed, and returns them. Each counts as an orphan, since its call may have had its effect. */
// Clears last_error of the other starts: it may quote personal data from the remote service.
export const ERASE_STARTS = `
    UPDATE session_starts s
       SET status = CASE WHEN status = 'sending' THEN 'failed' ELSE status END,
           orphans = orphans + CASE WHEN status = 'sending' THEN 1 ELSE 0 END,
           last_error = CASE WHEN status = 'sending' THEN '${ERASED.error}' END,
           updated_at = CASE WHEN status = 'sending' THEN clock_timestamp() ELSE s.updated_at END
      FROM ${PLACE_OF_START}
     WHERE g.id = s.grid_location_id AND g.user_id = $1
    RETURNING CASE WHEN s.last_error IS NOT NULL
                   THEN ${failedStart(`'${ERASED.reason}'`)} || '{"tenantReference": null}' END AS failed`;

const SELECT_LOCATIONS = 'SELECT id FROM grid_locations WHERE user_id = $1';

/**
 * Erases the data of sessions and closes them. Does not change the state or an earlier closed_at. Copies the time of the last
 * successful read from the poll.
 */
export const ERASE_SESSIONS = `
    UPDATE onboarding_sessions s
       SET metadata = '{}', start_url_ciphertext = NULL, closed_at = coalesce(s.closed_at, $2), close_reason = 'erased',
           last_checked_at = coalesce(
             (SELECT ${CHECKED_AT}
                FROM session_polls p LEFT JOIN poll_batches b ON b.id = p.batch_id WHERE p.session_id = s.id),
             s.last_checked_at),
           changed_at = $2
     WHERE s.id = ANY($1::uuid[])`;

// The statements are separate constants, so that a fault test can omit each of them from an erasure.
export const DELETE_OBSERVATIONS =
  'DELETE FROM session_observations WHERE session_id = ANY($1::uuid[]) RETURNING id';

export const DELETE_INVERTERS = 'DELETE FROM inverters WHERE session_id = ANY($1::uuid[]) RETURNING id';

/** Deletes the list of the user's sessions that retention has deleted, and returns their ids. Events of these sessions may remain. */
// Runs after LOCK_SESSIONS_OF_USER, so that its snapshot includes the sessions that retention deleted while that statement waited.
export const TAKE_PRUNED_SESSIONS =
  'DELETE FROM pruned_sessions WHERE user_id = $1 RETURNING session_id AS id';

/** Erases and closes the sessions of the locked user, if any. Deletes their polls, so that the results of reads in flight are dropped. */
export async function eraseSessions(tx: Transaction, userId: string | null, erasedAt: Date) {
  const failed = await tx.query<EndedStart>(ERASE_STARTS, [userId]);
  const locations = await tx.query<{ id: string }>(SELECT_LOCATIONS, [userId]);
  const sessions = await tx.query<SessionRecord>(LOCK_SESSIONS_OF_USER, [userId]);
  const sessionIds = sessions.map(({ id }) => id);
  const pruned = await tx.query<{ id: string }>(TAKE_PRUNED_SESSIONS, [userId]);
  await tx.query(ERASE_SESSIONS, [sessionIds, erasedAt]);
  await tx.query(STOP_POLLS, [sessionIds]);
  const observations = await tx.query(DELETE_OBSERVATIONS, [sessionIds]);
  const inverters = await tx.query(DELETE_INVERTERS, [sessionIds]);
  return {
    sessionIds,
    /** The subjects of the events of failed starts. */
    gridLocationIds: locations.map(({ id }) => id),
    prunedIds: pruned.map(({ id }) => id),
    observations: observations.length,
    inverters: inverters.length,
    /** One event for each start in flight, and one for each session that was not closed yet. */
    events: [
      ...startFailedEvents(failed),
      ...sessions
        .filter(({ closedAt }) => closedAt === null)
        .map((session) => erasedEvent(session, erasedAt)),
    ],
  };
}
