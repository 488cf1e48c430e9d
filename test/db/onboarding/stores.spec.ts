import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { ReadHabits } from '../../../src/onboarding/poll/habits.service.js';
import { DELETE_EXPIRED_BATCHES, RESCHEDULE, SELECT_ONE } from '../../../src/onboarding/poll/polls.sql.js';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { ReadBudgetStore } from '../../../src/onboarding/poll/read-budget.store.js';
import type { StartedSession } from '../../../src/onboarding/remote/session.client.js';
import { AGES_PER_E } from '../../../src/onboarding/rules/read-budget.rules.js';
import { ABANDONED } from '../../../src/onboarding/rules/start-failure.rules.js';
import type { LeasedStart, WantedSession } from '../../../src/onboarding/start/record-session.store.js';
import * as starts from '../../../src/onboarding/start/starts.sql.js';
import { StartsStore } from '../../../src/onboarding/start/starts.store.js';
import { SessionViewsStore } from '../../../src/onboarding/store/session-views.store.js';
import {
  LOCK_ANY_SESSIONS,
  LOCK_SESSIONS,
  LOCK_SESSIONS_OF_USER,
} from '../../../src/onboarding/store/sessions.sql.js';
import { SessionsStore } from '../../../src/onboarding/store/sessions.store.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { Database, type Transaction } from '../../../src/platform/database/database.js';
import {
  createTestDatabase,
  type TestDatabase,
  useTestDatabase,
} from '../../setup/database/test-database.js';
import { LOCK_FOR_OUTCOME, LOCK_REGISTRATION } from '../../../src/users/registration/registrations.sql.js';
import { environmentFor } from '../../setup/test-environment.js';
import { insertCustomer, insertRow, type Table } from '../valid-rows.js';

describe('a lock', () => {
  const testDatabase = useTestDatabase();

  it('keeps its rows from other transactions', async () => {
    const database = testDatabase.open();
    const other = await testDatabase.connect();
    const insert = (...row: [Table, object]) =>
      insertRow<{ id: string; lease_token: string }>(other, ...(row as [Table, Record<string, unknown>]));
    const { userId, gridLocationId } = await insertCustomer(other);
    const place = { grid_location_id: gridLocationId };
    const { id } = await insert('onboarding_sessions', { ...place, user_id: userId });
    await insert('session_polls', { session_id: id, user_id: userId });
    const start = await insert('session_starts', place);
    const registration = await insert('registrations', {});
    const nobody = randomUUID();
    const locks: [Parameters<Transaction['query']>[0], unknown[], Table[]][] = [
      [starts.LOCK_START, [gridLocationId, start.id, start.lease_token, null], ['users', 'session_starts']],
      [starts.LOCK_PLACE, [gridLocationId, userId, null], ['users']],
      [starts.LOCK_CURRENT_AND_KNOWN, [gridLocationId, null, nobody], ['onboarding_sessions']],
      [starts.LOCK_CURRENT_AND_KNOWN, [nobody, null, id], ['onboarding_sessions']],
      [LOCK_SESSIONS_OF_USER, [userId], ['onboarding_sessions']],
      [LOCK_SESSIONS, [[id]], ['onboarding_sessions', 'session_polls']],
      [LOCK_ANY_SESSIONS, [[id]], ['onboarding_sessions']],
      [SELECT_ONE, [id], ['session_polls']],
      [LOCK_REGISTRATION, [registration.id], ['registrations']],
      [LOCK_FOR_OUTCOME, [registration.id, 0, nobody], ['registrations']],
    ];
    for (const [index, [statement, values, tables]] of locks.entries())
      await database.transaction(async (tx) => {
        expect(await tx.query(statement, values)).toHaveLength(1);
        for (const table of tables) {
          const { rows } = await other.query(`SELECT FROM ${table} FOR UPDATE SKIP LOCKED`);
          expect([index, table, rows]).toEqual([index, table, []]);
        }
      });
  });
});

describe('polls', () => {
  const testDatabase = useTestDatabase();
  let database: Database;
  let client: pg.Client;
  let polls: PollsStore;
  beforeAll(async () => {
    database = testDatabase.open();
    client = await testDatabase.connect();
    const environment = environmentFor(testDatabase.url);
    polls = new PollsStore(database, environment, new ReadHabits(database, environment));
  });

  const insertBatch = async (lease_until: string) =>
    (await insertRow<{ id: string }>(client, 'poll_batches', { lease_until })).id;
  const deleteExpired = () =>
    database.transaction(async (tx) => {
      // A wait for the lock would be an error.
      await tx.query(`SET LOCAL lock_timeout = '1 s'`);
      return (await tx.query<{ id: string }>(DELETE_EXPIRED_BATCHES)).map(({ id }) => id);
    });

  it('deletes the expired batches that no other worker deletes, and waits for none', async () => {
    const [first, second] = [await insertBatch('yesterday'), await insertBatch('yesterday')];
    const live = await insertBatch('tomorrow');
    await client.query('BEGIN');
    await client.query('SELECT FROM poll_batches WHERE id = $1 FOR UPDATE', [first]);
    expect(await deleteExpired()).toEqual([second]);
    await client.query('ROLLBACK');
    expect(await deleteExpired()).toEqual([first]);
    expect((await client.query('SELECT id FROM poll_batches')).rows).toEqual([{ id: live }]);
  });

  async function insertPoll(values: Readonly<Record<string, unknown>>): Promise<string> {
    const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(client);
    const session = { user_id, grid_location_id };
    const { id: session_id } = await insertRow<{ id: string }>(client, 'onboarding_sessions', session);
    await insertRow(client, 'session_polls', { session_id, user_id, ...values });
    return session_id;
  }

  describe('a claim', () => {
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
    const insertDue = (overdue: number, interval: number) =>
      insertPoll({
        due_at: ago(overdue),
        claimed_at: ago(overdue + interval),
        planned_at: ago(overdue + interval),
      });
    const pollOf = async (id: string) => {
      const columns = 'due_at, claimed_at, planned_at, failures';
      return (await client.query(`SELECT ${columns} FROM session_polls WHERE session_id = $1`, [id])).rows[0];
    };
    const claimIds = async (limit: number) => (await polls.claimDue(limit)).map(({ sessionId }) => sessionId);

    it('takes half from the fresh, whatever waits, and half from those that are the latest relative to their interval', async () => {
      const longest = await insertDue(3_600, 7_200);
      const latest = await insertDue(600, 20);
      const fresh = [await insertDue(3, 2), await insertDue(1, 2)];
      expect(await claimIds(2)).toEqual([fresh[0], latest]);
      expect((await claimIds(2)).toSorted()).toEqual([fresh[1]!, longest].toSorted());
    });

    it('takes no session from the backlog of a short interval in the place of a fresh one', async () => {
      const late = [await insertDue(1_000, 2), await insertDue(900, 2), await insertDue(800, 2)];
      const fresh = await insertDue(1, 100);
      const claimed = await claimIds(2);
      expect(claimed[0]).toBe(fresh);
      expect(claimed[1]).toBe(late[0]);
      await claimIds(2);
    });

    it('leaves a session as before if it is not read, and in its lane if it is refused', async () => {
      const ids = [await insertDue(100, 8), await insertDue(90, 8)];
      const before = await Promise.all(ids.map(pollOf));
      const [released, refused] = await polls.claimDue(2);
      const failure = { failures: 0, notFound: 0, notFoundSince: null, error: null };
      await polls.recordFailures([
        {
          sessionId: released!.sessionId,
          batchId: released!.batchId,
          ...failure,
          retryMs: 0,
          dueAt: released!.dueAt,
        },
        {
          sessionId: refused!.sessionId,
          batchId: refused!.batchId,
          ...failure,
          retryMs: 1_000,
          dueAt: refused!.dueAt,
        },
      ]);
      expect(await pollOf(released!.sessionId)).toEqual(before[ids.indexOf(released!.sessionId)]);
      const { due_at, planned_at } = await pollOf(refused!.sessionId);
      // The refused session keeps the interval that the claim planned from the age of the session.
      expect(due_at - planned_at).toBeGreaterThan(900);
      expect(due_at - new Date(refused!.dueAt).getTime()).toBe(due_at - planned_at);
    });
  });

  it('remembers when reads began to fail, until a good read', async () => {
    const session_id = await insertPoll({ due_at: new Date(0) });
    const attempt = async (error: string | null, failures: number | null) => {
      const claimed = (await polls.claimDue(100)).find(({ sessionId }) => sessionId === session_id)!;
      const { batchId } = claimed;
      await polls.recordFailures([
        {
          sessionId: session_id,
          batchId,
          failures,
          notFound: 0,
          notFoundSince: null,
          error,
          retryMs: 60_000,
        },
      ]);
      await polls.closeBatches([batchId]);
      await client.query('UPDATE session_polls SET due_at = to_timestamp(0) WHERE session_id = $1', [
        session_id,
      ]);
      return found();
    };
    const found = async () =>
      (
        await client.query<{ failing_since: Date | null; failures: number }>(
          'SELECT failing_since, failures FROM admin.sessions WHERE session_id = $1',
          [session_id],
        )
      ).rows[0]!;
    expect((await attempt(null, 0)).failing_since).toBeNull();
    const first = await attempt('breaker_open', 0);
    expect(first.failing_since).toBeInstanceOf(Date);
    expect(await attempt('reset', 1)).toEqual({ ...first, failures: 1 });
    expect(await attempt(null, 1)).toEqual({ ...first, failures: 1 });
    expect(await attempt('the response cannot be saved', null)).toEqual({ ...first, failures: 2 });
    // A good read that changes nothing writes nothing but its claim.
    await client.query('UPDATE session_polls SET failures = 0, last_error = NULL WHERE session_id = $1', [
      session_id,
    ]);
    const [good] = (await polls.claimDue(100)).filter(({ sessionId }) => sessionId === session_id);
    await polls.closeBatches([good!.batchId]);
    expect((await found()).failing_since).toBeNull();
    await client.query('UPDATE session_polls SET due_at = to_timestamp(0) WHERE session_id = $1', [
      session_id,
    ]);
    const again = await attempt('reset', 1);
    expect(again.failing_since!.getTime()).toBeGreaterThan(first.failing_since!.getTime());
  });

  it('forgets all failures after a good read', async () => {
    const failed = { failures: 7, failing_since: new Date(), not_found: 3, last_error: 'status 404' };
    const session_id = await insertPoll({ due_at: 'tomorrow', ...failed });
    const read = {
      sessionId: session_id,
      phase: 'late',
      anchorAt: new Date(),
      endingReads: 0,
      isRecorded: false,
      nextMs: 1_000,
    };
    await database.query(RESCHEDULE, [JSON.stringify([read])]);
    const columns = 'failures, failing_since, not_found, last_error, phase';
    const { rows } = await client.query(`SELECT ${columns} FROM session_polls WHERE session_id = $1`, [
      session_id,
    ]);
    expect(rows).toEqual([
      { failures: 0, failing_since: null, not_found: 0, last_error: null, phase: 'late' },
    ]);
  });
});

describe('the read budget', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let budgets: ReadBudgetStore;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = testDatabase.open();
    budgets = new ReadBudgetStore(database);
  });
  afterAll(() => testDatabase.drop());

  const stretch = async () =>
    (await database.query<{ stretch: number }>('SELECT stretch FROM read_budget'))[0]!.stretch;

  describe('a measure', () => {
    it('is made by one worker, and writes nothing once another has begun', async () => {
      const begun = await Promise.all([budgets.begin(60_000), budgets.begin(60_000)]);
      const [first] = begun.filter((measure) => measure !== undefined);
      expect(begun.filter((measure) => measure === undefined)).toHaveLength(1);
      const budget = {
        measureAfter: first!.now,
        stretch: 3,
        wantedPerSecond: 6,
        allowedPerSecond: 2,
        shortSince: null,
        announcedAt: null,
      };
      await budgets.finish({ ...first!, measureAfter: new Date(0) }, budget, []);
      expect(await stretch()).toBe(1);
      await budgets.finish(first!, budget, []);
      expect(await stretch()).toBe(3);
      expect(await budgets.begin(60_000)).toBeDefined();
    });
  });

  describe('the count by age', () => {
    it('has a group for each phase and age, also for sessions that begin later than now', async () => {
      const client = await testDatabase.connect();
      const hourAgo = new Date(Date.now() - 3_600_000);
      for (const anchor_at of ['tomorrow', hourAgo, hourAgo]) {
        const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(client);
        const session = { user_id, grid_location_id, brand: 'acme' };
        const { id: session_id } = await insertRow(client, 'onboarding_sessions', session);
        await insertRow(client, 'session_polls', { session_id, user_id, phase: 'late', anchor_at });
      }
      // The session that began in the future counts as a millisecond old.
      const groups = [
        { phase: 'late', age: Math.floor(AGES_PER_E * Math.log(0.001)), sessions: 1 },
        { phase: 'late', age: Math.floor(AGES_PER_E * Math.log(3_600)), sessions: 2 },
      ];
      const count = async (brands: readonly string[]) =>
        (await budgets.countByAge(brands)).toSorted((a, b) => a.age - b.age);
      expect(await count([])).toEqual(groups.map((group) => ({ brand: null, ...group })));
      expect(await count(['acme'])).toEqual(groups.map((group) => ({ brand: 'acme', ...group })));
    });
  });
});

describe('starts', () => {
  const testDatabase = useTestDatabase();
  let database: Database;
  let store: StartsStore;
  let views: SessionViewsStore;

  beforeAll(() => {
    const environment = environmentFor(testDatabase.url);
    database = testDatabase.open();
    const cipher = new Cipher(environment);
    store = new StartsStore(database, cipher, environment);
    views = new SessionViewsStore(database, cipher);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

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

  const startsOf = ({ gridLocationId }: WantedSession) =>
    database.query<{ status: string; attempts: number; orphans: number }>(
      'SELECT status, attempts, orphans FROM session_starts WHERE grid_location_id = $1',
      [gridLocationId],
    );

  describe('a start whose lease has expired', () => {
    const startOf = async ({ gridLocationId }: WantedSession) => {
      const [start] = await database.query<{ id: string; leaseToken: string; error: string | null }>(
        'SELECT id, lease_token AS "leaseToken", last_error AS error FROM session_starts WHERE grid_location_id = $1',
        [gridLocationId],
      );
      return start!;
    };

    it('is left alone once its lease is renewed', async () => {
      const place = await wanted({ attempts: 1 });
      const { id, leaseToken } = await startOf(place);
      await database.query(starts.LEASES.renew, [id, leaseToken, 10_000]);
      expect(await store.findExpiredLeases()).not.toContain(leaseToken);
      expect(await store.endAbandoned([leaseToken])).toEqual([]);
      expect(await startsOf(place)).toMatchObject([{ status: 'sending', orphans: 0 }]);
    });
  });

  it('that a dead process has left is taken over once, and counts its orphan', async () => {
    const place = await wanted({ attempts: 1 });
    await begin(place);
    expect(await store.begin(place)).toEqual({ kind: 'in_flight' });
    expect(await startsOf(place)).toEqual([{ status: 'sending', attempts: 2, orphans: 1 }]);
  });

  it('that returns an existing session writes nothing, not even a lock', async () => {
    const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(database.pool);
    const session = { user_id, grid_location_id, start_url_ciphertext: Buffer.of(1) };
    const { id } = await insertRow(database.pool, 'onboarding_sessions', session);
    const locks = () => database.query('SELECT xmax FROM users WHERE id = $1', [user_id]);
    const before = await locks();
    const place = { gridLocationId: grid_location_id, brand: null, metadata: {}, reuse: true };
    expect(await store.begin(place)).toEqual({ kind: 'exists', sessionId: id });
    expect(await locks()).toEqual(before);
    expect(await startsOf(place)).toEqual([]);
  });

  it('begins again once the wait after a failed start is over', async () => {
    const place = await wanted();
    await store.fail(await begin(place), ABANDONED, 1);
    expect(await store.begin(place)).toMatchObject({ kind: 'held_back', error: ABANDONED.error });
    await database.query(
      `UPDATE session_starts SET updated_at = updated_at - interval '1 hour' WHERE grid_location_id = $1`,
      [place.gridLocationId],
    );
    await begin(place);
    expect(await startsOf(place)).toHaveLength(2);
  });

  describe('a write that is executed again', () => {
    it('counts the orphan of a call once', async () => {
      const place = await wanted();
      const start = await begin(place);
      for (const sends of [1, 1, 2, 2]) expect(await store.repeat(start, ABANDONED, sends)).toBe(true);
      const counted = [{ status: 'sending', attempts: 3, orphans: 2 }];
      expect(await startsOf(place)).toEqual(counted);
      expect(await store.repeat(start, ABANDONED, 1)).toBe(false);
      expect(await startsOf(place)).toEqual(counted);
    });

    it.each([
      [0, 1],
      [2, 2],
    ])('ends a start of which %i calls may have had an effect with %i orphans', async (sends, orphans) => {
      const place = await wanted();
      const start = await begin(place);
      await store.repeat(start, ABANDONED, 1);
      for (let execution = 0; execution < 2; execution += 1) await store.fail(start, ABANDONED, sends);
      expect(await startsOf(place)).toEqual([{ status: 'failed', attempts: 2, orphans }]);
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

    it('is not stored when another process has taken over its start', async () => {
      const place = await wanted();
      const late = { ...(await begin(place)), leaseToken: randomUUID() };
      const sessionId = randomUUID();
      expect(await store.record(late, started(sessionId), place)).toEqual({ kind: 'lease_lost' });
      expect(await views.findSession(sessionId)).toBeNull();
    });
  });
});

describe('sessions', () => {
  const testDatabase = useTestDatabase();
  let database: Database;
  let sessions: SessionsStore;
  /** Claims on connections of its own. */
  let polls: PollsStore;

  beforeAll(() => {
    const environment = environmentFor(testDatabase.url);
    database = testDatabase.open();
    sessions = new SessionsStore(database, environment, new Metrics());
    const other = testDatabase.open();
    polls = new PollsStore(other, environment, new ReadHabits(other, environment));
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** Changes how the work of each transaction of `database` runs. */
  function wrapWork(wrap: <T>(work: (tx: Transaction) => Promise<T>, tx: Transaction) => Promise<T>): void {
    const transaction = database.transaction.bind(database);
    jest.spyOn(database, 'transaction').mockImplementation((work) => transaction((tx) => wrap(work, tx)));
  }

  async function insertSession(state: 'awaiting_owner' | 'unrecognised'): Promise<string> {
    const { userId, gridLocationId } = await insertCustomer(database.pool);
    const id = randomUUID();
    const session = { id, user_id: userId, grid_location_id: gridLocationId, state };
    await insertRow(database.pool, 'onboarding_sessions', session);
    const poll = { session_id: id, user_id: userId, phase: state, anchor_at: 'yesterday' };
    await insertRow(database.pool, 'session_polls', poll);
    return id;
  }

  describe('re-derived states', () => {
    it('change how a session is watched that a worker claims meanwhile', async () => {
      const id = await insertSession('unrecognised');
      let claims = 0;
      wrapWork((work, tx) =>
        work({
          ...tx,
          query: async (statement, values) => {
            const rows = await tx.query<never>(statement, values);
            if (statement === LOCK_ANY_SESSIONS && (await polls.claimOne(id)) !== undefined) claims++;
            return rows;
          },
        }),
      );
      const classification = { state: 'online', basis: 'observed', rule: 'finished_with_inverters' } as const;
      expect(await sessions.applyRederived([{ id, from: 'unrecognised', classification }], 'cli')).toBe(1);
      expect(claims).toBe(1);
      expect(
        await database.query(
          `SELECT phase, anchor_at > clock_timestamp() - interval '1 hour' AS "isNew" FROM session_polls WHERE session_id = $1`,
          [id],
        ),
      ).toEqual([{ phase: 'settling', isNew: true }]);
    });
  });
});
