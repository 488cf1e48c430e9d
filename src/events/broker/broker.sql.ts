import type { Sql, Statement } from '../../platform/database/database.js';
import type { SequencedEvent } from '../feed/events.store.js';
import { sequenceEvents } from '../sequence.sql.js';
import type { BrokerKind } from './publishers.js';

/** The exclusive right to publish, until the lease expires and another process claims it. */
export interface Lease {
  readonly name: BrokerKind;
  readonly token: string;
  /** The sequence of the last event that the broker has confirmed, by our record; 0 if none. */
  readonly readTo: string;
}

const CLAIM: Statement = {
  name: 'broker.claim',
  text: `
    INSERT INTO broker_positions AS place (name, lease_token, lease_until)
    VALUES ($1, gen_random_uuid(), clock_timestamp() + $2 * interval '1 millisecond')
    ON CONFLICT (name) DO UPDATE SET lease_token = excluded.lease_token, lease_until = excluded.lease_until
    WHERE place.lease_until IS NULL OR place.lease_until < clock_timestamp()
    RETURNING name, lease_token AS token, read_to AS "readTo"`,
};

/** Claims the lease. Returns null while another process has it. */
export async function claimPlace(sql: Sql, name: BrokerKind, leaseMs: number): Promise<Lease | null> {
  return (await sql.query<Lease>(CLAIM, [name, leaseMs]))[0] ?? null;
}

const KEEP: Statement = {
  name: 'broker.keep',
  text: `
    UPDATE broker_positions SET lease_until = clock_timestamp() + $3 * interval '1 millisecond'
    WHERE name = $1 AND lease_token = $2 RETURNING name`,
};

/** Renews the lease. Returns false if another process has claimed it. */
export async function keepPlace(sql: Sql, { name, token }: Lease, leaseMs: number): Promise<boolean> {
  return (await sql.query(KEEP, [name, token, leaseMs])).length === 1;
}

const GIVE_BACK = `
  UPDATE broker_positions SET lease_token = NULL, lease_until = NULL WHERE name = $1 AND lease_token = $2`;

export async function giveBackPlace(sql: Sql, { name, token }: Lease): Promise<void> {
  await sql.query(GIVE_BACK, [name, token]);
}

const MOVE: Statement = {
  name: 'broker.move',
  text: `
    UPDATE broker_positions SET read_to = $3, published_at = clock_timestamp()
    WHERE name = $1 AND lease_token = $2 RETURNING name`,
};

/** Moves the position to the last confirmed event. Returns false, and does nothing, if another process has claimed the lease. */
export async function movePlace(sql: Sql, { name, token }: Lease, readTo: string): Promise<boolean> {
  return (await sql.query(MOVE, [name, token, readTo])).length === 1;
}

const FAILING = `
  WITH before AS (
    SELECT last_error FROM broker_positions WHERE name = $1 AND lease_token = $2 FOR UPDATE
  )
  UPDATE broker_positions AS place
  SET failing_since = coalesce(failing_since, clock_timestamp()), last_error = $3
  FROM before WHERE name = $1
  RETURNING before.last_error IS DISTINCT FROM $3 AS "isNew"`;

/** Records the failure. Returns whether its reason is new, across all processes. */
export async function markFailing(sql: Sql, { name, token }: Lease, reason: string): Promise<boolean> {
  return (await sql.query<{ isNew: boolean }>(FAILING, [name, token, reason]))[0]?.isNew === true;
}

const WORKING = `
  WITH before AS (
    SELECT failing_since FROM broker_positions
    WHERE name = $1 AND lease_token = $2 AND failing_since IS NOT NULL FOR UPDATE
  )
  UPDATE broker_positions AS place SET failing_since = NULL, last_error = NULL
  FROM before WHERE name = $1
  RETURNING round(extract(epoch FROM clock_timestamp() - before.failing_since))::int AS seconds`;

/** Records that the broker works. Returns for how many seconds it had been failing, or null if it had not. */
export async function markWorking(sql: Sql, { name, token }: Lease): Promise<number | null> {
  return (await sql.query<{ seconds: number }>(WORKING, [name, token]))[0]?.seconds ?? null;
}

/** Uses one index, from the position on: the cost does not depend on how many events precede or follow the page. */
export const READ_PAGE: Statement = {
  name: 'broker.page',
  text: `
    SELECT id, name, subject, sequence, time, data FROM domain_events
    WHERE sequence > $1 ORDER BY sequence LIMIT $2`,
};

/** Returns the next events in order. Includes every event committed before the call, up to `limit`. */
export async function readEventsAfter(sql: Sql, sequence: string, limit: number): Promise<SequencedEvent[]> {
  await sequenceEvents(sql);
  return sql.query<SequencedEvent>(READ_PAGE, [sequence, limit]);
}

const SEQUENCE_OF = 'SELECT sequence FROM domain_events WHERE id = $1 AND sequence IS NOT NULL';

/** Returns null if there is no such event here: the broker has it from another database, or from before a backup was restored. */
export async function findSequence(sql: Sql, id: string): Promise<string | null> {
  return (await sql.query<{ sequence: string }>(SEQUENCE_OF, [id]))[0]?.sequence ?? null;
}
