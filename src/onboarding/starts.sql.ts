import type { Statement } from '../platform/database/database.js';

/**
 * Whether the location's user is there and not erased, and stays so until the end of the transaction. Taken before any other lock of
 * a start, since an erasure holds the user before it comes to starts and sessions.
 */
export const HOLD_PLACE: Statement = {
  name: 'hold_place_of_start',
  text: `
    SELECT u.id FROM grid_locations g JOIN users u ON u.id = g.user_id
     WHERE g.id = $1 AND u.erased_at IS NULL
       FOR KEY SHARE OF u`,
};

/** The partial unique index lets one start per location and brand be in flight, whoever asks and from whichever replica. */
export const BEGIN_START: Statement = {
  name: 'begin_session_start',
  text: `
    INSERT INTO session_starts (grid_location_id, brand, lease_token, lease_until)
    VALUES ($1, $2, gen_random_uuid(), clock_timestamp() + $3 * interval '1 millisecond')
    ON CONFLICT (grid_location_id, brand) WHERE status = 'sending' DO NOTHING
    RETURNING id, lease_token AS "leaseToken", attempts`,
};

/** A starter that died may have had its effect: what it asked for counts as an orphan, and the start goes on from there. */
export const TAKE_OVER_START: Statement = {
  name: 'take_over_session_start',
  text: `
    UPDATE session_starts
       SET lease_token = gen_random_uuid(), lease_until = clock_timestamp() + $3 * interval '1 millisecond',
           attempts = attempts + 1, orphans = orphans + 1, last_error = 'the process that was starting it died',
           updated_at = clock_timestamp()
     WHERE grid_location_id = $1 AND brand IS NOT DISTINCT FROM $2 AND status = 'sending' AND lease_until < clock_timestamp()
    RETURNING id, lease_token AS "leaseToken", attempts`,
};

/** Before it is sent again: the lost one may have had its effect. */
export const REPEAT_START: Statement = {
  name: 'repeat_session_start',
  text: `
    UPDATE session_starts
       SET attempts = attempts + 1, orphans = orphans + 1, last_error = $3, updated_at = clock_timestamp(),
           lease_until = clock_timestamp() + $4 * interval '1 millisecond'
     WHERE id = $1 AND lease_token = $2 AND status = 'sending'
    RETURNING attempts`,
};

/** Locks a start that is still this process's own. */
export const HOLD_START: Statement = {
  name: 'hold_session_start',
  text: `SELECT id FROM session_starts WHERE id = $1 AND lease_token = $2 AND status = 'sending' FOR UPDATE`,
};

export const FINISH_START: Statement = {
  name: 'finish_session_start',
  text: `
    UPDATE session_starts
       SET status = $3, session_id = $4, orphans = orphans + $5, last_error = coalesce($6, last_error), updated_at = clock_timestamp()
     WHERE id = $1 AND lease_token = $2 AND status = 'sending'`,
};

/** A start that nothing was sent for, because an open session was there. */
export const DROP_START: Statement = {
  name: 'drop_session_start',
  text: `DELETE FROM session_starts WHERE id = $1 AND lease_token = $2`,
};
