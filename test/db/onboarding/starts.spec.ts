import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SessionViewsStore } from '../../../src/onboarding/store/session-views.store.js';
import type { StartedSession } from '../../../src/onboarding/remote/session.client.js';
import { FIND_OPEN_SESSION } from '../../../src/onboarding/store/sessions.sql.js';
import {
  BEGIN_START,
  FAIL_START,
  RELEASE_START,
  REPEAT_START,
} from '../../../src/onboarding/start/starts.sql.js';
import type { WantedSession } from '../../../src/onboarding/start/record-session.store.js';
import { StartsStore } from '../../../src/onboarding/start/starts.store.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { Database, type Statement } from '../../../src/platform/database/database.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

let testDatabase: TestDatabase;
let database: Database;
let store: StartsStore;
let answers: SessionViewsStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const environment = environmentFor(testDatabase.url);
  database = testDatabase.open();
  const cipher = new Cipher(environment);
  store = new StartsStore(database, cipher, environment);
  answers = new SessionViewsStore(database, cipher);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => testDatabase.drop());

async function wanted(abandoned?: { attempts: number }): Promise<WantedSession> {
  const { gridLocationId } = await insertCustomer(database.pool);
  if (abandoned)
    await insertRow(database.pool, 'session_starts', { grid_location_id: gridLocationId, ...abandoned });
  return { gridLocationId, brand: null, metadata: {}, reuse: true };
}

interface Loss {
  readonly of: string | Statement;
  /** Which run of the statement loses the connection, counted from 1. */
  readonly run: number;
  /** Whether the connection is lost before or after the statement runs. */
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
    // FIND_OPEN_SESSION runs before and after the start is written. Run 2 is the one after.
    lose({ of: FIND_OPEN_SESSION, run: 2, when: 'before' }, { of: RELEASE_START, run: 1, when: 'before' });
    await expect(store.begin(place)).rejects.toMatchObject(lost);
    await waitFor('it is gone', async () => (await startsOf(place)).length === 0);
  });

  it('when the answer to its take-over was lost: the one before counts, and no more', async () => {
    const place = await wanted({ attempts: 1 });
    lose({ of: BEGIN_START, run: 1, when: 'after' });
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

describe('a start whose lease has expired', () => {
  const leaseOf = async ({ gridLocationId }: WantedSession) =>
    (
      await database.query<{ lease: string }>(
        'SELECT lease_token AS lease FROM session_starts WHERE grid_location_id = $1',
        [gridLocationId],
      )
    )[0]!.lease;

  it('fails, counts an orphan, and says why', async () => {
    const place = await wanted({ attempts: 1 });
    const lease = await leaseOf(place);
    expect(await store.findExpiredLeases()).toContain(lease);
    expect(await store.endAbandoned([lease])).toBe(1);
    expect(await startsOf(place)).toEqual([{ status: 'failed', attempts: 1, orphans: 1 }]);
    const errors = await database.query(
      'SELECT last_error AS error FROM session_starts WHERE lease_token = $1',
      [lease],
    );
    expect(errors).toEqual([
      { error: expect.stringMatching(/^the lease expired before the outcome was stored/) },
    ]);
    expect(await store.endAbandoned([lease])).toBe(0);
  });

  it('is left alone once its lease is renewed', async () => {
    const place = await wanted({ attempts: 1 });
    const [start] = await database.query<{ id: string }>(
      'SELECT id FROM session_starts WHERE grid_location_id = $1',
      [place.gridLocationId],
    );
    const leaseToken = await leaseOf(place);
    await store.renew({ id: start!.id, leaseToken, attempts: 1, userId: '', tenantReference: '' });
    expect(await store.findExpiredLeases()).not.toContain(leaseToken);
    expect(await store.endAbandoned([leaseToken])).toBe(0);
    expect(await startsOf(place)).toMatchObject([{ status: 'sending', orphans: 0 }]);
  });
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
      response: {
        httpStatus: 201,
        body,
        hash: createHash('sha1').update(body).digest('hex'),
        factsHash: null,
      },
    };
  };

  async function record(sessionId: string, place: WantedSession) {
    const begun = await store.begin(place);
    if (begun.kind !== 'begun') throw new Error(`it is ${begun.kind}`);
    return store.record(begun.start, started(sessionId), place);
  }

  it('is read as it was started', async () => {
    const sessionId = randomUUID();
    const place = { ...(await wanted()), brand: 'sma', metadata: { of: { one: [1, 2.5, null] }, b: 'ü' } };
    expect(await record(sessionId, place)).toEqual({ kind: 'recorded' });
    const read = (await answers.findSession(sessionId))!;
    const { startUrl, createdAt, updatedAt, expiresAt, finished, active, expired } = started(sessionId);
    expect({ ...read, startUrl: answers.findStartUrl(read) }).toMatchObject({
      ...{ brand: place.brand, metadata: place.metadata, state: 'awaiting_owner', basis: 'observed' },
      ...{ startUrl, createdAt, updatedAt, expiresAt, finished, active, expired, closedAt: null },
    });
    expect(read.nextCheckAt!.getTime()).toBeGreaterThan(read.checkedAt.getTime());
  });

  it('is left as it is when the remote service answers a second start with it', async () => {
    const sessionId = randomUUID();
    const place = { ...(await wanted()), reuse: false };
    await record(sessionId, place);
    expect(await record(sessionId, { ...place, metadata: { second: true } })).toEqual({ kind: 'recorded' });
    expect((await answers.findSession(sessionId))!.metadata).toEqual({});
  });

  it.each(['before', 'after'] as const)(
    'is stored when the connection is lost %s its commit',
    async (when) => {
      const transaction = database.transaction.bind(database);
      jest.spyOn(database, 'transaction').mockImplementationOnce(async (work) => {
        if (when === 'after') await transaction(work);
        throw new Error('Connection terminated unexpectedly');
      });
      const place = await wanted();
      const sessionId = randomUUID();
      expect(await record(sessionId, place)).toEqual({ kind: 'recorded' });
      expect(await answers.findSession(sessionId)).toMatchObject({ state: 'awaiting_owner' });
      expect(await startsOf(place)).toEqual([{ status: 'started', attempts: 1, orphans: 0 }]);
    },
  );

  it('is an orphan when it cannot be stored', async () => {
    jest.spyOn(database, 'transaction').mockRejectedValueOnce(new Error('refused'));
    const place = await wanted();
    await expect(record(randomUUID(), place)).rejects.toThrow('refused');
    await waitFor('it has failed', async () => (await startsOf(place))[0]?.status === 'failed');
    expect(await startsOf(place)).toEqual([{ status: 'failed', attempts: 1, orphans: 1 }]);
  });

  it('is nothing when another process has taken its start over', async () => {
    const place = await wanted();
    const begun = await store.begin(place);
    if (begun.kind !== 'begun') throw new Error(`it is ${begun.kind}`);
    const late = { ...begun.start, leaseToken: randomUUID() };
    const sessionId = randomUUID();
    expect(await store.record(late, started(sessionId), place)).toEqual({ kind: 'lease_lost' });
    expect(await answers.findSession(sessionId)).toBeNull();
  });
});
