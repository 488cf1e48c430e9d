import { instantOf } from '../../platform/database/timestamps.js';
import type { RemoteUser } from '../remote/remote-user.rules.js';

/**
 * Returns CTEs that insert a user with its grid locations for each row of `confirmed`, a CTE with the columns of CONFIRMED_USER and with
 * `metadata`. They fail with a unique violation if an id or the reference belongs to another user.
 *
 * They fail with a null violation if the id is already the subject of events. It then belongs to a session, and the events of two people
 * would be one history and be erased together.
 *
 * Rows are inserted in the order of their ids, so that two statements with the same ids cannot deadlock. If the remote service gave no
 * readable times, the user is as old as our knowledge of it.
 */
export const keepingUsers = (confirmed: string): string => `
    kept AS (
      INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, created_at, updated_at, metadata)
      SELECT CASE WHEN NOT EXISTS (SELECT FROM domain_events WHERE subject = ${confirmed}.id::text) THEN id END,
        "tenantReference", "tenantName", "firstName", "lastName", email,
        coalesce(${instantOf('"createdMs"')}, clock_timestamp()),
        coalesce(${instantOf('"updatedMs"')}, ${instantOf('"createdMs"')}, clock_timestamp()), metadata
      FROM ${confirmed}
      ORDER BY id
      RETURNING id, metadata, created_at AS "createdAt", updated_at AS "updatedAt", registered_at AS "registeredAt"
    ), located AS (
      INSERT INTO grid_locations (id, user_id, ean)
      SELECT location.id, confirmed.id, location.ean
      FROM ${confirmed} AS confirmed
      CROSS JOIN LATERAL jsonb_to_recordset(confirmed."gridLocations") AS location (id uuid, ean text)
      ORDER BY location.id
    )`;

/** The columns that `toConfirmedUser` returns, in JSON. */
export const CONFIRMED_USER = `
  id uuid, "tenantReference" text, "tenantName" text, "firstName" text, "lastName" text, email text,
  "createdMs" float8, "updatedMs" float8, "gridLocations" jsonb`;

export const toConfirmedUser = ({ createdAt, updatedAt, ...user }: RemoteUser) => ({
  ...user,
  createdMs: createdAt?.getTime(),
  updatedMs: updatedAt?.getTime(),
});
