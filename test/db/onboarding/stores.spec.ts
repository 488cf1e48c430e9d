import { createHash, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { CampaignAdoption } from '../../../src/campaigns/adoption/adoption.service.js';
import { AdoptionStore } from '../../../src/campaigns/adoption/adoption.store.js';
import type { SessionReader } from '../../../src/onboarding/remote/session-reader.service.js';
import { planRederivations } from '../../../src/cli/rederivation.js';
import { applyRederived, LOCK_ANY_SESSIONS } from '../../../src/cli/rederived.store.js';
import { NEVER } from '../../../src/platform/database/lease.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { LearnedSchedules } from '../../../src/onboarding/poll/learned-schedules.js';
import { DELETE_EXPIRED_BATCHES, RESCHEDULE } from '../../../src/onboarding/poll/polls.sql.js';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { ReadBudgetStore } from '../../../src/onboarding/poll/read-budget.store.js';
import type { StartedSession } from '../../../src/onboarding/remote/session.client.js';
import { AGES_PER_E } from '../../../src/onboarding/rules/read-budget.rules.js';
import { ABANDONED, RELEASED } from '../../../src/onboarding/rules/start-failure.rules.js';
import type { LeasedStart, WantedSession } from '../../../src/onboarding/start/record-session.store.js';
import * as starts from '../../../src/onboarding/start/starts.sql.js';
import { StartsStore } from '../../../src/onboarding/start/starts.store.js';
import { ERASE_SESSIONS } from '../../../src/onboarding/store/erase-sessions.sql.js';
import { SessionViewsStore } from '../../../src/onboarding/store/session-views.store.js';
import {
  MARK_ABSENT,
  MISS_INVERTERS,
  MOVE_SESSIONS,
  UPSERT_INVERTERS,
} from '../../../src/onboarding/store/sessions.sql.js';
import { SessionsStore } from '../../../src/onboarding/store/sessions.store.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import type { Statement, Transaction } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { insertCustomer, insertRow, tomorrow } from '../valid-rows.js';

describe('polls', () => {
  const testDatabase = useTestDatabase();
  let client: pg.Client;
  const database = testDatabase.open();
  const environment = environmentFor(testDatabase.url);
  const polls = new PollsStore(database, environment, new LearnedSchedules());

  beforeAll(async () => {
    client = await testDatabase.connect();
  });

  const insertBatch = async (lease_until: Date | string) =>
    (await insertRow<{ id: string }>(client, 'poll_batches', { lease_until })).id;
  const deleteExpired = () =>
    database.transaction(async (tx) => {
      // A wait for the lock would be an error.
      await tx.query(`SET LOCAL lock_timeout = '1 s'`);
      return (await tx.query<{ id: string }>(DELETE_EXPIRED_BATCHES)).map(({ id }) => id);
    });

  it('deletes the expired batches that no other worker deletes, and waits for none', async () => {
    const [first, second] = [await insertBatch('yesterday'), await insertBatch('yesterday')];
    const live = await insertBatch(tomorrow());
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
      expect((await claimIds(9)).toSorted()).toEqual([fresh[1]!, longest].toSorted());
      const batches = await client.query('SELECT size FROM poll_batches ORDER BY id DESC LIMIT 1');
      expect(batches.rows).toEqual([{ size: 2 }]);
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

  const columnsOf = async (session_id: string) => {
    const { rows } = await client.query<Record<string, unknown>>(
      `SELECT *, encode(answer_hash, 'hex') AS answer_hash, encode(facts_hash, 'hex') AS facts_hash
         FROM session_polls WHERE session_id = $1`,
      [session_id],
    );
    return rows[0]!;
  };

  it('keep from a good read what it found, and forget all failures', async () => {
    const failed = { failures: 7, failing_since: new Date(), not_found: 3, not_found_since: new Date() };
    const session_id = await insertPoll({ due_at: tomorrow(), last_error: 'status 404', ...failed });
    const before = await columnsOf(session_id);
    const [anchorAt, endingSince, changesClearAt, flappingSince, lookAgainAt, olderSince] = Array.from(
      { length: 6 },
      (_, day) => new Date(Date.UTC(2026, 1, day + 1)),
    );
    const times = { anchorAt, endingSince, changesClearAt, flappingSince, lookAgainAt, olderSince };
    const read = { sessionId: session_id, phase: 'late', endingReads: 4, nextMs: 3_600_000, ...times };
    const other = await insertPoll({ due_at: tomorrow() });
    const ofOther = await columnsOf(other);
    const hashes = { hash: 'ab', factsHash: 'cd' };
    const reschedule = (isRecorded: boolean) =>
      database.query(RESCHEDULE, [JSON.stringify([{ ...read, ...hashes, isRecorded }])]);
    const found = {
      ...before,
      phase: 'late',
      anchor_at: anchorAt,
      ending_since: endingSince,
      ending_reads: 4,
      changes_clear_at: changesClearAt,
      flapping_since: flappingSince,
      look_again_at: lookAgainAt,
      older_since: olderSince,
      due_at: expect.any(Date),
      ...{ failures: 0, failing_since: null, not_found: 0, not_found_since: null, last_error: null },
    };
    await reschedule(false);
    expect(await columnsOf(session_id)).toEqual(found);
    await reschedule(true);
    const recorded = await columnsOf(session_id);
    expect(recorded).toEqual({ ...found, answer_hash: 'ab', facts_hash: 'cd' });
    expect((recorded.due_at as Date).getTime() - Date.now()).toBeGreaterThan(3_000_000);
    expect(await columnsOf(other)).toEqual(ofOther);
  });

  it('that a dead worker has claimed are due at once, as if they had not been claimed', async () => {
    await client.query('DELETE FROM poll_batches');
    const [checked_at, claimed_at] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-02T00:00:00Z')];
    const [dead, live] = [await insertBatch('yesterday'), await insertBatch(tomorrow())];
    const insert = (batch_id: string, due_at: Date | string) =>
      insertPoll({ batch_id, due_at, checked_at, claimed_at, planned_at: checked_at });
    const overdue = new Date('2026-01-03T00:00:00Z');
    const ids = [await insert(dead, overdue), await insert(dead, tomorrow()), await insert(live, tomorrow())];
    const before = await Promise.all(ids.map(columnsOf));
    expect(await polls.releaseExpiredBatches()).toBe(1);
    const after = await Promise.all(ids.map(columnsOf));
    const released = { batch_id: null, claimed_at: checked_at, planned_at: claimed_at };
    expect(after).toEqual([
      { ...before[0], ...released, due_at: overdue },
      { ...before[1], ...released, due_at: expect.any(Date) },
      before[2],
    ]);
    expect((after[1]!.due_at as Date).getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(await polls.renewLeases([dead, live])).toEqual(new Set([live]));
  });
});

describe('the read budget', () => {
  const testDatabase = useTestDatabase();
  const database = testDatabase.open();
  const budgets = new ReadBudgetStore(database);

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
      for (const anchor_at of [tomorrow(), hourAgo, hourAgo]) {
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
  const environment = environmentFor(testDatabase.url);
  const database = testDatabase.open();
  const cipher = new Cipher(environment);
  const store = new StartsStore(database, cipher, environment);
  const views = new SessionViewsStore(database, cipher);

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

  type Leased = Record<'id' | 'grid_location_id' | 'brand' | 'lease_token', string>;
  const byId = ({ id, lease_token }: Leased) => [id, lease_token];
  const byPlace = (row: Leased) => [row.grid_location_id, row.brand, row.lease_token];
  const failed = { status: 'failed', last_error: 'lost' };
  const left = { ...failed, orphans: 1, last_error: ABANDONED.error };
  it.each<[string, number, string | Statement, (row: Leased) => unknown[], object | null]>([
    [
      'repeated',
      2,
      starts.REPEAT_START,
      (row) => [...byId(row), 'lost', 10_000, 2],
      { attempts: 3, orphans: 1, last_error: 'lost', lease_until: expect.any(Date) },
    ],
    ['failed', 2, starts.FAIL_START, (row) => [...byId(row), 3, 'lost', 'lost'], { ...failed, orphans: 3 }],
    ['released', 2, starts.RELEASE_START, byPlace, { ...failed, attempts: 1, last_error: RELEASED.error }],
    ['deleted', 1, starts.RELEASE_START, byPlace, null],
    ['abandoned', 2, starts.END_ABANDONED_STARTS, ({ lease_token }) => [[lease_token]], left],
  ])('is %s by its lease, and no other is', async (_what, attempts, statement, valuesOf, change) => {
    const [{ gridLocationId: grid_location_id }, elsewhere] = [await wanted(), await wanted()];
    const start = { grid_location_id, brand: 'acme', lease_token: randomUUID(), lease_until: 'yesterday' };
    const insert = (values: object) =>
      insertRow<Leased>(database.pool, 'session_starts', { ...start, attempts, ...values });
    const own = await insert({});
    await insert({ status: 'failed' });
    const live = { lease_token: randomUUID(), lease_until: tomorrow() };
    const others: Partial<Leased>[] = [
      await insert({ ...live, brand: 'zeus' }),
      await insert({ ...live, grid_location_id: elsewhere.gridLocationId }),
      live,
    ];
    const rows = () => database.query<Leased>('SELECT * FROM session_starts ORDER BY id');
    const before = await rows();
    for (const other of others)
      for (const key of Object.keys(other) as (keyof Leased)[]) {
        const values = valuesOf({ ...own, [key]: other[key] });
        if (!isDeepStrictEqual(values, valuesOf(own))) await database.query(statement, values);
      }
    expect(await rows()).toEqual(before);
    await database.query(statement, valuesOf(own));
    const changed = (row: Leased) =>
      change === null ? [] : { ...row, updated_at: expect.any(Date), ...change };
    expect(await rows()).toEqual(before.flatMap((row) => (row.id === own.id ? changed(row) : row)));
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

  it('waits for the failed starts of its location and brand that may have left orphans since its last success', async () => {
    const other = await insertCustomer(database.pool);
    const { userId: user_id, gridLocationId } = await insertCustomer(database.pool);
    const insert = async (
      status: string,
      hoursAgo: number,
      last_error: string,
      { brand = null as string | null, orphans = 1, of = gridLocationId } = {},
    ) => {
      const at = new Date(Date.now() - hoursAgo * 3_600_000);
      const session = { user_id, grid_location_id: of, brand, superseded_at: at };
      const session_id =
        status === 'started' ? (await insertRow(database.pool, 'onboarding_sessions', session)).id : null;
      const times = { created_at: at, updated_at: at };
      const start = { grid_location_id: of, brand, status, last_error, orphans, session_id, ...times };
      await insertRow(database.pool, 'session_starts', start);
    };
    const found = async () => {
      const [row] = await database.query<{ failures: number; agoMs: number; error: string | null }>(
        starts.FIND_HINDRANCE,
        [gridLocationId, null, 'true', null],
      );
      return [row!.failures, row!.error, Math.floor(row!.agoMs / 3_600_000)];
    };
    await insert('failed', 1, 'of a brand', { brand: 'acme' });
    await insert('failed', 1, 'of another location', { of: other.gridLocationId });
    await insert('failed', 1, 'not sent', { orphans: 0 });
    await insert('sending', 1, 'in flight');
    expect(await found()).toEqual([0, null, 0]);
    await insert('failed', 2, 'the last');
    await insert('failed', 4, 'the first');
    await insert('failed', 6, 'before the success');
    await insert('started', 1, 'of a brand', { brand: 'acme' });
    expect(await found()).toEqual([3, 'the last', 2]);
    await insert('started', 5, 'the success');
    expect(await found()).toEqual([2, 'the last', 2]);
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

    it('supersedes one that is over, whose record changes with that', async () => {
      const place = await wanted();
      const [earlier, later] = [started(randomUUID()), started(randomUUID())];
      await store.record(await begin(place), earlier, place);
      await database.query(
        `UPDATE onboarding_sessions SET state = 'expired', start_url_ciphertext = NULL, changed_at = 'yesterday' WHERE id = $1`,
        [earlier.sessionId],
      );
      await store.record(await begin(place), later, place);
      const sessions = await database.query(
        `SELECT id, superseded_at = changed_at AS superseded FROM onboarding_sessions WHERE grid_location_id = $1 ORDER BY 2`,
        [place.gridLocationId],
      );
      expect(sessions).toEqual([
        { id: earlier.sessionId, superseded: true },
        { id: later.sessionId, superseded: null },
      ]);
    });

    it('is current again when a later start returns it, also if the write is executed again when it is over', async () => {
      const place = await wanted();
      const session = started(randomUUID());
      const change = (set: string, where = 'true') =>
        database.query(`UPDATE onboarding_sessions SET ${set} WHERE id = $1 AND ${where} RETURNING state`, [
          session.sessionId,
        ]);
      await store.record(await begin(place), session, place);
      await change(`superseded_at = now(), changed_at = 'yesterday'`);
      const start = await begin(place);
      expect(await store.record(start, session, place)).toEqual({ kind: 'recorded' });
      const current = `superseded_at IS NULL AND changed_at > now() - interval '1 hour'`;
      expect(await change(`state = 'expired', start_url_ciphertext = NULL`, current)).toHaveLength(1);
      expect(await store.record(start, session, place)).toEqual({ kind: 'recorded' });
    });

    it('is not stored when another process has taken over its start', async () => {
      const place = await wanted();
      const late = { ...(await begin(place)), leaseToken: randomUUID() };
      const sessionId = randomUUID();
      expect(await store.record(late, started(sessionId), place)).toEqual({ kind: 'lease_lost' });
      expect(await store.repeat(late, ABANDONED, 1)).toBe(false);
      await store.fail(late, ABANDONED, 1);
      expect(await startsOf(place)).toEqual([{ status: 'sending', attempts: 1, orphans: 0 }]);
      expect(await views.findSession(sessionId)).toBeNull();
    });
  });
});

describe('the adoption of sessions', () => {
  const testDatabase = useTestDatabase();

  it('makes the newest of a location and brand the current one, and says why it leaves out others', async () => {
    const database = testDatabase.open();
    const { userId, gridLocationId } = await insertCustomer(database.pool);
    const other = await insertCustomer(database.pool);
    const at = (day: number) => new Date(Date.UTC(2026, 2, day));
    const reads: object[] = [
      { kind: 'observed', observation: { createdAt: at(1), expiresAt: at(9) } },
      { kind: 'observed', observation: { createdAt: at(3), expiresAt: at(9) } },
      { kind: 'observed', observation: { createdAt: at(2), expiresAt: at(9) } },
      { kind: 'observed', observation: { createdAt: at(4), expiresAt: at(9) } },
      { kind: 'not_found', isOwn: true },
      { kind: 'refused', isOwn: true },
      ...Array<object>(3).fill({ kind: 'failed' }),
    ];
    const later: object[] = [
      { kind: 'not_sent' },
      { kind: 'not_found', isOwn: false },
      { kind: 'refused', isOwn: false },
    ];
    const readOfUser = () => Promise.resolve(reads.shift());
    const reader = { readOfUser } as unknown as SessionReader;
    const adoption = new CampaignAdoption(new AdoptionStore(database), reader);
    const place = { userId, tenantReference: 'ann', gridLocationId, brand: null };
    const sessions = Array.from({ length: 7 }, () => ({ id: randomUUID(), ...place }));
    sessions[3] = { ...sessions[3]!, userId: other.userId };
    const ids = sessions.map(({ id }) => id);
    const adopt = () => adoption.adoptSessions(sessions, NEVER);
    expect(await adopt()).toEqual(
      new Map([
        [ids[4], 'was not found at the remote service for this user'],
        [ids[5], 'was refused by the remote service'],
        [ids[6], 'could not be read'],
        [ids[3], 'belongs to a user who has been erased'],
      ]),
    );
    const stored = await database.query(
      `SELECT id, superseded_at IS NULL AS "isCurrent", created_at AS at FROM onboarding_sessions
        WHERE updated_at = created_at AND started_updated_at = created_at AND expires_at = $1 AND state = 'awaiting_owner'
        ORDER BY created_at`,
      [at(9)],
    );
    expect(stored).toEqual([
      { id: ids[0], isCurrent: false, at: at(1) },
      { id: ids[2], isCurrent: false, at: at(2) },
      { id: ids[1], isCurrent: true, at: at(3) },
    ]);
    for (const read of later) {
      reads.splice(0, Infinity, read);
      expect(await adopt()).toBeNull();
    }
  });
});

describe('sessions', () => {
  const testDatabase = useTestDatabase();
  /** Claims on connections of its own. */

  const environment = environmentFor(testDatabase.url);
  const database = testDatabase.open();
  const sessions = new SessionsStore(database, environment, new Metrics());
  const other = testDatabase.open();
  const polls = new PollsStore(other, environment, new LearnedSchedules());

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

  const day = (nth: number) => new Date(Date.UTC(2026, 1, nth));

  it('apply no reading of a session that another batch has claimed, or that is gone', async () => {
    const ids = [await insertSession('awaiting_owner'), await insertSession('awaiting_owner'), randomUUID()];
    const claims = await Promise.all(ids.map((id) => polls.claimOne(id)));
    const at = new Date();
    const observation = { finished: false, active: true, expired: true, updatedAt: at, inverters: [] };
    const response = { httpStatus: 200, body: '{}', hash: 'ab', factsHash: 'cd' };
    const reading = {
      kind: 'observed' as const,
      observation: { ...observation, createdAt: at, expiresAt: at },
      response,
    };
    const readings = ids.map((sessionId, nth) => ({
      ...{ sessionId, reading },
      batchId: nth === 1 ? claims[0]!.batchId : (claims[nth]?.batchId ?? '1'),
    }));
    expect(await sessions.applyReadings(readings)).toEqual({ stale: 2 });
    const states = await database.query(
      'SELECT state FROM onboarding_sessions WHERE id = ANY ($1) ORDER BY id = $2',
      [ids, ids[0]],
    );
    expect(states).toEqual([{ state: 'awaiting_owner' }, { state: 'expired' }]);
  });

  it('are erased with the time of their last good read, and keep an earlier end', async () => {
    const [live, dead] = [{ lease_until: tomorrow() }, null];
    const insert = async (
      closed_at: Date | null,
      polled: boolean,
      batch: typeof live | typeof dead = dead,
    ) => {
      const id = await insertSession('awaiting_owner');
      const end = { closed_at, close_reason: closed_at && 'settled', last_checked_at: day(3) };
      await database.query(
        'UPDATE onboarding_sessions SET closed_at = $2, close_reason = $3, last_checked_at = $4 WHERE id = $1',
        [id, end.closed_at, end.close_reason, end.last_checked_at],
      );
      const batch_id = batch && (await insertRow(database.pool, 'poll_batches', batch)).id;
      await database.query(
        polled
          ? 'UPDATE session_polls SET claimed_at = $2, checked_at = $3, batch_id = $4 WHERE session_id = $1'
          : 'DELETE FROM session_polls WHERE session_id = $1',
        polled ? [id, day(5), day(4), batch_id] : [id],
      );
      return id;
    };
    const erased: [id: string, closed: Date, checked: Date][] = [
      [await insert(null, true), day(9), day(5)],
      [await insert(null, true, live), day(9), day(4)],
      [await insert(day(2), false), day(2), day(3)],
    ];
    const kept = await insert(null, true);
    await database.query(ERASE_SESSIONS, [erased.map(([id]) => id), day(9)]);
    const rows = await database.query<{ id: string }>(
      `SELECT id, closed_at AS closed, close_reason AS reason, last_checked_at AS checked, changed_at = $2 AS "isChanged"
         FROM onboarding_sessions WHERE id = ANY ($1)`,
      [[...erased.map(([id]) => id), kept], day(9)],
    );
    const expected = [
      ...erased.map(([id, closed, checked]) => ({ id, closed, reason: 'erased', checked, isChanged: true })),
      { id: kept, closed: null, reason: null, checked: day(3), isChanged: false },
    ];
    expect(new Map(rows.map((row) => [row.id, row]))).toEqual(new Map(expected.map((row) => [row.id, row])));
  });

  const seen = { isObserved: true, finished: true, active: false, expired: false };
  const found = { finished: true, active: false, expired: false, updated_at: day(1), expires_at: day(2) };
  const closed = { closed_at: day(3), close_reason: 'settled', start_url_ciphertext: null };
  const lost = { state: 'lost', basis: 'observed' };
  type Move = Readonly<Record<string, unknown>>;
  it.each<[string, object, Move, object]>([
    ['observed', { expired: true }, { ...lost, ...seen, updatedAt: day(1), expiresAt: day(2) }, found],
    ['not observed', { expired: true }, { state: 'awaiting_installation', basis: 'inferred' }, {}],
    ['in the same state', {}, { ...lost, state: 'awaiting_owner' }, { state_changed_at: day(1) }],
    ['online', {}, { ...lost, state: 'online' }, { start_url_ciphertext: null }],
    ['closed', {}, { ...lost, closeReason: 'settled' }, { ...closed, closed_at: day(9) }],
    ['closed again', closed, { ...lost, closeReason: 'lost' }, {}],
    ['reopened', closed, { ...lost, isReopened: true }, { closed_at: null, close_reason: null }],
  ])('are moved from their state alone: %s', async (_what, before, move, changes) => {
    const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(database.pool);
    const session = {
      user_id,
      grid_location_id,
      start_url_ciphertext: Buffer.of(1),
      state_changed_at: day(1),
    };
    const insert = (brand: string) =>
      insertRow<{ id: string }>(database.pool, 'onboarding_sessions', { ...session, brand, ...before });
    const [{ id: sessionId }] = [await insert('acme'), await insert('zeus')];
    const rows = () =>
      database.query<object>('SELECT * FROM onboarding_sessions WHERE user_id = $1 ORDER BY brand', [
        user_id,
      ]);
    const moveFrom = (from: string) => {
      const by = { rule: 'moved', isObserved: false, isReopened: false, at: day(9) };
      return database.query(MOVE_SESSIONS, [JSON.stringify([{ ...by, sessionId, from, ...move }])]);
    };
    const [own, other] = await rows();
    await moveFrom('unrecognised');
    expect(await rows()).toEqual([own, other]);
    await moveFrom('awaiting_owner');
    const { state, basis } = move;
    const at = { state_changed_at: day(9), last_checked_at: day(9), changed_at: day(9) };
    const moved = { ...own, state, basis, rule: 'moved', ...at, ...changes };
    expect(await rows()).toEqual([moved, other]);
  });

  it('have inverters that become absent, missing and listed each by itself', async () => {
    const [id, other] = [await insertSession('awaiting_owner'), await insertSession('awaiting_owner')];
    await database.query('UPDATE session_polls SET checked_at = $1', [day(3)]);
    const listed = { absent_since: null, missing_since: null, first_seen_at: day(1), last_seen_at: day(2) };
    const gone = { ...listed, absent_since: day(4), missing_since: day(5) };
    const states = [listed, { ...listed, absent_since: day(4) }, gone];
    const ids = states.map(() => randomUUID()).sort();
    for (const session_id of [id, other])
      for (const [nth, state] of states.entries())
        await insertRow(database.pool, 'inverters', { session_id, id: ids[nth], ...state });
    const change = async (statement: string | Statement, at: Date | null, ...changed: number[]) => {
      const rows = changed.map((nth) => ({ sessionId: id, id: ids[nth], at }));
      await database.query(statement, [JSON.stringify(rows)]);
      const text = `SELECT ${Object.keys(listed).join()} FROM inverters WHERE session_id = $1 ORDER BY id`;
      expect(await database.query(text, [other])).toEqual(states);
      return database.query(text, [id]);
    };
    const absent = { ...listed, absent_since: day(6), last_seen_at: day(3) };
    expect(await change(MARK_ABSENT, day(6), 0, 2)).toEqual([absent, states[1], gone]);
    expect(await change(MARK_ABSENT, null, 1)).toEqual([absent, listed, gone]);
    const missing = [
      { ...absent, missing_since: day(6) },
      { ...listed, missing_since: day(7) },
    ];
    expect(await change(MISS_INVERTERS, day(7), 0)).toEqual([missing[0], listed, gone]);
    expect(await change(MISS_INVERTERS, day(7), 1, 2)).toEqual([...missing, gone]);
    expect(await change(UPSERT_INVERTERS, day(8), 2)).toEqual([
      ...missing,
      { ...listed, last_seen_at: day(8) },
    ]);
  });

  describe('re-derived states', () => {
    it('are planned from every whole history, in the order of its responses, over all pages', async () => {
      const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * 3_600_000);
      const times = { createdAt: at(9), updatedAt: at(9), expiresAt: at(-9) };
      const body = (flags: object) =>
        JSON.stringify({ sessionId: randomUUID(), finished: false, active: true, ...times, ...flags });
      const [expired, unreadable] = [body({ expired: true }), '{}'];
      const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(database.pool);
      /** Inserts a session with responses of two hours ago; null is a 404. */
      async function insertHistory(closedHoursAgo: number | null, ...bodies: (string | null)[]) {
        const closed_at = closedHoursAgo === null ? null : at(closedHoursAgo);
        const row = { user_id, grid_location_id, brand: randomUUID(), started_updated_at: at(9), closed_at };
        const closed = { ...row, close_reason: closed_at && 'settled' };
        const { id } = await insertRow(database.pool, 'onboarding_sessions', closed);
        for (const body of bodies) {
          const response = { session_id: id, body, http_status: body === null ? 404 : 200 };
          await insertRow(database.pool, 'session_observations', { ...response, observed_at: at(2) });
        }
        return id as string;
      }
      const expected: [string, string][] = [
        [await insertHistory(null, body({}), expired), 'expired'],
        [await insertHistory(null, expired, null), 'lost'],
        [await insertHistory(null, unreadable, null), 'lost'],
        [await insertHistory(1, expired), 'expired'],
      ];
      await insertHistory(null);
      await insertHistory(null, unreadable);
      // Retention has deleted what came before.
      await insertHistory(3, expired);
      const copies = await database.query<{ id: string }>(
        `INSERT INTO onboarding_sessions
         SELECT copy.* FROM onboarding_sessions s, generate_series(1, 500) n, jsonb_populate_record(s,
           jsonb_build_object('id', gen_random_uuid(), 'brand', n)) AS copy WHERE s.id = $1 RETURNING id`,
        [expected[0]![0]],
      );
      await database.query(
        `INSERT INTO session_observations (session_id, source, http_status, hash, body)
         SELECT copy, source, http_status, hash, body FROM session_observations, unnest($2::uuid[]) AS copy
          WHERE session_id = $1 ORDER BY copy, id`,
        [expected[0]![0], copies.map(({ id }) => id)],
      );
      expected.push(...copies.map(({ id }) => [id, 'expired'] as [string, string]));
      const planned: [string, string][] = [];
      for await (const page of planRederivations(database, null))
        planned.push(...page.map(({ id, classification: { state } }) => [id, state] as [string, string]));
      expect(planned).toEqual(expected.toSorted(([one], [other]) => (one < other ? -1 : 1)));
      for await (const page of planRederivations(database, expected[1]![0]))
        expect(page).toMatchObject([{ id: expected[1]![0], from: 'awaiting_owner' }]);
    });

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
      const change = { id, from: 'unrecognised', classification } as const;
      const apply = () => applyRederived(database, sessions, [change], 'cli');
      expect([await apply(), await apply()]).toEqual([1, 0]);
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
