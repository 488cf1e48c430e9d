import type { Database, Sql } from '../../platform/database/database.js';

/** The exclusive right to publish. It expires unless it is renewed. */
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
    VALUES ('nats', gen_random_uuid(), clock_timestamp() + $1 * interval '1 millisecond')
    ON CONFLICT (name) DO UPDATE SET lease_token = excluded.lease_token, lease_until = excluded.lease_until
    WHERE place.lease_until IS NULL OR place.lease_until < clock_timestamp()
    RETURNING lease_token AS token, read_to AS "readTo", last_error AS "lastError",
      round(extract(epoch FROM clock_timestamp() - failing_since))::int AS "failingSeconds"`;
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

export async function markFailing(sql: Sql, { token }: Lease, reason: string): Promise<void> {
  const text = `
    UPDATE broker_positions
    SET failing_since = coalesce(failing_since, clock_timestamp()), last_error = $2
    WHERE lease_token = $1`;
  await sql.query(text, [token, reason]);
}

export async function markWorking({ prisma }: Database, { token }: Lease): Promise<void> {
  const data = { failingSince: null, lastError: null };
  await prisma.brokerPosition.updateMany({ where: { leaseToken: token }, data });
}

export async function recordWarnings({ prisma }: Database, { token }: Lease, warnings: readonly string[]) {
  await prisma.brokerPosition.updateMany({ where: { leaseToken: token }, data: { warnings: [...warnings] } });
}

/** Returns null for an unknown id: its event comes from another database, or was lost when a backup was restored. */
export async function findSequence({ prisma }: Database, id: string): Promise<string | null> {
  const event = await prisma.domainEvent.findUnique({ where: { id }, select: { sequence: true } });
  return event?.sequence?.toString() ?? null;
}
