import type { Database, Sql } from '../../platform/database/database.js';

/** The exclusive right to publish. It expires unless it is renewed. */
export interface Lease {
  readonly token: string;
  /** The sequence of the last event recorded as confirmed by the broker; 0 if none. */
  readonly readTo: string;
}

/** Claims the lease. Returns null while another process has it. */
export async function claimLease(sql: Sql, leaseMs: number): Promise<Lease | null> {
  const text = `
    INSERT INTO broker_positions AS place (name, lease_token, lease_until)
    VALUES ('nats', gen_random_uuid(), clock_timestamp() + $1 * interval '1 millisecond')
    ON CONFLICT (name) DO UPDATE SET lease_token = excluded.lease_token, lease_until = excluded.lease_until
    WHERE place.lease_until IS NULL OR place.lease_until < clock_timestamp()
    RETURNING lease_token AS token, read_to AS "readTo"`;
  return (await sql.query<Lease>(text, [leaseMs]))[0] ?? null;
}

/** Renews the lease. Returns false if another process has claimed it. */
export async function renewLease(sql: Sql, { token }: Lease, leaseMs: number): Promise<boolean> {
  const text = `
    UPDATE broker_positions SET lease_until = clock_timestamp() + $2 * interval '1 millisecond'
    WHERE lease_token = $1 RETURNING name`;
  return (await sql.query(text, [token, leaseMs])).length === 1;
}

export async function releaseLease({ prisma }: Database, { token }: Lease): Promise<void> {
  const data = { leaseToken: null, leaseUntil: null };
  await prisma.brokerPosition.updateMany({ where: { leaseToken: token }, data });
}

/** Moves the position to the last confirmed event. Returns false and changes nothing if another process has claimed the lease. */
export async function movePosition(sql: Sql, { token }: Lease, readTo: string): Promise<boolean> {
  const text = `
    UPDATE broker_positions SET read_to = $2, published_at = clock_timestamp()
    WHERE lease_token = $1 RETURNING name`;
  return (await sql.query(text, [token, readTo])).length === 1;
}

/** Records the failure. Returns whether the reason differs from the last reason that any process recorded. */
export async function markFailing(sql: Sql, { token }: Lease, reason: string): Promise<boolean> {
  const text = `
    WITH before AS (
      SELECT name, last_error FROM broker_positions WHERE lease_token = $1 FOR UPDATE
    )
    UPDATE broker_positions AS place
    SET failing_since = coalesce(failing_since, clock_timestamp()), last_error = $2
    FROM before WHERE place.name = before.name
    RETURNING before.last_error IS DISTINCT FROM $2 AS "isNew"`;
  return (await sql.query<{ isNew: boolean }>(text, [token, reason]))[0]?.isNew === true;
}

/** Records that the broker works. Returns for how many seconds it had been failing, or null if it had not been failing. */
export async function markWorking(sql: Sql, { token }: Lease): Promise<number | null> {
  const text = `
    WITH before AS (
      SELECT name, failing_since FROM broker_positions
      WHERE lease_token = $1 AND failing_since IS NOT NULL FOR UPDATE
    )
    UPDATE broker_positions AS place SET failing_since = NULL, last_error = NULL
    FROM before WHERE place.name = before.name
    RETURNING round(extract(epoch FROM clock_timestamp() - before.failing_since))::int AS seconds`;
  return (await sql.query<{ seconds: number }>(text, [token]))[0]?.seconds ?? null;
}

export async function recordWarnings({ prisma }: Database, { token }: Lease, warnings: readonly string[]) {
  await prisma.brokerPosition.updateMany({ where: { leaseToken: token }, data: { warnings: [...warnings] } });
}

/** Returns null for an unknown id: its event comes from another database, or was lost when a backup was restored. */
export async function findSequence({ prisma }: Database, id: string): Promise<string | null> {
  const event = await prisma.domainEvent.findUnique({ where: { id }, select: { sequence: true } });
  return event?.sequence?.toString() ?? null;
}
