import type { Database, Sql } from '../../platform/database/database.js';
import { msFromNow } from '../../platform/database/timestamps.js';

export interface Lease {
  readonly token: string;
  /** The sequence of the last event recorded as confirmed by the broker; 0 if none. */
  readonly readTo: string;
  /** Why the broker failed, and for how many seconds it had been failing, when the lease was claimed. Null if it was working. */
  readonly lastError: string | null;
  readonly failingSeconds: number | null;
}

/** Claims the lease. Returns null while another process has it. */
export async function claimLease(sql: Sql, leaseMs: number): Promise<Lease | null> {
  const text = `
    INSERT INTO broker_positions AS place (name, lease_token, lease_until)
    VALUES ('nats', gen_random_uuid(), ${msFromNow('$1')})
    ON CONFLICT (name) DO UPDATE SET lease_token = excluded.lease_token, lease_until = excluded.lease_until
    WHERE place.lease_until IS NULL OR place.lease_until < clock_timestamp()
    RETURNING lease_token AS token, read_to AS "readTo", last_error AS "lastError",
      round(extract(epoch FROM clock_timestamp() - failing_since))::int AS "failingSeconds"`;
  return (await sql.query<Lease>(text, [leaseMs]))[0] ?? null;
}

// Each of these changes returns false and changes nothing if another process has claimed the lease.

export const renewLease = (sql: Sql, lease: Lease, leaseMs: number): Promise<boolean> =>
  change(sql, lease, `lease_until = ${msFromNow('$2')}`, leaseMs);

export const releaseLease = (sql: Sql, lease: Lease): Promise<boolean> =>
  change(sql, lease, 'lease_token = NULL, lease_until = NULL');

/** Moves the position to the last confirmed event. */
export const movePosition = (sql: Sql, lease: Lease, readTo: string): Promise<boolean> =>
  change(sql, lease, 'read_to = $2, published_at = clock_timestamp()', readTo);

export const markFailing = (sql: Sql, lease: Lease, reason: string): Promise<boolean> =>
  change(sql, lease, 'failing_since = coalesce(failing_since, clock_timestamp()), last_error = $2', reason);

export const markWorking = (sql: Sql, lease: Lease): Promise<boolean> =>
  change(sql, lease, 'failing_since = NULL, last_error = NULL');

export const recordWarnings = (sql: Sql, lease: Lease, warnings: readonly string[]): Promise<boolean> =>
  change(sql, lease, 'warnings = $2', warnings);

/** Changes the position if the lease is still ours. In `set`, the values are $2, $3 and so on. */
async function change(sql: Sql, { token }: Lease, set: string, ...values: unknown[]): Promise<boolean> {
  const text = `UPDATE broker_positions SET ${set} WHERE lease_token = $1 RETURNING name`;
  return (await sql.query(text, [token, ...values])).length === 1;
}

/** Returns null for an unknown id: its event comes from another database, or was lost when a backup was restored. */
export async function findSequence({ prisma }: Database, id: string): Promise<string | null> {
  const event = await prisma.domainEvent.findUnique({ where: { id }, select: { sequence: true } });
  return event?.sequence?.toString() ?? null;
}
