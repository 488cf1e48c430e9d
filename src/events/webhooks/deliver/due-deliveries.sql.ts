import type { Sql, Statement } from '../../../platform/database/database.js';
import type { EventName } from '../../catalogue.rules.js';
import type { SequencedEvent } from '../../feed/events.store.js';

/** Events claimed together per subject. A session rarely has more in its lifetime. */
const AT_ONCE_OF_SUBJECT = 8;
/** Rows read per query at most: more than can be claimed at once, and still read within one or two milliseconds. */
const LOOK_AT = 500;
/**
 * How long a delivery is deferred while an earlier one of its subject is claimed. Settling the earlier one makes it due. The limit
 * covers a process that has lost its job and defers deliveries after that settlement.
 */
const ASIDE = `interval '1 minute'`;

// If the first event of a subject waits for a retry, it blocks all later events of the subject, although up to 100,000 of these may
// be due by their own times. To avoid reading them repeatedly, this statement reads the first rows of the index of due deliveries and
// defers the blocked ones to the retry of the first. SETTLE (settle-deliveries.sql.ts) makes the next one due once the first is
// settled. Rejected: selecting the first delivery of each subject, which visits every waiting subject, also up to 100,000. now()
// equals the start of the statement here, because it runs outside a transaction. Unlike clock_timestamp(), it is usable in an index
// condition.
const LOOK: Statement = {
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
  /** Attempts made before the next one. */
  readonly attempts: number;
  readonly event: SequencedEvent;
}

/** The claimed subjects, each with its last claimed position. */
export interface InHand {
  readonly subjects: readonly string[];
  readonly positions: readonly string[];
}

export interface Look {
  /** In order within each subject; claimed subjects are excluded. */
  readonly deliveries: readonly DueDelivery[];
  /** Whether another call may find more. */
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

/** Returns the next deliveries of at most `limit` unclaimed subjects. Defers due deliveries that are blocked by an earlier one. */
export async function look(sql: Sql, endpointId: string, inHand: InHand, limit: number): Promise<Look> {
  const rows = await sql.query<LookRow>(LOOK, [endpointId, inHand.subjects, inHand.positions, limit]);
  const stopped = new Set<string>();
  const deliveries: DueDelivery[] = [];
  for (const { moreToSee: _more, deliveryId, position, attempts, isDue, ...event } of rows) {
    if (deliveryId === null) continue;
    // Later deliveries of the subject wait for this one.
    if (!isDue) stopped.add(event.subject);
    if (stopped.has(event.subject)) continue;
    const { subject } = event;
    deliveries.push({ id: deliveryId, subject, position, attempts, event: event as SequencedEvent });
  }
  return { deliveries, isThereMore: (rows[0]?.moreToSee ?? 0) > 0 };
}

const NEXT_DUE: Statement = {
  name: 'webhooks.next-due',
  text: `
    SELECT extract(epoch FROM next_attempt_at - clock_timestamp())::float8 * 1000 AS "inMs", next_attempt_at AS at
    FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'pending'
    ORDER BY next_attempt_at LIMIT 1`,
};

/** Returns when the next pending delivery is due, or null if none is pending. */
export async function findNextDue(
  sql: Sql,
  endpointId: string,
): Promise<{ readonly inMs: number; readonly at: Date } | null> {
  const [row] = await sql.query<{ inMs: number; at: Date }>(NEXT_DUE, [endpointId]);
  return row ?? null;
}
