import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SequencedEvent } from '../../../src/events/catalogue.rules.js';
import { EventsStore } from '../../../src/feed/events.store.js';
import { FeedModule } from '../../../src/feed/feed.module.js';
import { Database } from '../../../src/platform/database/database.js';
import { openStream } from '../../setup/receivers/event-stream.js';
import { startTestApp, type TestApp, type TestAppOptions } from '../../setup/test-app.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { isLong, promise } from '../support/promise.js';
import { SUBJECTS, writeAtOnce, WRITERS } from '../support/writers.js';

const TRANSACTIONS = isLong ? 80 : 30;
const READERS = 4;
const STREAMS = 4;

interface Read {
  readonly subject: string;
  readonly marker: string;
}

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database(
    environmentFor(testDatabase.url, { DATABASE_POOL_SIZE: String(WRITERS + READERS + 4) }),
  );
});
afterAll(async () => {
  await database.onApplicationShutdown();
  await testDatabase.drop();
});

type ReadOn = (cursor: string) => Promise<{ reads: readonly Read[]; next: string }>;

async function follow(readOn: ReadOn, areWritersDone: () => boolean): Promise<Read[]> {
  const all: Read[] = [];
  for (let cursor = '0'; ;) {
    const wasLastRound = areWritersDone();
    const { reads, next } = await readOn(cursor);
    all.push(...reads);
    if (wasLastRound && next === cursor) return all;
    cursor = next;
  }
}

/** Reads a stream until it has sent the event that `newest` returns. Until all events are written, `newest` returns null. */
async function followStream(test: TestApp, newest: () => Promise<string | null>): Promise<Read[]> {
  const stream = await openStream(test.url, { key: test.adminKey, query: '?after=0' });
  const isComplete = async (): Promise<boolean> => {
    const last = await newest();
    return last !== null && BigInt(stream.lastEventId() ?? '0') >= BigInt(last);
  };
  await waitFor('the stream to have sent everything', isComplete);
  stream.leave();
  return stream.events.map(({ event }) => ({ subject: event.subject, marker: String(event.data['rule']) }));
}

const startReplica = (options?: TestAppOptions): Promise<TestApp> =>
  startTestApp({ ROLE: 'api', SCS_BASE_URL: 'http://127.0.0.1:9', DATABASE_URL: testDatabase.url }, options);

/** The bug: the stream pages by `position`, which is assigned at the insert. The stream skips an event that commits late. */
function streamByPosition(store: EventsStore): void {
  store.getNewest = async () => '0';
  store.readPage = async (after, limit) => {
    const events = await database.query<SequencedEvent>(
      `SELECT id, name, subject, position AS sequence, time, data FROM domain_events
       WHERE position > $1 ORDER BY position LIMIT $2`,
      [after, limit],
    );
    const next = events.at(-1)?.sequence ?? after;
    return { events, next, last: next };
  };
}

function compare(ledger: ReadonlyMap<string, string[]>, reads: readonly Read[]) {
  const written = [...ledger.values()].flat();
  const seen = new Set(reads.map(({ marker }) => marker));
  const known = new Set(written);
  const inOrder = ([subject, markers]: [string, string[]]): boolean => {
    const read = reads.filter((one) => one.subject === subject).map(({ marker }) => marker);
    return read.join() === markers.filter((marker) => seen.has(marker)).join();
  };
  return {
    missing: written.filter((marker) => !seen.has(marker)).length,
    neverCommitted: [...seen].filter((marker) => !known.has(marker)).length,
    repeated: reads.length - seen.size,
    subjectsOutOfOrder: [...ledger].filter((entry) => !inOrder(entry)).length,
  };
}

describe('R6: readers miss nothing', () => {
  it('finds every committed event once, in order within a session, however late it commits (seeded bug: id > cursor)', async () => {
    const events = new EventsStore(database);
    const readFeed: ReadOn = async (cursor) => {
      const page = await events.readPage(cursor, 50, { types: ['session.online'] });
      const reads = page.events.map(({ subject, data }) => ({
        subject,
        marker: 'rule' in data ? data.rule : '',
      }));
      return { reads, next: page.next };
    };
    // The same bug as in `streamByPosition`, in a reader of the feed.
    const readByPosition: ReadOn = async (cursor) => {
      const rows = await database.query<Read & { position: string }>(
        `SELECT position, subject, data ->> 'rule' AS marker FROM domain_events
         WHERE position > $1 ORDER BY position LIMIT 50`,
        [cursor],
      );
      return { reads: rows, next: rows.at(-1)?.position ?? cursor };
    };
    let written = false;
    const readers = Array.from({ length: READERS }, () => follow(readFeed, () => written));
    const mutant = follow(readByPosition, () => written);
    const replica = await startReplica();
    const newest = async () => (written ? events.getNewest() : null);
    const streams = Array.from({ length: STREAMS }, () => followStream(replica, newest));
    const faulty = await startReplica({
      prepare: (app) => streamByPosition(app.select(FeedModule).get(EventsStore, { strict: true })),
    });
    const newestPosition = async () =>
      written
        ? (await database.query<{ last: string }>('SELECT max(position) AS last FROM domain_events'))[0]!.last
        : null;
    const mutantStream = followStream(faulty, newestPosition);

    const ledger = await writeAtOnce(database, TRANSACTIONS);
    written = true;

    const count = [...ledger.values()].flat().length;
    expect(count).toBeGreaterThan(WRITERS * TRANSACTIONS);
    const read = [
      ...(await Promise.all(readers)).map((reads) => ({ reader: 'feed', reads })),
      ...(await Promise.all(streams)).map((reads) => ({ reader: 'stream', reads })),
    ];
    for (const { reader, reads } of read) {
      const compared = compare(ledger, reads);
      promise('R6', {
        figure: `${compared.missing} of ${count} missing in the ${reader}, ${compared.subjectsOutOfOrder} of ${SUBJECTS} subjects out of order`,
        bound: '0, 0',
      });
      expect(compared).toEqual({ missing: 0, neverCommitted: 0, repeated: 0, subjectsOutOfOrder: 0 });
    }
    expect(compare(ledger, await mutant).missing).toBeGreaterThan(0);
    expect(compare(ledger, await mutantStream).missing).toBeGreaterThan(0);
    await Promise.all([replica.close(), faulty.close()]);
  });
});
