import type { Sql, Statement } from '../../../platform/database/database.js';
import type { EventName } from '../../catalogue.rules.js';
import type { SequencedEvent } from '../../feed/events.store.js';

/** Events of one subject that are taken in hand together; a session has seldom more in its whole life. */
const AT_ONCE_OF_SUBJECT = 8;
/** Rows that one look goes over at most: more than can be in hand at once, and read in a millisecond or two. */
const LOOK_AT = 500;
/**
 * How long what waits for an earlier event of its subject is kept out of the way. It is due as soon as that one is settled; this is for
 * when a process that has lost its job writes so afterwards.
 */
const ASIDE = `interval '1 minute'`;

// A subject whose first event waits for its next attempt blocks all that come after it, and there may be 100,000 of those that are
// due by themselves. A look must not read them again and again: it goes over the first rows of the index of what is due, and
// what it finds there that cannot go is put aside, to when the first one is tried again; SETTLE (webhook-settle.sql.ts) makes it due
// once that one is settled. Asking for the first of each subject instead would visit each subject that is waiting, and these may be
// 100,000 too.
// now() is the time of the statement here, which runs by itself, and unlike clock_timestamp() it can be looked up in an index.
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
  /** Before the next one. */
  readonly attempts: number;
  readonly event: SequencedEvent;
}

/** Each subject that is being worked on, with the last position of it that is. */
export interface InHand {
  readonly subjects: readonly string[];
  readonly positions: readonly string[];
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
export async function look(sql: Sql, endpointId: string, inHand: InHand, limit: number): Promise<Look> {
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
