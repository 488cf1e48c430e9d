import type { Statement } from '../platform/database/database.js';

export const INSERT_ERASURE: Statement = {
  name: 'erasures.insert',
  text: `
    INSERT INTO erasures (user_id, erased_at, grid_locations, registrations, sessions, observations, inverters, events)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    RETURNING id`,
};

export const FIND_ERASURE: Statement = {
  name: 'erasures.find',
  text: `
    SELECT id, user_id AS "userId", erased_at AS "erasedAt",
      json_build_object('gridLocations', grid_locations, 'registrations', registrations, 'sessions', sessions,
        'observations', observations, 'inverters', inverters, 'events', events) AS erased
    FROM erasures WHERE user_id = $1`,
};

/** Returns the database's clock, read after all locks are taken, so that rows which waited for the locks are older than the erasure. */
export const NOW: Statement = { name: 'erasures.now', text: 'SELECT clock_timestamp() AS now' };
