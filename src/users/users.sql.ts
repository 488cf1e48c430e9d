import type { Statement } from '../platform/database/database.js';

/**
 * Answers no row when the id or the reference is taken by another user. Where the remote service gave no readable times, the
 * user is as old as our knowledge of it.
 */
export const INSERT_USER: Statement = {
  name: 'users.insert',
  text: `
    INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, coalesce($8, clock_timestamp()), coalesce($9, $8, clock_timestamp()))
    ON CONFLICT DO NOTHING
    RETURNING metadata, created_at AS "createdAt", updated_at AS "updatedAt", registered_at AS "registeredAt"`,
};

/** Answers a row for each location that was inserted; fewer than given means that an id belongs to another user. */
export const INSERT_GRID_LOCATIONS: Statement = {
  name: 'users.insert_grid_locations',
  text: `
    INSERT INTO grid_locations (id, user_id, ean)
    SELECT location_id, $1, ean FROM unnest($2::uuid[], $3::text[]) AS locations (location_id, ean)
    ON CONFLICT DO NOTHING
    RETURNING id`,
};
