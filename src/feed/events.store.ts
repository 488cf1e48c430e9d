import { Injectable } from '@nestjs/common';
import { Database, prepared } from '../platform/database/database.js';
import type { EventName, SequencedEvent } from '../events/catalogue.rules.js';
import { newestSequence, sequenceEvents } from '../events/sequence.sql.js';

export interface EventFilter {
  readonly types?: readonly EventName[];
  readonly sessionId?: string;
}

// A filtered page covers at most about 100,000 sequences, to bound the scan for rare types. So the page may be empty although more events
// follow.
const SPAN = 100_000;

// `until` is the sequence of an existing event, because restores and retention leave gaps in the sequences. `reach` and the page are read
// in one statement, so that they share a snapshot. Without filters, the cost does not grow with the feed (`feed.spec.ts`).
export const READ_PAGE = prepared('events.read_page')`
    SELECT reach.last, reach.until, page.*
    FROM (
      SELECT last, CASE WHEN $2::text[] IS NULL AND $4::text IS NULL THEN last ELSE greatest(
          (SELECT max(sequence) FROM domain_events WHERE sequence <= $1::bigint + ${SPAN}),
          (SELECT min(sequence) FROM domain_events WHERE sequence > $1), 0) END AS until
      FROM (SELECT coalesce(max(sequence), 0) AS last FROM domain_events) AS newest
    ) AS reach
    LEFT JOIN LATERAL (
      SELECT id, name, subject, sequence, time, data, traceparent
      FROM domain_events
      WHERE sequence > $1 AND sequence <= reach.until AND ($2::text[] IS NULL OR name = ANY ($2))
        AND ($4::text IS NULL OR subject = $4)
      ORDER BY sequence LIMIT $3
    ) AS page ON true`;

/** `last`: the newest sequence before the events that a restore has lost, or the last one that retention has deleted. */
export interface EventLoss {
  readonly reason: 'restored' | 'deleted';
  readonly last: string;
}

// Retention leaves gaps, since it keeps what a webhook endpoint has still to get. A reader that has missed nothing is at a stored event or
// right before one. Position 0 is the beginning, whatever is stored.
const FIND_LOSS = prepared('events.find_loss')`
    SELECT 'restored' AS reason, last_sequence AS last FROM restores
    WHERE last_sequence < $1::bigint AND first_sequence > $1
    UNION ALL
    SELECT 'deleted', min(sequence) - 1 FROM domain_events
    WHERE sequence > $1 AND $1 > 0 AND NOT EXISTS (SELECT FROM domain_events WHERE sequence = $1)
    HAVING min(sequence) > $1 + 1
    LIMIT 1`;

type PageRow = { readonly last: string; readonly until: string } & (SequencedEvent | { readonly id: null });

@Injectable()
export class EventsStore {
  constructor(private readonly database: Database) {}

  /** Returns the events after `after`, in feed order. `next`: the `after` of the next page. `last`: the newest sequence, or 0. */
  async readPage(after: string, limit: number, { types, sessionId }: EventFilter = {}) {
    await sequenceEvents(this.database);
    const rows = await this.database.query<PageRow>(READ_PAGE, [after, types, limit, sessionId]);
    // The outer join returns one row even if there is no event.
    const { last, until } = rows[0]!;
    const events = rows
      .filter(({ id }) => id !== null)
      .map(({ last, until, ...event }) => event as SequencedEvent);
    // A full page may end before `until`. `next` must not be below `after`.
    const reached = events.length === limit ? events.at(-1)!.sequence : until;
    return { events, last, next: BigInt(reached) > BigInt(after) ? reached : after };
  }

  /** If a reader at this position would miss events that are no longer stored, returns what became of them; otherwise null. */
  async findLoss(position: string): Promise<EventLoss | null> {
    return (await this.database.query<EventLoss>(FIND_LOSS, [position]))[0] ?? null;
  }

  async getNewest(): Promise<string> {
    await sequenceEvents(this.database);
    return newestSequence(this.database);
  }
}
