import type { Database, Sql } from '../platform/database/database.js';
import type { Lease } from '../platform/database/lease.js';
import { leasesOn } from '../platform/database/lease.sql.js';

/** The name of the only row of `broker_positions`. */
export const NATS = 'nats';

export const BROKER_LEASES = leasesOn({ table: 'broker_positions', key: 'name' });

/** Whether the place may be claimed, or is missing. */
export const ANY_DUE = `
    SELECT WHERE NOT EXISTS (SELECT FROM broker_positions) OR EXISTS (SELECT FROM broker_positions WHERE ${BROKER_LEASES.isClaimable})`;

export interface Place {
  /** The sequence of the last event that is recorded as confirmed by the broker; 0 if there is none. */
  readonly readTo: string;
  /** The last error, and for how many seconds the broker has been failing. Both are null while the broker works. */
  readonly lastError: string | null;
  readonly failingSeconds: number | null;
}

export const insertPlace = (sql: Sql): Promise<unknown> =>
  sql.query('INSERT INTO broker_positions (name) VALUES ($1) ON CONFLICT DO NOTHING', [NATS]);

export async function readPlace(sql: Sql, { token }: Lease): Promise<Place | null> {
  const text = `
    SELECT read_to AS "readTo", last_error AS "lastError",
      round(extract(epoch FROM clock_timestamp() - failing_since))::int AS "failingSeconds"
    FROM broker_positions WHERE lease_token = $1`;
  return (await sql.query<Place>(text, [token]))[0] ?? null;
}

// Each of the next three functions returns false and changes nothing if another process has claimed the lease.

export const movePosition = (sql: Sql, lease: Lease, readTo: string): Promise<boolean> =>
  change(sql, lease, 'read_to = $2, published_at = clock_timestamp()', readTo);

export const markFailing = (sql: Sql, lease: Lease, reason: string): Promise<boolean> =>
  change(sql, lease, 'failing_since = coalesce(failing_since, clock_timestamp()), last_error = $2', reason);

export const markWorking = (sql: Sql, lease: Lease, warnings: readonly string[]): Promise<boolean> =>
  change(sql, lease, 'failing_since = NULL, last_error = NULL, warnings = $2', warnings);

/** Updates the row if its lease is still ours. `set` refers to `value` as $2. */
async function change(sql: Sql, { token }: Lease, set: string, value: unknown): Promise<boolean> {
  const text = `UPDATE broker_positions SET ${set} WHERE lease_token = $1 RETURNING name`;
  return (await sql.query(text, [token, value])).length === 1;
}

/** Returns the sequence of an event. Null: the event comes from another database, or was lost when a backup was restored. */
export async function findSequence({ prisma }: Database, id: string): Promise<string | null> {
  const event = await prisma.domainEvent.findUnique({ where: { id }, select: { sequence: true } });
  return event?.sequence?.toString() ?? null;
}
