import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SessionAnswersStore, type SessionRow } from '../../src/onboarding/store/session-views.store.js';
import { sessionView } from '../../src/onboarding/api/session-view.js';
import type { StartedSession } from '../../src/onboarding/remote/session.client.js';
import { FIND_OPEN_SESSION } from '../../src/onboarding/store/sessions.sql.js';
import { StartedSessionsStore } from '../../src/onboarding/start/started-sessions.store.js';
import {
  BEGIN_START,
  FAIL_START,
  LET_GO_START,
  REPEAT_START,
  TAKE_OVER_START,
} from '../../src/onboarding/start/starts.sql.js';
import { StartsStore, type WantedSession } from '../../src/onboarding/start/starts.store.js';
import { Cipher } from '../../src/platform/crypto/cipher.js';
import { Database, type Statement } from '../../src/platform/database/database.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { environmentFor } from '../setup/test-environment.js';
import { waitFor } from '../setup/wait-for.js';
import { insertCustomer, insertRow } from './valid-rows.js';

let testDatabase: TestDatabase;
let database: Database;
let store: StartsStore;
let sessions: StartedSessionsStore;
let answers: SessionAnswersStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const environment = environmentFor(testDatabase.url);
  database = new Database(environment);
  store = new StartsStore(database, environment);
  const cipher = new Cipher(environment);
  sessions = new StartedSessionsStore(database, cipher, environment);
  answers = new SessionAnswersStore(database, cipher);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await database.onApplicationShutdown();
  await testDatabase.drop();
});

async function wanted(abandoned?: { attempts: number }): Promise<WantedSession> {
  const client = await database.pool.connect();
  try {
    const { gridLocationId } = await insertCustomer(client);
    if (abandoned)
      await insertRow(client, 'session_starts', { grid_location_id: gridLocationId, ...abandoned });
    return { gridLocationId, brand: null, metadata: {}, reuse: true };
  } finally {
    client.release();
  }
}

interface Loss {
  readonly of: Statement;
  /** Which of its runs loses the connection, from 1. */
  readonly run: number;
  /** Whether it is lost with the answer, or before anything was done. */
  readonly when: 'before' | 'after';
}

function lose(...losses: readonly Loss[]): void {
  const query = database.query.bind(database);
  const runs = new Map<unknown, number>();
  jest.spyOn(database, 'query').mockImplementation(async (statement, values) => {
    const run = (runs.get(statement) ?? 0) + 1;
    runs.set(statement, run);
    const loss = losses.find((one) => one.of === statement && one.run === run);
    if (loss === undefined) return query(statement, values);
    if (loss.when === 'after') await query(statement, values);
    throw new Error('Connection terminated unexpectedly');
  });
}

const startsOf = ({ gridLocationId }: WantedSession) =>
  database.query<{ status: string; attempts: number; orphans: number }>(
    'SELECT status, attempts, orphans FROM session_starts WHERE grid_location_id = $1',
    [gridLocationId],
  );

const lost = { message: 'Connection terminated unexpectedly' };

describe('a start that nothing was sent for is no orphan', () => {
  it('when the answer to its commit was lost', async () => {
    const place = await wanted();
    lose({ of: BEGIN_START, run: 1, when: 'after' });
    await expect(store.begin(place)).rejects.toMatchObject(lost);
    await waitFor('it is gone', async () => (await startsOf(place)).length === 0);
    expect(await store.begin(place)).toMatchObject({ kind: 'begun', start: { attempts: 1 } });
  });

  it('when the database is lost right after it, and is back later', async () => {
    const place = await wanted();
    // Its first run comes before anything is written.
    lose({ of: FIND_OPEN_SESSION, run: 2, when: 'before' }, { of: LET_GO_START, run: 1, when: 'before' });
    await expect(store.begin(place)).rejects.toMatchObject(lost);
    await waitFor('it is gone', async () => (await startsOf(place)).length === 0);
  });

  it('when the answer to its take-over was lost: the one before counts, and no more', async () => {
    const place = await wanted({ attempts: 1 });
    lose({ of: TAKE_OVER_START, run: 1, when: 'after' });
    await expect(store.begin(place)).rejects.toMatchObject(lost);
    await waitFor('it has failed', async () => (await startsOf(place))[0]?.status === 'failed');
    expect(await startsOf(place)).toEqual([{ status: 'failed', attempts: 1, orphans: 1 }]);
  });

  it('when the database is away as the call turns out not to have been sent', async () => {
    const place = await wanted();
    const begun = await store.begin(place);
    if (begun.kind !== 'begun') throw new Error(`it is ${begun.kind}`);
    lose({ of: FAIL_START, run: 1, when: 'before' }, { of: FAIL_START, run: 2, when: 'before' });
    await expect(store.fail(begun.start, 'circuit open', 0)).rejects.toMatchObject(lost);
    await waitFor('it has failed', async () => (await startsOf(place))[0]?.status === 'failed');
    expect(await startsOf(place)).toEqual([{ status: 'failed', attempts: 1, orphans: 0 }]);
  });
});

describe('a start whose answer was lost is one orphan', () => {
  it.each(['before', 'after'] as const)(
    'when the database is lost %s it was to be repeated',
    async (when) => {
      const place = await wanted();
      const begun = await store.begin(place);
      if (begun.kind !== 'begun') throw new Error(`it is ${begun.kind}`);
      lose({ of: REPEAT_START, run: 1, when });
      await expect(store.repeat(begun.start, 'no answer', 1)).rejects.toMatchObject(lost);
      await waitFor('it has failed', async () => (await startsOf(place))[0]?.status === 'failed');
      expect(await startsOf(place)).toMatchObject([{ orphans: 1 }]);
    },
  );
});

describe('a started session', () => {
  const started = (sessionId: string): StartedSession => {
    const body = JSON.stringify({ sessionId });
    return {
      sessionId,
      finished: false,
      active: true,
      expired: null,
      inverters: [],
      createdAt: new Date('2026-03-05T10:11:12.120Z'),
      updatedAt: new Date('2026-03-05T10:11:12.123Z'),
      expiresAt: new Date('2099-01-01T00:00:00Z'),
      startUrl: 'https://scs.example/start/1',
      answer: { httpStatus: 201, body, hash: createHash('sha1').update(body).digest('hex'), factsHash: null },
    };
  };

  async function keep(sessionId: string, place: WantedSession) {
    const begun = await store.begin(place);
    if (begun.kind !== 'begun') throw new Error(`it is ${begun.kind}`);
    return sessions.keep(begun.start, started(sessionId), place);
  }

  it('is answered as it is read afterwards', async () => {
    const sessionId = randomUUID();
    const place = { ...(await wanted()), brand: 'sma', metadata: { of: { one: [1, 2.5, null] }, b: 'ü' } };
    const kept = await keep(sessionId, place);
    const read = await answers.getSession(sessionId);
    expect(sessionView(kept as SessionRow, answers.findStartUrl(kept as SessionRow))).toEqual(
      sessionView(read, answers.findStartUrl(read)),
    );
  });

  it('is left as it is when the remote service answers a second start with it', async () => {
    const sessionId = randomUUID();
    const place = { ...(await wanted()), reuse: false };
    expect(await keep(sessionId, place)).toMatchObject({ id: sessionId });
    expect(await keep(sessionId, { ...place, metadata: { second: true } })).toBe('known');
    expect((await answers.getSession(sessionId)).metadata).toEqual({});
  });

  it('is nothing when another process has taken its start over', async () => {
    const place = await wanted();
    const begun = await store.begin(place);
    if (begun.kind !== 'begun') throw new Error(`it is ${begun.kind}`);
    const late = { ...begun.start, leaseToken: randomUUID() };
    const sessionId = randomUUID();
    expect(await sessions.keep(late, started(sessionId), place)).toBeNull();
    await expect(answers.getSession(sessionId)).rejects.toMatchObject({ code: 'not_found' });
  });
});
