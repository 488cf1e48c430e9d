import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SessionViewsStore } from '../../../src/onboarding/store/session-views.store.js';
import type { StartedSession } from '../../../src/onboarding/remote/session.client.js';
import { FIND_SESSION_TO_REUSE } from '../../../src/onboarding/store/sessions.sql.js';
import {
  BEGIN_START,
  FAIL_START,
  RELEASE_START,
  REPEAT_START,
} from '../../../src/onboarding/start/starts.sql.js';
import type { EventPayloads } from '../../../src/events/catalogue.rules.js';
import { APPEND_EVENTS } from '../../../src/events/outbox.js';
import { ABANDONED, NOT_STORED, RELEASED } from '../../../src/onboarding/rules/start-failure.rules.js';
import type { LeasedStart, WantedSession } from '../../../src/onboarding/start/record-session.store.js';
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
let views: SessionViewsStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const environment = environmentFor(testDatabase.url);
  database = testDatabase.open();
  const cipher = new Cipher(environment);
  store = new StartsStore(database, cipher, environment);
  views = new SessionViewsStore(database, cipher);
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

async function begin(place: WantedSession): Promise<LeasedStart> {
  const begun = await store.begin(place);
  if (begun.kind !== 'begun') throw new Error(`it is ${begun.kind}`);
  return begun.start;
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
  const transaction = database.transaction.bind(database);
  const runs = new Map<unknown, number>();
  const losing =
    (run: typeof query): typeof query =>
    async (statement, values) => {
      const count = (runs.get(statement) ?? 0) + 1;
      runs.set(statement, count);
      const loss = losses.find((one) => one.of === statement && one.run === count);
      if (loss === undefined) return run(statement, values);
      if (loss.when === 'after') await run(statement, values);
      throw new Error('Connection terminated unexpectedly');
    };
  jest.spyOn(database, 'query').mockImplementation(losing(query));
  jest
    .spyOn(database, 'transaction')
    .mockImplementation((work) => transaction((tx) => work({ ...tx, query: losing(tx.query.bind(tx)) })));
}

const startsOf = ({ gridLocationId }: WantedSession) =>
  database.query<{ status: string; attempts: number; orphans: number }>(
    'SELECT status, attempts, orphans FROM session_starts WHERE grid_location_id = $1',
    [gridLocationId],
  );

/** Returns the data of the events of failed starts, in their order. */
const failuresOf = async ({ gridLocationId }: WantedSession) =>
  (
    await database.query<{ data: EventPayloads['session.start_failed'] }>(
      "SELECT data FROM domain_events WHERE name = 'session.start_failed' AND subject = $1 ORDER BY position",
      [gridLocationId],
    )
  ).map(({ data }) => data);

const waitForDeletion = (place: WantedSession) =>
  waitFor('it is deleted', async () => (await startsOf(place)).length === 0);

const waitForFailure = (place: WantedSession) =>
  waitFor('it has failed', async () => (await startsOf(place))[0]?.status === 'failed');

const lost = { message: 'Connection terminated unexpectedly' };

describe('a start whose call was not sent is not an orphan', () => {
  it('when the response to its commit was lost', async () => {
    const place = await wanted();
    lose({ of: BEGIN_START, run: 1, when: 'after' });
    await expect(store.begin(place)).rejects.toMatchObject(lost);
    await waitForDeletion(place);
    expect(await store.begin(place)).toMatchObject({ kind: 'begun', start: { attempts: 1 } });
  });

  it('when the database is lost right after its commit, and is back later', async () => {
    const place = await wanted();
    // FIND_SESSION_TO_REUSE runs before and after the start is written. Run 2 is the one after.
    lose(
      { of: FIND_SESSION_TO_REUSE, run: 2, when: 'before' },
      { of: RELEASE_START, run: 1, when: 'before' },
    );
    await expect(store.begin(place)).rejects.toMatchObject(lost);
    await waitForDeletion(place);
  });

  it('when the response to its take-over was lost: only the call before counts', async () => {
    const place = await wanted({ attempts: 1 });
    lose({ of: BEGIN_START, run: 1, when: 'after' });
    await expect(store.begin(place)).rejects.toMatchObject(lost);
    await waitForFailure(place);
    expect(await startsOf(place)).toEqual([{ status: 'failed', attempts: 1, orphans: 1 }]);
    expect(await failuresOf(place)).toMatchObject([{ orphans: 1, reason: RELEASED.reason }]);
  });

  it('when the database is unavailable after the call was not sent', async () => {
    const place = await wanted();
    const start = await begin(place);
    lose({ of: FAIL_START, run: 1, when: 'before' }, { of: FAIL_START, run: 2, when: 'before' });
    await expect(store.fail(start, NOT_STORED, 0)).rejects.toMatchObject(lost);
    await waitForFailure(place);
    expect(await startsOf(place)).toEqual([{ status: 'failed', attempts: 1, orphans: 0 }]);
    expect(await failuresOf(place)).toMatchObject([{ orphans: 0, reason: NOT_STORED.reason }]);
  });
});

describe('a failed start is announced in the transaction of its failure', () => {
  it('with its ids, and without the words of the remote service', async () => {
    const place = { ...(await wanted()), brand: 'acme' };
    const start = await begin(place);
    await store.fail(start, { error: 'refused: Ann has no roof', reason: 'refused' }, 1);
    const [failed, ...others] = await failuresOf(place);
    expect(others).toEqual([]);
    expect(failed).toEqual({
      startId: start.id,
      userId: start.userId,
      gridLocationId: place.gridLocationId,
      tenantReference: start.tenantReference,
      brand: 'acme',
      attempts: 1,
      orphans: 1,
      reason: 'refused',
      failedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    await store.fail(start, NOT_STORED, 1);
    expect(await failuresOf(place)).toHaveLength(1);
  });

  it('and has not failed if the event cannot be stored', async () => {
    const place = await wanted();
    const start = await begin(place);
    lose({ of: APPEND_EVENTS, run: 1, when: 'before' }, { of: FAIL_START, run: 2, when: 'before' });
    await expect(store.fail(start, NOT_STORED, 1)).rejects.toMatchObject(lost);
    expect(await startsOf(place)).toMatchObject([{ status: 'sending', orphans: 0 }]);
    expect(await failuresOf(place)).toEqual([]);
    await waitForFailure(place);
    expect(await failuresOf(place)).toHaveLength(1);
  });
});

describe('a start whose response was lost is one orphan', () => {
  it.each(['before', 'after'] as const)(
    'when the database is lost %s its retry is recorded',
    async (when) => {
      const place = await wanted();
      const start = await begin(place);
      lose({ of: REPEAT_START, run: 1, when }, { of: REPEAT_START, run: 2, when });
      await expect(store.repeat(start, NOT_STORED, 1)).rejects.toMatchObject(lost);
      await waitForFailure(place);
      expect(await startsOf(place)).toMatchObject([{ orphans: 1 }]);
    },
  );

  it.each(['before', 'after'] as const)(
    'and is retried, when one connection is lost %s its retry is recorded',
    async (when) => {
      const place = await wanted();
      const start = await begin(place);
      lose({ of: REPEAT_START, run: 1, when });
      expect(await store.repeat(start, NOT_STORED, 1)).toBe(true);
      expect(await startsOf(place)).toEqual([{ status: 'sending', attempts: 2, orphans: 1 }]);
    },
  );
});

describe('a start whose lease has expired', () => {
  const startOf = async ({ gridLocationId }: WantedSession) => {
    const [start] = await database.query<{ id: string; leaseToken: string; error: string | null }>(
      'SELECT id, lease_token AS "leaseToken", last_error AS error FROM session_starts WHERE grid_location_id = $1',
      [gridLocationId],
    );
    return start!;
  };

  it('fails with the reason, and counts an orphan', async () => {
    const place = await wanted({ attempts: 1 });
    const { leaseToken } = await startOf(place);
    expect(await store.findExpiredLeases()).toContain(leaseToken);
    expect(await store.endAbandoned([leaseToken])).toEqual([place.gridLocationId]);
    expect(await startsOf(place)).toEqual([{ status: 'failed', attempts: 1, orphans: 1 }]);
    expect((await startOf(place)).error).toMatch(/^the lease expired before the outcome was stored/);
    expect(await failuresOf(place)).toMatchObject([{ attempts: 1, orphans: 1, reason: ABANDONED.reason }]);
    expect(await store.endAbandoned([leaseToken])).toEqual([]);
    expect(await failuresOf(place)).toHaveLength(1);
  });

  it('is left alone once its lease is renewed', async () => {
    const place = await wanted({ attempts: 1 });
    const { id, leaseToken } = await startOf(place);
    await store.renew({ id, leaseToken, attempts: 1, userId: '', tenantReference: '' });
    expect(await store.findExpiredLeases()).not.toContain(leaseToken);
    expect(await store.endAbandoned([leaseToken])).toEqual([]);
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
    return store.record(await begin(place), started(sessionId), place);
  }

  it('is read as it was started', async () => {
    const sessionId = randomUUID();
    const place = { ...(await wanted()), brand: 'sma', metadata: { of: { one: [1, 2.5, null] }, b: 'ü' } };
    expect(await record(sessionId, place)).toEqual({ kind: 'recorded' });
    const read = (await views.findSession(sessionId))!;
    const { startUrl, createdAt, updatedAt, expiresAt, finished, active, expired } = started(sessionId);
    expect({ ...read, startUrl: views.findStartUrl(read) }).toMatchObject({
      brand: place.brand,
      metadata: place.metadata,
      state: 'awaiting_owner',
      basis: 'observed',
      startUrl,
      createdAt,
      updatedAt,
      expiresAt,
      finished,
      active,
      expired,
      closedAt: null,
    });
    expect(read.nextCheckAt!.getTime()).toBeGreaterThan(read.checkedAt.getTime());
  });

  it('is not changed when the remote service returns it for a second start', async () => {
    const sessionId = randomUUID();
    const place = { ...(await wanted()), reuse: false };
    await record(sessionId, place);
    expect(await record(sessionId, { ...place, metadata: { second: true } })).toEqual({ kind: 'recorded' });
    expect((await views.findSession(sessionId))!.metadata).toEqual({});
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
      expect(await views.findSession(sessionId)).toMatchObject({ state: 'awaiting_owner' });
      expect(await startsOf(place)).toEqual([{ status: 'started', attempts: 1, orphans: 0 }]);
    },
  );

  it('is an orphan when it cannot be stored', async () => {
    const place = await wanted();
    const start = await begin(place);
    jest.spyOn(database, 'transaction').mockRejectedValueOnce(new Error('refused'));
    await expect(store.record(start, started(randomUUID()), place)).rejects.toThrow('refused');
    await waitForFailure(place);
    expect(await startsOf(place)).toEqual([{ status: 'failed', attempts: 1, orphans: 1 }]);
    expect(await failuresOf(place)).toMatchObject([{ orphans: 1, reason: NOT_STORED.reason }]);
  });

  it('is not stored when another process has taken over its start', async () => {
    const place = await wanted();
    const late = { ...(await begin(place)), leaseToken: randomUUID() };
    const sessionId = randomUUID();
    expect(await store.record(late, started(sessionId), place)).toEqual({ kind: 'lease_lost' });
    expect(await views.findSession(sessionId)).toBeNull();
  });
});
