import type { Sql, Statement, Transaction } from '../../platform/database/database.js';
import type { EventName } from '../catalogue.js';
import type { SequencedEvent } from '../events.store.js';
import type { Health } from './endpoint-health.js';

/** Events of one subject that are taken in hand together; a session has seldom more in its whole life. */
const AT_ONCE_OF_SUBJECT = 8;
/** Rows that one look goes over at most: more than can be in hand at once, and read in a millisecond or two. */
const LOOK_AT = 500;
/**
 * How long what waits for an earlier event of its subject is kept out of the way. It is due as soon as that one is settled; this is for
 * when a process that has lost its job writes so afterwards.
 */
const ASIDE = `interval '1 minute'`;

const ENDPOINT_HEALTH: Statement = {
  name: 'webhooks.endpoint-health',
  text: `
    SELECT failures, failing_since AS "failingSince", quiet_until AS "quietUntil", clock_timestamp() AS now
    FROM webhook_endpoints WHERE id = $1 AND disabled_at IS NULL`,
};

export interface EndpointHealth extends Health {
  /** By the clock of the database. */
  readonly now: Date;
}

/** Null when it is disabled or deleted. */
export async function findHealth(sql: Sql, endpointId: string): Promise<EndpointHealth | null> {
  const [row] = await sql.query<EndpointHealth>(ENDPOINT_HEALTH, [endpointId]);
  return row ?? null;
}

// A subject whose first event waits for its next attempt blocks all that come after it, and there may be 100,000 of those that are
// due by themselves. A look must not read them again and again: it goes over the first rows of the index of what is due, and
// what it finds there that cannot go is put aside, to when the first one is tried again; SETTLE makes it due once that one is settled.
// Asking for the first of each subject instead would visit each subject that is waiting, and these may be 100,000 too.
// now() is the time of the statement here, which runs by itself, and unlike clock_timestamp() it can be looked up in an index.
export const LOOK: Statement = {
  name: 'webhooks.look',
  text: `
    WITH in_hand AS MATERIALIZED (
      SELECT * FROM unnest($2::text[], $3::bigint[]) AS hand (subject, position)
    ), due AS MATERIALIZED (
      SELECT id, subject, position, next_attempt_at FROM webhook_deliveries
      WHERE endpoint_id = $1 AND status = 'pending' AND next_attempt_at <= now()
      ORDER BY next_attempt_at LIMIT ${LOOK_AT}
    ), others AS MATERIALIZED (
      SELECT subject, min(position) AS position FROM due
      WHERE subject NOT IN (SELECT subject FROM in_hand) GROUP BY subject
    ), heads AS MATERIALIZED (
      SELECT head.subject, head.next_attempt_at
      FROM (SELECT subject FROM others ORDER BY position LIMIT $4) AS oldest CROSS JOIN LATERAL (
        SELECT subject, next_attempt_at FROM webhook_deliveries
        WHERE endpoint_id = $1 AND status = 'pending' AND subject = oldest.subject
        ORDER BY position LIMIT 1
      ) AS head
    ), blocked AS MATERIALIZED (
      SELECT due.id, due.next_attempt_at, heads.next_attempt_at AS until
      FROM due JOIN heads ON heads.subject = due.subject WHERE heads.next_attempt_at > now()
      UNION ALL
      SELECT due.id, due.next_attempt_at, now() + ${ASIDE}
      FROM due JOIN in_hand ON in_hand.subject = due.subject WHERE in_hand.position < due.position
    ), aside AS (
      UPDATE webhook_deliveries AS delivery SET next_attempt_at = blocked.until
      FROM blocked WHERE delivery.id = blocked.id AND delivery.next_attempt_at = blocked.next_attempt_at
      RETURNING delivery.id
    ), taken AS MATERIALIZED (
      SELECT subject FROM heads WHERE next_attempt_at <= now()
    )
    SELECT (SELECT count(*)::int FROM aside) + (SELECT count(*)::int FROM others) - (SELECT count(*)::int FROM heads) AS "moreToSee",
      next.id AS "deliveryId", next.position, next.attempts, next.next_attempt_at <= now() AS "isDue",
      event.id, event.name, event.subject, event.sequence, event.time, event.data
    FROM (SELECT) AS always LEFT JOIN (
      taken CROSS JOIN LATERAL (
        SELECT id, position, attempts, next_attempt_at FROM webhook_deliveries
        WHERE endpoint_id = $1 AND status = 'pending' AND subject = taken.subject
        ORDER BY position LIMIT ${AT_ONCE_OF_SUBJECT}
      ) AS next JOIN domain_events AS event ON event.position = next.position
    ) ON true
    ORDER BY next.position`,
};

export interface DueDelivery {
  readonly id: string;
  readonly subject: string;
  readonly position: string;
  /** Before the next one. */
  readonly attempts: number;
  readonly event: SequencedEvent;
}

export interface Look {
  /** By subject in order; none of a subject that is in hand. */
  readonly deliveries: readonly DueDelivery[];
  /** Whether another look would find more, or could not tell yet. */
  readonly isThereMore: boolean;
}

interface LookRow {
  readonly moreToSee: number;
  readonly deliveryId: string | null;
  readonly position: string;
  readonly attempts: number;
  readonly isDue: boolean;
  readonly id: string;
  readonly name: EventName;
  readonly subject: string;
  readonly sequence: string;
  readonly time: Date;
  readonly data: unknown;
}

/** The next deliveries of at most `limit` subjects, beside those that are in hand. */
export async function look(
  sql: Sql,
  endpointId: string,
  inHand: { readonly subjects: readonly string[]; readonly positions: readonly string[] },
  limit: number,
): Promise<Look> {
  const rows = await sql.query<LookRow>(LOOK, [endpointId, inHand.subjects, inHand.positions, limit]);
  const stopped = new Set<string>();
  const deliveries: DueDelivery[] = [];
  for (const { moreToSee: _more, deliveryId, position, attempts, isDue, ...event } of rows) {
    if (deliveryId === null) continue;
    // What comes after one that is not due yet has to wait for it.
    if (!isDue) stopped.add(event.subject);
    if (stopped.has(event.subject)) continue;
    const { subject } = event;
    deliveries.push({ id: deliveryId, subject, position, attempts, event: event as SequencedEvent });
  }
  return { deliveries, isThereMore: (rows[0]?.moreToSee ?? 0) > 0 };
}

/** What is written of an attempt. */
export interface Settlement {
  readonly id: string;
  readonly position: string;
  readonly subject: string;
  /** Before the attempt: an attempt of somebody else since makes this one stale. */
  readonly attempts: number;
  readonly status: 'pending' | 'delivered' | 'failed';
  /** Null unless pending. */
  readonly waitMs: number | null;
  /** How long ago it was sent. */
  readonly sentMsAgo: number;
  readonly httpStatus: number | null;
  readonly error: string | null;
  readonly answer: string | null;
  /** As it was sent: when an erasure has emptied the event since, the answer may quote what must not be kept. */
  readonly tenantReference: string | null;
}

// The events are locked first, in the order in which an erasure locks them, so that an erasure is either seen here or empties what
// is written here. A delivery that has arrived is struck off whatever has happened since; a failure only if it is the newest word.
export const SETTLE: Statement = {
  name: 'webhooks.settle',
  text: `
    WITH item AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset($2::jsonb) AS item (
        id uuid, position bigint, subject text, attempts int, status text, "waitMs" float8, "sentMsAgo" float8,
        "httpStatus" int, error text, answer text, "tenantReference" text)
    ), event AS MATERIALIZED (
      SELECT position, data ->> 'tenantReference' AS reference FROM domain_events
      WHERE position IN (SELECT position FROM item) ORDER BY position FOR SHARE
    ), settled AS (
      UPDATE webhook_deliveries AS delivery
      SET status = item.status, attempts = delivery.attempts + 1,
        next_attempt_at = CASE WHEN item.status = 'pending' THEN clock_timestamp() + item."waitMs" * interval '1 millisecond' END,
        last_attempt_at = clock_timestamp() - item."sentMsAgo" * interval '1 millisecond',
        last_status = item."httpStatus", last_error = item.error,
        last_answer = CASE WHEN event.reference IS NOT DISTINCT FROM item."tenantReference" THEN item.answer END
      FROM item JOIN event ON event.position = item.position
      WHERE delivery.id = item.id
        AND (item.status = 'delivered' OR (delivery.status = 'pending' AND delivery.attempts = item.attempts))
      RETURNING delivery.id
    ), aside AS (
      SELECT next.id
      FROM (SELECT subject, max(position) AS position FROM item WHERE status <> 'pending' GROUP BY subject) AS last
      CROSS JOIN LATERAL (
        SELECT id, next_attempt_at FROM webhook_deliveries
        WHERE endpoint_id = $1 AND status = 'pending' AND subject = last.subject AND position > last.position
        ORDER BY position LIMIT 1
      ) AS next
      WHERE next.next_attempt_at > clock_timestamp() AND next.id NOT IN (SELECT id FROM item)
    ), freed AS (
      UPDATE webhook_deliveries AS delivery SET next_attempt_at = clock_timestamp()
      FROM aside WHERE delivery.id = aside.id AND delivery.attempts = 0
    ), seen AS (
      UPDATE webhook_endpoints SET last_delivered_at = clock_timestamp()
      WHERE id = $1 AND $3
    )
    SELECT count(*)::int AS settled FROM settled`,
};

/** `isDelivered`: at least one arrived, which is to be told of the endpoint. */
export async function settle(
  sql: Sql,
  endpointId: string,
  settlements: readonly Settlement[],
  isDelivered: boolean,
): Promise<void> {
  await sql.query(SETTLE, [endpointId, JSON.stringify(settlements), isDelivered]);
}

const HOLD_HEALTH: Statement = {
  name: 'webhooks.hold-health',
  text: `${ENDPOINT_HEALTH.text} FOR NO KEY UPDATE`,
};

/** Locks the endpoint. Null when it is disabled or deleted. */
export async function holdHealth(tx: Transaction, endpointId: string): Promise<EndpointHealth | null> {
  const [row] = await tx.query<EndpointHealth>(HOLD_HEALTH, [endpointId]);
  return row ?? null;
}

const WRITE_HEALTH: Statement = {
  name: 'webhooks.write-health',
  text: `
    UPDATE webhook_endpoints
    SET failures = $2, failing_since = $3, quiet_until = $4,
      disabled_at = CASE WHEN $5::text IS NOT NULL THEN clock_timestamp() END, disabled_reason = $5
    WHERE id = $1`,
};

export async function writeHealth(
  tx: Transaction,
  endpointId: string,
  health: Health,
  disabledReason: string | null,
): Promise<void> {
  const { failures, failingSince, quietUntil } = health;
  await tx.query(WRITE_HEALTH, [endpointId, failures, failingSince, quietUntil, disabledReason]);
}

/**
 * What was tried while nothing worked is worth another try at once. An attempt begins before its failure is known, by its deadline
 * at most.
 */
const MAKE_TRIED_DUE: Statement = {
  name: 'webhooks.make-tried-due',
  text: `
    UPDATE webhook_deliveries SET next_attempt_at = clock_timestamp()
    WHERE endpoint_id = $1 AND status = 'pending' AND next_attempt_at > clock_timestamp() AND last_attempt_at >= $2::timestamptz - interval '1 minute'`,
};

export async function makeTriedDue(tx: Transaction, endpointId: string, since: Date): Promise<void> {
  await tx.query(MAKE_TRIED_DUE, [endpointId, since]);
}

const NEXT_DUE: Statement = {
  name: 'webhooks.next-due',
  text: `
    SELECT extract(epoch FROM next_attempt_at - clock_timestamp())::float8 * 1000 AS "inMs", next_attempt_at AS at
    FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'pending'
    ORDER BY next_attempt_at LIMIT 1`,
};

/** When something is due next; null when nothing is pending. */
export async function findNextDue(
  sql: Sql,
  endpointId: string,
): Promise<{ readonly inMs: number; readonly at: Date } | null> {
  const [row] = await sql.query<{ inMs: number; at: Date }>(NEXT_DUE, [endpointId]);
  return row ?? null;
}
