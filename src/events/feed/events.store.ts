import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '../../platform/database/database.js';
import type { EventName } from '../catalogue.rules.js';
import type { DomainEvent } from '../domain-event.js';
import { sequenceEvents } from '../sequence.sql.js';

export type SequencedEvent = DomainEvent & { readonly sequence: string };

export interface FeedPage {
  readonly events: readonly SequencedEvent[];
  /** Every event up to here is in `events` or was filtered out. */
  readonly next: string;
  /** The sequence of the newest event; 0 if there is none. */
  readonly last: string;
}

// A page covers at most this many sequences, so that a filter for something rare does not read the whole history in one request. So a
// page may be empty although more events follow.
const SPAN = 100_000;

// `reach` and the page come from one snapshot, so no event can appear between them.
const PAGE: Statement = {
  name: 'events.page',
  text: `
    SELECT reach.last, reach.until, page.*
    FROM (
      SELECT last, CASE WHEN $2::text[] IS NULL AND $4::text IS NULL THEN last ELSE least(last, $1::bigint + ${SPAN}) END AS until
      FROM (SELECT coalesce(max(sequence), 0) AS last FROM domain_events) AS newest
    ) AS reach
    LEFT JOIN LATERAL (
      SELECT id, name, subject, sequence, time, data
      FROM domain_events
      WHERE sequence > $1 AND sequence <= reach.until AND ($2::text[] IS NULL OR name = ANY ($2))
        AND ($4::text IS NULL OR subject = $4)
      ORDER BY sequence LIMIT $3
    ) AS page ON true`,
};

interface PageRow {
  readonly last: string;
  readonly until: string;
  readonly id: string | null;
}

const NEWEST: Statement = {
  name: 'events.newest',
  text: 'SELECT coalesce(max(sequence), 0) AS newest FROM domain_events',
};

@Injectable()
export class EventsStore {
  constructor(private readonly database: Database) {}

  /** Returns the events after `after`, in order. Never skips one: an event that commits later gets a higher sequence. */
  async readPage(
    after: string,
    types: readonly EventName[] | undefined,
    limit: number,
    subject?: string,
  ): Promise<FeedPage> {
    await sequenceEvents(this.database);
    const rows = await this.database.query<PageRow>(PAGE, [after, types ?? null, limit, subject ?? null]);
    const { last = '0', until = '0' } = rows[0] ?? {};
    const events = rows
      .filter(({ id }) => id !== null)
      .map(({ last: _last, until: _until, ...event }) => event as unknown as SequencedEvent);
    // A full page may end before `until`. An empty page must not move back before `after`.
    const reached = events.length === limit ? events.at(-1)?.sequence : until;
    return { events, last, next: reached !== undefined && BigInt(reached) > BigInt(after) ? reached : after };
  }

  /** Returns the sequence of the newest committed event; 0 if there is none. */
  async getNewest(): Promise<string> {
    await sequenceEvents(this.database);
    const [row] = await this.database.query<{ newest: string }>(NEWEST);
    return row?.newest ?? '0';
  }
}
