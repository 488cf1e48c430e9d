import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventName, EventPayloads } from '../../../src/events/catalogue.rules.js';
import { EventsStore } from '../../../src/events/feed/events.store.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { Database } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import { LOCK_SEQUENCING, sessionEvent } from './fixture.js';

const testDatabase = useTestDatabase();
let database: Database;
let events: EventsStore;

beforeAll(() => {
  database = testDatabase.open();
  events = new EventsStore(database);
});
beforeEach(async () => {
  await database.query('TRUNCATE domain_events CASCADE');
});

const append = (...appended: Parameters<typeof appendEvents>[1]) =>
  database.transaction((tx) => appendEvents(tx, appended));

const unsequenced = async () =>
  (await database.query('SELECT FROM domain_events WHERE sequence IS NULL')).length;

const waitForSequences = () => waitFor('the sequences', async () => (await unsequenced()) === 0);

describe('appending events', () => {
  it('preserves their order, and gives each an id and the time of the database', async () => {
    const session = randomUUID();
    const markers = Array.from({ length: 200 }, (_, index) => String(index));
    await append(...markers.map((marker) => sessionEvent('session.online', session, marker)));

    const { events: read } = await events.readPage('0', 200);
    expect(read.map(({ data }) => 'rule' in data && data.rule)).toEqual(markers);
    expect(new Set(read.map(({ id }) => id)).size).toBe(200);
    expect(Math.abs(Date.now() - (read[0]?.time.getTime() ?? 0))).toBeLessThan(60_000);
  });
});

describe('the sequence', () => {
  it('is assigned soon after the commit, without a reader', async () => {
    await append(sessionEvent('session.online', 's1'));
    await waitForSequences();
    expect(await database.query('SELECT sequence FROM domain_events')).toEqual([{ sequence: '1' }]);
  });

  it('is assigned by the next reader if another transaction is assigning sequences; no writer waits', async () => {
    await database.transaction(async (tx) => {
      await tx.query(LOCK_SEQUENCING);
      await append(sessionEvent('session.online', 's1'));
      expect(await unsequenced()).toBe(1);
    });
    expect((await events.readPage('0', 10)).events).toHaveLength(1);
    expect(await unsequenced()).toBe(0);
  });
});

describe('the index of events without a sequence', () => {
  const LIMIT_BYTES = 5 * 8_192;

  /** Returns the size of the index after 60 commits of 100 events. An index with entries for all 6,000 events has 17 pages of 8 kB. */
  async function sizeAfterCommits(): Promise<number> {
    await database.query('TRUNCATE domain_events CASCADE');
    for (let commit = 1; commit <= 60; commit++) {
      await append(...Array.from({ length: 100 }, () => sessionEvent('session.online', 's1')));
      // Does not query for events without a sequence, because that query would scan the index and mark its dead entries.
      await waitFor('the events to have their sequence', async () => {
        const [row] = await database.query<{ last: string }>(
          'SELECT max(sequence) AS last FROM domain_events',
        );
        return Number(row!.last) === commit * 100;
      });
    }
    const [index] = await database.query<{ bytes: string }>(
      `SELECT pg_relation_size('domain_events_unsequenced') AS bytes`,
    );
    return Number(index!.bytes);
  }

  it('does not grow with events that have one, even without a vacuum', async () => {
    await database.query('ALTER TABLE domain_events SET (autovacuum_enabled = off)');
    // Retries, because PostgreSQL cannot mark dead entries while an ANALYZE or an old transaction of any database runs.
    await waitFor('the index stays small', async () => (await sizeAfterCommits()) <= LIMIT_BYTES, 100_000);
    await database.query('ALTER TABLE domain_events RESET (autovacuum_enabled)');
  });

  it('is all that sequencing reads, even with a plan made when hardly any event lacked a sequence', async () => {
    await append(sessionEvent('session.online', 's1'));
    await waitForSequences();
    await database.query('ANALYZE domain_events');
    const [read] = await database.transaction(async (tx) => {
      const appendAndSequence = async (count: number) => {
        await tx.query(
          `INSERT INTO domain_events (id, name, subject, data)
           SELECT gen_random_uuid(), 'session.online', 's1', '{}' FROM generate_series(1, $1)`,
          [count],
        );
        await tx.query('SELECT sequence_events(true)');
      };
      await appendAndSequence(1);
      await appendAndSequence(5_000);
      return tx.query(
        `SELECT seq_tup_read::int AS rows, (SELECT max(sequence)::int FROM domain_events) AS last
           FROM pg_stat_xact_user_tables WHERE relname = 'domain_events'`,
      );
    });
    expect(read).toEqual({ rows: 0, last: 5_002 });
  });
});

describe('a page', () => {
  it('has its own start as `next` if there are no new events, even in an empty feed', async () => {
    expect(await events.readPage('0', 10)).toEqual({ events: [], next: '0', last: '0' });
    await append(sessionEvent('session.online', 's1'));
    expect((await events.readPage('0', 10)).next).toBe('1');
    expect(await events.readPage('1', 10)).toEqual({ events: [], next: '1', last: '1' });
  });

  it('skips events that are filtered out, but not those after a full page', async () => {
    await append(...Array.from({ length: 5 }, () => sessionEvent('session.expired', 's1')));
    await append(
      sessionEvent('session.online', 's1'),
      sessionEvent('session.online', 's2'),
      sessionEvent('session.lost', 's1'),
    );
    const first = await events.readPage('0', 1, { types: ['session.online'] });
    expect(first).toMatchObject({ next: '6', events: [{ subject: 's1' }] });
    const second = await events.readPage(first.next, 10, { types: ['session.online'] });
    expect(second).toMatchObject({ next: '8', events: [{ subject: 's2' }] });
  });

  it('searches a limited part of the history for a rare type, and the next page continues there', async () => {
    await append(
      sessionEvent('session.expired', 's1'),
      sessionEvent('session.expired', 's1'),
      sessionEvent('session.online', 's2'),
    );
    await waitForSequences();
    await database.query('UPDATE domain_events SET sequence = (ARRAY[1, 100000, 150000])[sequence::int]');
    const first = await events.readPage('0', 10, { types: ['session.online'] });
    expect(first).toEqual({ events: [], next: '100000', last: '150000' });
    expect(await events.readPage(first.next, 10, { types: ['session.online'] })).toMatchObject({
      next: '150000',
      events: [{ subject: 's2' }],
    });
  });

  it('leads across a gap in the sequences, however wide', async () => {
    await append(sessionEvent('session.expired', 's1'), sessionEvent('session.online', 's2'));
    await waitForSequences();
    await database.query('UPDATE domain_events SET sequence = 1000000000000 WHERE sequence = 2');
    const first = await events.readPage('0', 10, { types: ['session.online'] });
    expect(first).toMatchObject({ next: '1', events: [] });
    const second = await events.readPage(first.next, 10, { types: ['session.online'] });
    expect(second).toMatchObject({ next: '1000000000000', events: [{ subject: 's2' }] });
  });
});

describe('the catalogue', () => {
  it('has no field for an EAN, a name, an address or a startUrl', () => {
    type Fields = { [N in EventName]: keyof EventPayloads[N] }[EventName];
    type Forbidden = 'ean' | 'eans' | 'startUrl' | 'firstName' | 'lastName' | 'email' | 'address';
    // Does not compile if a payload has a forbidden field.
    const none: never[] = [] as Extract<Fields, Forbidden>[];
    expect(none).toEqual([]);
  });
});
