/**
 * Common table expressions that insert the user and its grid locations if `registration`, another such expression, has a row,
 * with the metadata of that. They fail with a unique violation when an id or the reference belongs to another user. Where the
 * remote service gave no readable times, the user is as old as our knowledge of it. Parameters: $2 to $11.
 */
export const keepingUser = (registration: string): string => `
    kept AS (
      INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, created_at, updated_at, metadata)
      SELECT $2::uuid, $3, $4, $5, $6, $7, coalesce($8, clock_timestamp()), coalesce($9, $8, clock_timestamp()), metadata
      FROM ${registration}
      RETURNING id, metadata, created_at AS "createdAt", updated_at AS "updatedAt", registered_at AS "registeredAt"
    ), located AS (
      INSERT INTO grid_locations (id, user_id, ean)
      SELECT location_id, kept.id, ean FROM kept, unnest($10::uuid[], $11::text[]) AS locations (location_id, ean)
    )`;
