import type { Statement } from '../../platform/database/database.js';

// What a start costs beside the call to the remote service is above all its round trips, so two statements write: one commits the
// intent before the call, the other what came of it. The same in 20 round trips took 5.4 ms of CPU in this process instead of 3.2, with 4
// starts at once, and added about twice as much to the remote service's own time.

/**
 * Whether the location's user is there and not erased, and stays so until the end of the transaction. Taken before any other lock of
 * a start, since an erasure holds the user before it comes to starts and sessions.
 */
export const holdingPlace = (gridLocationId: string): string => `
    place AS MATERIALIZED (
      SELECT g.id, u.id AS user_id, u.tenant_reference FROM grid_locations g JOIN users u ON u.id = g.user_id
       WHERE g.id = ${gridLocationId} AND u.erased_at IS NULL
         FOR KEY SHARE OF u
    )`;

/**
 * The partial unique index lets one start per location and brand be in flight, whoever asks and from whichever replica: without an id
 * another is. No row when there is no such location, or its user has been erased.
 */
export const BEGIN_START: Statement = {
  name: 'begin_session_start',
  text: `
    WITH ${holdingPlace('$1')}, begun AS (
      INSERT INTO session_starts (grid_location_id, brand, lease_token, lease_until)
      SELECT id, $2, $4, clock_timestamp() + $3 * interval '1 millisecond' FROM place
      ON CONFLICT (grid_location_id, brand) WHERE status = 'sending' DO NOTHING
      RETURNING id, attempts
    )
    SELECT place.user_id AS "userId", place.tenant_reference AS "tenantReference", begun.id, begun.attempts
      FROM place LEFT JOIN begun ON true`,
};

/** A starter that died may have had its effect: what it asked for counts as an orphan, and the start goes on from there. */
export const TAKE_OVER_START: Statement = {
  name: 'take_over_session_start',
  text: `
    UPDATE session_starts
       SET lease_token = $4, lease_until = clock_timestamp() + $3 * interval '1 millisecond',
           attempts = attempts + 1, orphans = orphans + 1, last_error = 'the process that was starting it died',
           updated_at = clock_timestamp()
     WHERE grid_location_id = $1 AND brand IS NOT DISTINCT FROM $2 AND status = 'sending' AND lease_until < clock_timestamp()
    RETURNING id, attempts`,
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

/** $3: how many of its sends may have had their effect, if that is more than what is counted. */
export const FAIL_START: Statement = {
  name: 'fail_session_start',
  text: `
    UPDATE session_starts
       SET status = 'failed', orphans = greatest(orphans, $3), last_error = $4, updated_at = clock_timestamp()
     WHERE id = $1 AND lease_token = $2 AND status = 'sending'
    RETURNING id`,
};

/**
 * Lets go of a start for which its holder has sent nothing. If it was taken over, the holder before may have sent it, and that has been
 * counted. Found by place and lease token, since the id may have been lost with the answer.
 */
export const LET_GO_START: Statement = {
  name: 'let_go_session_start',
  text: `
    WITH dropped AS (
      DELETE FROM session_starts
       WHERE grid_location_id = $1 AND brand IS NOT DISTINCT FROM $2 AND status = 'sending' AND lease_token = $3 AND attempts = 1
      RETURNING id
    ), failed AS (
      UPDATE session_starts
         SET status = 'failed', attempts = attempts - 1, last_error = 'let go before it was sent again', updated_at = clock_timestamp()
       WHERE grid_location_id = $1 AND brand IS NOT DISTINCT FROM $2 AND status = 'sending' AND lease_token = $3 AND attempts > 1
      RETURNING id
    )
    SELECT id FROM dropped UNION ALL SELECT id FROM failed`,
};
