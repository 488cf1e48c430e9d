import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { EventName, EventPayloads } from '../../../src/events/catalogue.rules.js';
import { EventSignal } from '../../../src/events/event-signal.service.js';
import { EventsStore, READ_PAGE } from '../../../src/feed/events.store.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { lastSequence } from '../../../src/events/sequence.sql.js';
import { Listener } from '../../../src/platform/database/connection/listen.js';
import { startTcpProxy, type TcpProxy } from '../../faults/support/network/tcp-proxy.js';
import { inTime, measureUntil } from '../../faults/support/promise.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { insertRow } from '../valid-rows.js';
import { appendOnline, LOCK_SEQUENCING, sessionEvent } from './fixture.js';

const testDatabase = useTestDatabase();
const database = testDatabase.open();
const events = new EventsStore(database);

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

  it('is assigned to given events only, and to none before another of its subject', async () => {
    const ids: string[] = [];
    for (const subject of ['one', 'two', 'one', 'two', 'one'])
      ids.push((await insertRow<{ id: string }>(database.pool, 'domain_events', { subject })).id);
    const assign = async (...places: number[]) => {
      await database.query('SELECT sequence_events(true, $1)', [places.map((place) => ids[place])]);
      const rows = await database.query<{ sequence: string | null }>(
        'SELECT sequence FROM domain_events ORDER BY position',
      );
      return rows.map(({ sequence }) => sequence);
    };
    expect(await assign(3, 2, 0)).toEqual(['1', null, '2', null, null]);
    expect(await assign(1)).toEqual(['1', '3', '2', null, null]);
    expect(await assign(3)).toEqual(['1', '3', '2', '4', null]);
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
    const read = await database.transaction(async (tx) => {
      // Counts what the connection has not reported yet, which may be of earlier transactions, too.
      const rowsRead = async () => {
        const [table] = await tx.query<{ rows: number }>(
          `SELECT seq_tup_read::int AS rows FROM pg_stat_xact_user_tables WHERE relname = 'domain_events'`,
        );
        return table!.rows;
      };
      const appendAndSequence = async (count: number) => {
        await tx.query(
          `INSERT INTO domain_events (id, name, subject, data)
           SELECT gen_random_uuid(), 'session.online', 's1', '{}' FROM generate_series(1, $1)`,
          [count],
        );
        await tx.query('SELECT sequence_events(true)');
      };
      const before = await rowsRead();
      await appendAndSequence(1);
      await appendAndSequence(5_000);
      const rows = (await rowsRead()) - before;
      const [{ last } = { last: 0 }] = await tx.query<{ last: number }>(
        'SELECT max(sequence)::int AS last FROM domain_events',
      );
      return { rows, last };
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

describe('among many events', () => {
  const EVENTS = 100_000;

  const database = useTestDatabase();
  let client: pg.Client;

  beforeAll(async () => {
    client = await database.connect();
    await client.query(`
    INSERT INTO domain_events (id, sequence, name, subject, data)
    SELECT gen_random_uuid(), n, 'session.online', 's' || n, '{}' FROM generate_series(1, ${EVENTS}) AS n;
    ANALYZE domain_events;
    PREPARE page (bigint, text[], int, text) AS ${READ_PAGE.text};
    PREPARE last_sequences (int) AS SELECT ${lastSequence("'s' || n")} AS sequence FROM generate_series(1, $1) AS n`);
  });

  async function planOf(execution: string): Promise<string> {
    const explain = `EXPLAIN (ANALYZE, BUFFERS, COSTS off) EXECUTE ${execution}`;
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(explain);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }

  // PostgreSQL makes custom plans for the first five executions and may then reuse one generic plan.
  const MODES = ['force_custom_plan', 'force_generic_plan'];

  describe('a page of the feed, which the broker reads too', () => {
    it.each(MODES)('is read as a range of one index, under %s', async (mode) => {
      await client.query(`SET plan_cache_mode = ${mode}`);
      for (const position of [0, EVENTS / 2, EVENTS - 10]) {
        const plan = await planOf(`page(${position}, NULL, 1000, NULL)`);
        expect(plan).toContain('Index Scan using domain_events_sequence_key');
        expect(plan).not.toMatch(/Sort|Seq Scan|Bitmap/);
      }
    });
  });

  describe('the last sequence of each subject of a page', () => {
    it.each(MODES)('is read as one entry of the index by subject, under %s', async (mode) => {
      await client.query(`SET plan_cache_mode = ${mode}`);
      const plan = await planOf('last_sequences(200)');
      expect(plan).toMatch(
        /Index Scan Backward using domain_events_subject_position_idx .*rows=1(\.00)? loops=200/,
      );
      expect(plan).not.toMatch(/Sort|Seq Scan|Bitmap/);
    });
  });
});

describe('EventSignal', () => {
  /** The application_name of the LISTEN connection. */
  const LISTENING = 'pv-onboarding listen';
  /** The limit for a signal caused by a notification: much shorter than the tick of one second. */
  const SOON_MS = 500;
  const isSoon = (ms: number) => ms < SOON_MS;
  const never = new AbortController().signal;

  let proxy: TcpProxy;
  let listener: Listener;
  let signal: EventSignal;

  beforeEach(async () => {
    proxy = await startTcpProxy(testDatabase.url);
    await start();
  });
  afterEach(async () => {
    signal.onApplicationShutdown();
    await listener.onApplicationShutdown();
    await proxy.close();
  });

  const listeners = async (): Promise<number> => {
    const rows = await database.query(
      `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = $1 AND state = 'idle' AND (query LIKE '%pg_listening_channels%' OR query = $2)`,
      [LISTENING, 'LISTEN "pv_onboarding_events"'],
    );
    return rows.length;
  };
  const waitUntilListening = () =>
    waitFor('a connection that listens', async () => (await listeners()) === 1);
  const start = async (): Promise<void> => {
    listener = new Listener(environmentFor(proxy.url));
    signal = new EventSignal(listener);
    signal.onApplicationBootstrap();
    await waitUntilListening();
  };
  const append = () => appendOnline(database, randomUUID(), 'test');
  const msOf = async (work: () => Promise<unknown>): Promise<number> => {
    const beganAt = performance.now();
    await work();
    return performance.now() - beganAt;
  };

  it('signals a committed event at once to every waiting caller', async () => {
    const tookMs = await measureUntil(isSoon, async () => {
      await signal.wait(never, 5_000);
      const waits = [signal.wait(never, 5_000), signal.wait(never, 5_000)];
      return msOf(async () => Promise.all([append(), ...waits]));
    });
    expect(tookMs).toBeLessThan(inTime(SOON_MS));
  });

  it('signals every second, even without a notification', async () => {
    await proxy.refuse();
    const tookMs = await measureUntil(
      (ms) => ms < 1_500,
      () => msOf(() => signal.wait(never, 5_000)),
    );
    expect(tookMs).toBeLessThan(inTime(1_500));
  });

  it('notices that its connection is silent, and listens again', async () => {
    const silenced = proxy.fallSilent(LISTENING);
    await waitFor('another connection', () => proxy.begun(LISTENING) > silenced);
    await waitUntilListening();
    const tookMs = await measureUntil(isSoon, async () => {
      await signal.wait(never, 5_000);
      const waiting = msOf(() => signal.wait(never, 5_000));
      await append();
      return waiting;
    });
    expect(tookMs).toBeLessThan(inTime(SOON_MS));
  });

  it('stops at once although the server does not respond, and leaves no connection', async () => {
    const tookMs = await measureUntil(
      (ms) => ms < 1_000,
      async () => {
        proxy.fallSilent(LISTENING);
        signal.onApplicationShutdown();
        const ms = await msOf(() => listener.onApplicationShutdown());
        await waitFor('the connection to be gone', async () => (await listeners()) === 0);
        await start();
        return ms;
      },
    );
    expect(tookMs).toBeLessThan(inTime(1_000));
  });
});
