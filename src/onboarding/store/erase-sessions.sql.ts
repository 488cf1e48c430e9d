import { appendEvents } from '../../events/outbox.js';
import type { PersonalData } from '../../platform/database/personal-data.js';
import { STOP_POLLS } from '../poll/polls.sql.js';
import { ERASED } from '../rules/start-failure.rules.js';
import { failedStart, PLACE_OF_START, startFailedEvents } from '../start/failed-starts.store.js';
import type { EndedStart } from '../start/failed-starts.store.js';
import type { SessionRecord } from '../rules/reconcile.rules.js';
import { erasedEvent } from '../rules/session-events.rules.js';
import { CHECKED_AT, LOCK_SESSIONS_OF_USER } from './sessions.sql.js';

/** Marks a user's starts in flight as failed, and returns them. Each counts as an orphan, since its call may have had its effect. */
// Clears last_error of the other starts, which may quote personal data from the remote service, and the hash of the key of each request,
// which the caller may have made of a reference.
export const ERASE_STARTS = `
    UPDATE session_starts s
       SET status = CASE WHEN status = 'sending' THEN 'failed' ELSE status END,
           orphans = orphans + CASE WHEN status = 'sending' THEN 1 ELSE 0 END,
           last_error = CASE WHEN status = 'sending' THEN '${ERASED.error}' END,
           request = NULL,
           updated_at = CASE WHEN status = 'sending' THEN clock_timestamp() ELSE s.updated_at END
      FROM ${PLACE_OF_START}
     WHERE g.id = s.grid_location_id AND g.user_id = $1
    RETURNING CASE WHEN s.last_error IS NOT NULL
                   THEN ${failedStart(`'${ERASED.reason}'`)} || '{"tenantReference": null}' END AS failed`;

/** Erases the data of sessions and closes them. Keeps the state and an earlier closed_at. Copies the last successful read from the poll. */
export const ERASE_SESSIONS = `
    UPDATE onboarding_sessions s
       SET metadata = '{}', start_url_ciphertext = NULL, closed_at = coalesce(s.closed_at, $2), close_reason = 'erased',
           last_checked_at = coalesce(
             (SELECT ${CHECKED_AT}
                FROM session_polls p LEFT JOIN poll_batches b ON b.id = p.batch_id WHERE p.session_id = s.id),
             s.last_checked_at),
           changed_at = $2
     WHERE s.id = ANY($1::uuid[])
    RETURNING s.id`;

// The statements are separate constants, so that a fault test can omit each of them from an erasure.
export const DELETE_OBSERVATIONS =
  'DELETE FROM session_observations WHERE session_id = ANY($1::uuid[]) RETURNING id';

export const DELETE_INVERTERS = 'DELETE FROM inverters WHERE session_id = ANY($1::uuid[]) RETURNING id';

/** Deletes the list of the user's sessions that retention has deleted. Events of these sessions may remain. */
// Runs after LOCK_SESSIONS_OF_USER, so that its snapshot includes the sessions that retention deleted while that statement waited.
const DELETE_PRUNED_SESSIONS = 'DELETE FROM pruned_sessions WHERE user_id = $1 RETURNING session_id AS id';

/** The rows of the person's sessions in a table, which `statement` deletes. */
const ofSessions = (table: string, order: string, statement: string): PersonalData => ({
  table,
  where: 't.session_id = ANY ($1::uuid[])',
  order,
  parameter: ({ sessionIds }) => sessionIds,
  erase: async (tx, { sessionIds }) => (await tx.query(statement, [sessionIds])).length,
});

/** Ends the starts in flight, with an event for each. */
const STARTS: PersonalData = {
  table: 'session_starts',
  where: 't.grid_location_id = ANY ($1::uuid[])',
  order: 't.id',
  parameter: ({ gridLocationIds }) => gridLocationIds,
  erase: async (tx, { userId }, { later }) => {
    const failed = await tx.query<EndedStart>(ERASE_STARTS, [userId]);
    later(() => appendEvents(tx, startFailedEvents(failed)));
    return failed.length;
  },
};

/** Closes the sessions, with an event for each that was not closed yet. */
const SESSIONS: PersonalData = {
  table: 'onboarding_sessions',
  where: 't.id = ANY ($1::uuid[])',
  order: 't.id',
  parameter: ({ sessionIds }) => sessionIds,
  erase: async (tx, { userId }, { at, later }) => {
    const sessions = await tx.query<SessionRecord>(LOCK_SESSIONS_OF_USER, [userId]);
    await tx.query(ERASE_SESSIONS, [sessions.map(({ id }) => id), at]);
    const open = sessions.filter(({ closedAt }) => closedAt === null);
    const events = open.map((session) => erasedEvent(session, at));
    later(() => appendEvents(tx, events));
    return sessions.length;
  },
};

/** Without its poll, the result of a read in flight is dropped. */
const POLLS = ofSessions('session_polls', 't.session_id', STOP_POLLS);
const OBSERVATIONS = ofSessions('session_observations', 't.id', DELETE_OBSERVATIONS);
const INVERTERS = ofSessions('inverters', 't.session_id, t.id', DELETE_INVERTERS);

const PRUNED_SESSIONS: PersonalData = {
  table: 'pruned_sessions',
  where: 't.user_id = $1',
  order: 't.session_id',
  parameter: ({ userId }) => userId,
  erase: async (tx, { userId }) => (await tx.query(DELETE_PRUNED_SESSIONS, [userId])).length,
};

/** The tables of sessions, in the order of their locks. */
export const SESSION_DATA = [STARTS, SESSIONS, PRUNED_SESSIONS, POLLS, OBSERVATIONS, INVERTERS];
