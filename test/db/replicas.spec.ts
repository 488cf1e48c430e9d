import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Token } from '../../src/auth/token.client.js';
import type { OperationClass } from '../../src/remote/outcome.rules.js';
import { TokenStore } from '../../src/auth/token.store.js';
import { FIND_EXPIRED_LEASES } from '../../src/onboarding/start/starts.sql.js';
import { readBuild } from '../../src/platform/build.js';
import { Cipher } from '../../src/platform/crypto/cipher.js';
import { Listener } from '../../src/platform/database/connection/listen.js';
import type { Database } from '../../src/platform/database/database.js';
import { type Lease, Leases } from '../../src/platform/database/lease.js';
import { leasesOn } from '../../src/platform/database/lease.sql.js';
import { AbandonedLeases } from '../../src/platform/database/abandoned-leases.js';
import type { Environment } from '../../src/platform/env/environment.js';
import type { RecentRequests } from '../../src/platform/metrics/recent-requests.js';
import { TasksStore } from '../../src/platform/tasks/tasks.store.js';
import type { Remote } from '../../src/remote/remote.service.js';
import {
  acceptCredentials,
  isSent,
  OperationsStore,
  rejectCredentials,
} from '../../src/remote/shared/operations.store.js';
import { ReplicasStore } from '../../src/status/signs/replicas.store.js';
import { SignsOfLife } from '../../src/status/signs/signs-of-life.service.js';
import { FIND_LEASES } from '../../src/users/registration/registrations.sql.js';
import { useTestDatabase } from '../setup/database/test-database.js';
import { QUIET } from '../setup/replicas.js';
import { environmentFor } from '../setup/test-environment.js';
import { waitFor } from '../setup/wait-for.js';
import { insertCustomer, insertRow, tomorrow } from './valid-rows.js';

const STATEMENTS = leasesOn({ table: 'leased', key: 'name' });
const BACKOFF = { firstMs: 60_000, mostMs: 240_000 };
const never = new AbortController().signal;

const testDatabase = useTestDatabase('empty');
const database = testDatabase.open();

beforeAll(async () => {
  await database.query(
    'CREATE TABLE leased (name text PRIMARY KEY, lease_token uuid, lease_until timestamptz, due_at timestamptz NOT NULL)',
  );
});
beforeEach(async () => {
  await database.query('TRUNCATE leased');
  await database.query(`INSERT INTO leased (name, due_at) VALUES ('row', clock_timestamp())`);
});

const process = (leaseMs = 60_000) => new Leases(database, STATEMENTS, { leaseMs, backoff: BACKOFF });
const readRow = async () => {
  const text = `
    SELECT lease_token AS token, extract(epoch FROM lease_until - clock_timestamp())::float8 AS "leaseSeconds",
      extract(epoch FROM due_at - clock_timestamp())::float8 AS "dueInSeconds" FROM leased`;
  const [row] = await database.query<{ token: string; leaseSeconds: number; dueInSeconds: number }>(text);
  return row!;
};
const isOver = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
/** Claims the row as another process would once the lease has expired. */
const takeOver = async () => {
  await database.query(`UPDATE leased SET lease_until = clock_timestamp() - interval '1 ms'`);
  await database.query(STATEMENTS.claim, ['row', '00000000-0000-4000-8000-000000000000', 60_000]);
};

describe('work under a lease', () => {
  it('is done by one process at a time, and the row is due again when the work says', async () => {
    let running = 0;
    const work = async () => {
      expect(++running).toBe(1);
      await sleep(20);
      running -= 1;
      return 90_000;
    };
    const done = await Promise.all(
      Array.from({ length: 8 }, () => process().runUnderLease('row', never, work)),
    );
    expect(done.filter((isDone) => isDone)).toHaveLength(1);
    const row = await readRow();
    expect(row).toMatchObject({ token: null, leaseSeconds: null });
    expect(row.dueInSeconds).toBeCloseTo(90, -1);
    expect(await process().runUnderLease('row', never, work)).toBe(false);
  });

  it('is due at the end of the lease if the row was made due meanwhile', async () => {
    await process().runUnderLease('row', never, async () => {
      await database.query(`UPDATE leased SET due_at = clock_timestamp() - interval '1 ms'`);
      return 90_000;
    });
    expect((await readRow()).dueInSeconds).toBeLessThanOrEqual(0);
  });

  it('is claimed from a lost process once its lease has expired, although the row was not due', async () => {
    await process(1).runUnderLease('row', never, async () => {
      const claim = () => process().runUnderLease('row', never, async () => 0);
      await waitFor('the lease to expire', claim);
      return 0;
    });
  });

  it('renews the lease while it runs', async () => {
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'queueMicrotask', 'setImmediate'] });
    const renewals = jest.spyOn(database, 'query');
    await process(60_000).runUnderLease('row', never, async (lease) => {
      const endsAt = performance.now() + 150_000;
      await waitFor('two and a half leases to pass', async () => {
        // No time passes during a renewal, however slow it is.
        await Promise.all(renewals.mock.results.map(({ value }) => value));
        jest.advanceTimersByTime(5_000);
        return performance.now() > endsAt;
      });
      const isRenewal = ([statement]: Parameters<Database['query']>) => statement === STATEMENTS.renew;
      expect(renewals.mock.calls.filter(isRenewal).length).toBeGreaterThan(3);
      expect([lease.isCertain(), lease.signal.aborted]).toEqual([true, false]);
      return 0;
    });
    renewals.mockRestore();
    jest.useRealTimers();
  });

  it('notices that another process has the lease, which it then neither renews nor releases', async () => {
    let lost: Lease | undefined;
    await process(400).runUnderLease('row', never, async (lease) => {
      await takeOver();
      await isOver(lease.signal);
      lost = lease;
      return 0;
    });
    expect(lost!.isCertain()).toBe(false);
    const { token, leaseSeconds } = await readRow();
    expect([token === lost!.token, leaseSeconds > 50]).toEqual([false, true]);
  });

  it('ends when the lease may have expired, because the database does not respond', async () => {
    const query = database.query.bind(database);
    const silent = jest
      .spyOn(database, 'query')
      .mockImplementation(async (statement, ...rest) =>
        statement === STATEMENTS.renew ? new Promise<never>(() => {}) : query(statement, ...rest),
      );
    const leases = process(100);
    const run = leases.runUnderLease('row', never, async (lease) => {
      await isOver(lease.signal);
      expect(lease.isCertain()).toBe(false);
      silent.mockRestore();
      await takeOver();
      return 0;
    });
    // The hanging renewal delays only the end of `runUnderLease`, not the end of the work.
    await waitFor('another to have the lease', async () => (await readRow()).leaseSeconds > 50);
    void run;
  });

  it('can be done soon after the response to a claim was lost', async () => {
    const query = database.query.bind(database);
    const lost = jest.spyOn(database, 'query').mockImplementationOnce(async (...claim) => {
      await query(...claim);
      throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
    });
    await expect(process().runUnderLease('row', never, async () => 0)).rejects.toThrow('terminated');
    lost.mockRestore();
    await waitFor('the row to be free', () => process().runUnderLease('row', never, async () => 0));
  });

  it('waits after a failure, longer each time, until the work succeeds', async () => {
    const leases = process();
    const fail = async () => {
      await database.query(`UPDATE leased SET due_at = clock_timestamp() - interval '1 ms'`);
      const failing = leases.runUnderLease('row', never, () => Promise.reject(new Error('no')));
      await expect(failing).rejects.toThrow('no');
      return (await readRow()).dueInSeconds;
    };
    for (const mostSeconds of [60, 120, 240, 240]) {
      const seconds = await fail();
      expect(seconds).toBeGreaterThan(mostSeconds / 2 - 5);
      expect(seconds).toBeLessThan(mostSeconds + 5);
    }
    await database.query(`UPDATE leased SET due_at = clock_timestamp() - interval '1 ms'`);
    expect(await leases.runUnderLease('row', never, async () => 0)).toBe(true);
    expect(await fail()).toBeLessThan(65);
  });

  it('ends when the process stops, and leaves the row due', async () => {
    const stopping = new AbortController();
    const run = process().runUnderLease('row', stopping.signal, async ({ signal }) => {
      await isOver(signal);
      return 0;
    });
    setTimeout(() => stopping.abort(), 5);
    expect(await run).toBe(true);
    expect(await process().runUnderLease('row', never, async () => 0)).toBe(true);
  });
});

it('renews the lease on a row that another statement has claimed, and does not release it', async () => {
  const leaseToken = '00000000-0000-4000-8000-000000000001';
  await database.query(
    `UPDATE leased SET lease_token = $1, lease_until = clock_timestamp() - interval '1 ms'`,
    [leaseToken],
  );
  await process(400).renewWhile({ id: 'row', leaseToken }, never, async () => {
    await waitFor('a renewal', async () => (await readRow()).leaseSeconds > 0.2);
  });
  expect((await readRow()).token).toBe(leaseToken);
});

describe('abandoned leases', () => {
  const testDatabase = useTestDatabase();
  const lease_token = randomUUID();
  const lease_until = new Date(0);

  const database = testDatabase.open();

  beforeAll(async () => {
    const { gridLocationId: grid_location_id } = await insertCustomer(database.pool);
    await insertRow(database.pool, 'session_starts', { grid_location_id, lease_token, lease_until });
    await insertRow(database.pool, 'registrations', { lease_token, lease_until, next_attempt_at: null });
  });

  describe.each([
    ['starts', FIND_EXPIRED_LEASES],
    ['registrations', FIND_LEASES],
  ])('an expired lease of %s', (_, statement) => {
    let now = 0;
    let isReadOnly = false;
    let leases: AbandonedLeases;

    const find = () =>
      database.transaction(async (tx) => {
        if (isReadOnly) await tx.query('SET TRANSACTION READ ONLY');
        return (await tx.query<{ lease: string }>(statement)).map(({ lease }) => lease);
      });
    const findAfter = (ms: number) => {
      now += ms;
      return leases.findSeen();
    };

    beforeEach(() => {
      leases = new AbandonedLeases(find);
      isReadOnly = false;
      jest.spyOn(performance, 'now').mockImplementation(() => now);
    });
    afterEach(() => {
      jest.restoreAllMocks();
    });

    it('may be ended once it has been seen for 4 s', async () => {
      expect(await findAfter(0)).toEqual([]);
      expect(await findAfter(3_999)).toEqual([]);
      expect(await findAfter(1)).toEqual([lease_token]);
    });

    it('may be ended only 4 s after the database can be written again, so that its process can return it', async () => {
      expect(await findAfter(0)).toEqual([]);
      isReadOnly = true;
      await expect(findAfter(60_000)).rejects.toMatchObject({ code: '25006' });
      isReadOnly = false;
      expect(await findAfter(1)).toEqual([]);
      expect(await findAfter(4_000)).toEqual([lease_token]);
    });
  });
});

describe('the heartbeat of a replica', () => {
  const beating = useTestDatabase();

  it('says since when its calls wait for the ceiling, through several heartbeats', async () => {
    const store = new ReplicasStore(beating.open());
    const silent = `UPDATE remote_replicas SET seen_at = 'yesterday', expires_at = 'yesterday'`;
    const pacedSince = async (isPaced: boolean) => {
      await beating.open().query(silent);
      await store.beat(60_000, { role: 'all', readsPerSecond: 1, isPaced, signs: QUIET });
      const text = `SELECT paced_since AS since FROM remote_replicas WHERE seen_at > 'today' AND expires_at > now()`;
      return (await beating.open().query<{ since: Date | null }>(text))[0]!.since?.getTime();
    };
    expect(await pacedSince(false)).toBeUndefined();
    const first = await pacedSince(true);
    expect(first).toBeGreaterThan(0);
    expect([await pacedSince(true), await pacedSince(true)]).toEqual([first, first]);
    expect(await pacedSince(false)).toBeUndefined();
    expect(await pacedSince(true)).toBeGreaterThan(first!);
  });

  it('has the reads of sessions per second in periods of ten seconds', async () => {
    await readBuild();
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    const figures: number[] = [];
    const lives = new Set<number>();
    const store: Pick<ReplicasStore, 'beat' | 'leave'> = {
      beat: async (lifeMs, { readsPerSecond }) => {
        lives.add(lifeMs);
        figures.push(readsPerSecond);
      },
      leave: async () => {},
    };
    const signs = new SignsOfLife(
      { budget: { isPaced: false } } as Remote,
      store as ReplicasStore,
      { use: { waitingSeconds: () => 0 }, hasNoSpace: () => false } as unknown as Database,
      { count: async () => QUIET } as unknown as RecentRequests,
      { ROLE: 'all' } as Environment,
    );
    signs.onModuleInit();
    for (let count = 0; count < 5; count += 1) signs.note('read_session', 0.1);
    signs.note('read_session', null);
    signs.note('start_session', 0.1);
    await jest.advanceTimersByTimeAsync(20_000);
    await signs.onApplicationShutdown();
    jest.useRealTimers();
    expect(figures).toEqual([0, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0]);
    expect([...lives]).toEqual([5_000]);
  });
});

describe('a draw of request tokens', () => {
  const database = useTestDatabase();

  const store = () => new OperationsStore(database.open());

  it('gives no two replicas tokens of the same time', async () => {
    const replicas = [store(), store(), store()];
    const beganAt = performance.now();
    const draws = await Promise.all(
      replicas.flatMap((replica) => Array.from({ length: 4 }, () => replica.drawTokens(1_000))),
    );
    const tookMs = performance.now() - beganAt;
    const inMs = draws.toSorted((a, b) => a - b);
    for (const [nth, ms] of inMs.entries()) {
      // At the start, the bucket still has the tokens of the last 100 ms.
      expect(ms).toBeGreaterThan(nth * 1_000 - 100 - tookMs - 1);
      expect(ms).toBeLessThan(nth * 1_000 + 1);
    }
  });

  it('gives tokens within a minute after the clock was set back', async () => {
    await database
      .open()
      .query(`UPDATE request_tokens SET drawn_until = clock_timestamp() + interval '1 day'`);
    expect(await store().drawTokens(10)).toBeLessThanOrEqual(60_000);
  });
});

describe('what all replicas know', () => {
  const migrated = useTestDatabase();
  const at = expect.any(Date);

  /** Returns a function that expects that a write changes the last row so, and nothing else, and one that reads this row. */
  async function watch(rows: () => Promise<Record<string, unknown>[]>) {
    const before = await rows();
    let row = before.pop()!;
    const change = async (write: () => Promise<unknown>, changes: object, result?: unknown) => {
      const returned = await write();
      if (result !== undefined) expect(returned).toBe(result);
      const after = await rows();
      expect(after).toEqual([...before, { ...row, ...changes }]);
      row = after.at(-1)!;
    };
    return [change, (name: string) => Number(row[name])] as const;
  }

  it('of an operation changes in its row alone', async () => {
    const shared = migrated.open();
    const store = new OperationsStore(shared);
    const rows = () =>
      shared.query<Record<string, unknown>>(
        `SELECT *, round(extract(epoch FROM quiet_until - now()) / 3600) AS hours, operation = 'start_session' AND ${isSent('start_session')} AS sent
           FROM remote_operations ORDER BY operation = 'start_session', operation`,
      );
    const [change, row] = await watch(rows);
    const set = (values: string) =>
      shared.query(`UPDATE remote_operations SET ${values} WHERE operation = 'start_session'`);
    await change(() => store.claimTrial('start_session', 60_000), {}, true);
    await change(() => store.closeBreaker('start_session'), {});
    const open = { open_until: at, failed_trials: 3, sent: false };
    await change(() => store.openBreaker('start_session', 60_000, 3), open);
    await change(() => store.openBreaker('start_session', 60_000, 1), { open_until: at });
    await change(() => store.claimTrial('start_session', 60_000), {}, false);
    await set(`open_until = now() - interval '1 ms'`);
    await change(() => store.claimTrial('start_session', 60_000), { open_until: at }, true);
    expect(row('open_until')).toBeGreaterThan(Date.now());
    const closed = { open_until: null, failed_trials: 0, sent: true };
    await change(() => store.closeBreaker('start_session'), closed);
    await change(() => store.quiet('start_session', 10_000_000), {
      quiet_until: at,
      hours: '1',
      sent: false,
    });
    await change(() => store.quiet('start_session', 1_000), {});
    const degraded = { health: 'degraded', reason: 'slow', since: at, trouble_until: at };
    const began = row('since');
    await change(() => store.degrade('start_session', 'slow', 60_000), degraded);
    expect(row('since')).toBeGreaterThan(began);
    await change(() => store.degrade('start_session', 'down', 1_000), { reason: 'down' });
    await change(() => store.recover('start_session', 'once_trouble_is_over'), {});
    const since = row('since');
    const healthy = { health: 'healthy', reason: null, since: at, trouble_until: null };
    await change(() => store.recover('start_session', 'now'), healthy);
    expect(row('since')).toBeGreaterThan(since);
    await change(() => store.recover('start_session', 'now'), {});
    await change(() => store.degrade('start_session', 'slow', 60_000), degraded);
    await set(`trouble_until = now() - interval '1 ms'`);
    await change(() => store.recover('start_session', 'once_trouble_is_over'), healthy);
    const names = await shared.query('SELECT name, subject FROM domain_events ORDER BY position');
    expect(names).toEqual(
      ['degraded', 'recovered', 'degraded', 'recovered'].map((name) => ({
        name: `remote.${name}`,
        subject: 'start_session',
      })),
    );
  });

  it('of refused credentials is neither slowness nor told twice', async () => {
    const shared = migrated.open();
    const text = `SELECT * FROM remote_operations ORDER BY operation = 'token', operation`;
    const [change] = await watch(() => shared.query(text));
    const reject = () => shared.transaction((tx) => rejectCredentials(tx, 'refused'));
    const degrade = () => new OperationsStore(shared).degrade('token', 'slow', 60_000);
    const degraded = { health: 'degraded', reason: 'slow', since: at, trouble_until: at };
    const rejected = { health: 'credentials_rejected', reason: 'refused', since: at, trouble_until: null };
    await change(degrade, degraded);
    await change(reject, rejected);
    await change(reject, {});
    await change(degrade, {});
    const recovered = { health: 'healthy', reason: null, since: at };
    await change(() => shared.transaction(acceptCredentials), recovered);
    const told = await shared.query('SELECT FROM domain_events WHERE subject = $1', ['token']);
    expect(told).toHaveLength(3);
  });

  it('of the token is written with its lease alone, and without the token of other credentials', async () => {
    const shared = migrated.open();
    const environment = environmentFor(migrated.url);
    const storeOf = (secret: string) =>
      new TokenStore(shared, new Cipher(environment), { ...environment, SCS_CLIENT_SECRET: secret });
    const [store, other] = [storeOf('ours'), storeOf('others')];
    const [change] = await watch(() => shared.query('SELECT * FROM remote_tokens'));
    const lease = randomUUID();
    const set = (data: object) => () => shared.prisma.remoteToken.updateMany({ data });
    const wait = () => change(set({ nextAttemptAt: tomorrow() }), { next_attempt_at: at });
    await wait();
    await change(() => store.claimProbe(), { probed_at: at, next_attempt_at: null }, true);
    await change(() => store.claimProbe(), {}, false);
    await change(set({ probedAt: new Date(0) }), { probed_at: new Date(0) });
    await change(set({ leaseToken: lease, leaseUntil: tomorrow() }), { lease_token: lease, lease_until: at });
    await change(() => store.claimProbe(), {}, false);
    const life = { lifetimeMs: 60_000 } as Token['life'];
    const token: Token = { value: 'secret', tokenType: 'Bearer', expiresInRaw: '60', life };
    const failure = { error: 'down', isRejected: false, isTrial: false, isAnnounced: false };
    const rejected = { ...failure, isRejected: true };
    const none = { rejected_at: null, failures: 0, last_error: null, next_attempt_at: null };
    const times = { obtained_at: at, renew_at: at, expires_at: at, token_ciphertext: expect.any(Uint8Array) };
    const failed = { last_error: 'down', credentials_fingerprint: expect.any(String) };
    await change(() => store.save(randomUUID(), token, 1, false), {}, null);
    await change(() => store.fail(randomUUID(), failure), {});
    await change(() => store.fail(lease, rejected), { ...failed, failures: 1, rejected_at: at });
    await change(() => store.fail(lease, failure), { failures: 2, rejected_at: null });
    await change(() => store.accept(randomUUID(), 'read_session'), {});
    await wait();
    await change(() => store.save(lease, token, 1, false), {
      ...{ ...none, ...times, generation: '1' },
      ...{ token_type: 'Bearer', expires_in_raw: '60' },
    });
    await change(() => store.fail(lease, rejected), { last_error: 'down', failures: 1 });
    await change(set({ expiresAt: new Date(0) }), { expires_at: new Date(0) });
    await change(() => store.fail(lease, rejected), { failures: 2, rejected_at: at });
    await change(() => store.accept(lease, 'read_session'), none);
    await change(() => store.fail(lease, { ...failure, isTrial: true }), {
      last_error: 'down',
      rejected_at: at,
    });
    await change(() => store.fail(lease, { ...rejected, isTrial: true }), { failures: 1 });
    await change(() => store.save(lease, token, 1, true), { ...times, generation: '2', last_error: null });
    await change(() => store.fail(lease, { ...rejected, isTrial: true }), {
      last_error: 'down',
      failures: 2,
    });
    await wait();
    await change(() => store.accept(lease, 'read_session'), none);
    await change(() => store.fail(lease, failure), { last_error: 'down', failures: 1 });
    const onTrial = { ...none, ...times, generation: '3', rejected_at: at };
    await change(() => store.save(lease, token, 1, true), onTrial);
    await change(() => store.fail(lease, { ...rejected, isTrial: true }), {
      last_error: 'down',
      failures: 1,
    });
    expect(await store.read()).toMatchObject({ isOurs: true, token: 'secret', failures: 1 });
    const refused = (operation: OperationClass) => ({ ...rejected, isTrial: true, operation });
    await change(() => store.fail(lease, refused('start_session')), {
      failures: 2,
      refused_operations: ['start_session'],
    });
    const both = ['start_session', 'read_session'];
    await change(() => store.fail(lease, refused('read_session')), {
      failures: 3,
      refused_operations: both,
    });
    await change(() => store.fail(lease, refused('read_session')), { failures: 4 });
    await change(() => store.fail(lease, refused('start_session')), {
      failures: 5,
      refused_operations: both.toReversed(),
    });
    await change(() => other.forgetRefusal('read_session'), {});
    await change(() => store.accept(lease, 'start_session'), {
      ...none,
      refused_operations: ['read_session'],
    });
    await change(() => store.save(lease, token, 1, false), { ...times, generation: '4' });
    expect((await store.read()).refusedOperations).toEqual(['read_session']);
    await change(() => store.forgetRefusal('read_session'), { refused_operations: [] });
    const ofOthers = {
      isOurs: false,
      isLeased: true,
      generation: 4,
      token: null,
      failures: 0,
      refusedOperations: [],
    };
    expect(await other.read()).toMatchObject(ofOthers);
    await change(() => other.fail(lease, refused('register_user')), {
      ...{ ...failed, failures: 1, rejected_at: at },
      ...{ token_ciphertext: null, refused_operations: ['register_user'] },
    });
    await change(() => store.save(lease, token, 1, true), {
      ...{ ...failed, ...times, generation: '5', last_error: null },
      refused_operations: [],
    });
  });
});

describe('the connection for notifications', () => {
  it('gives a hint when it listens, when it is lost, and when it listens again', async () => {
    const listener = new Listener({ DATABASE_DIRECT_URL: testDatabase.url } as Environment);
    const hints: boolean[] = [];
    listener.on('a_channel', () => void hints.push(listener.isListening));
    try {
      await waitFor('it to listen', () => hints.length === 1);
      await database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'pv-onboarding listen'`,
      );
      await waitFor('it to listen again', () => hints.length === 3);
    } finally {
      await listener.onApplicationShutdown();
    }
    expect(hints).toEqual([true, false, true]);
    expect(listener.isListening).toBe(false);
  });
});

describe('a task of the deployment', () => {
  const migrated = useTestDatabase();
  const task = { name: 'test.task', once: 'deployment' as const, everyMs: 60_000, startedAt: null };
  const read = () =>
    migrated
      .open()
      .query(
        `SELECT started_at <= ended_at AS ended, last_error, round(extract(epoch FROM due_at - ended_at)) AS pause FROM admin.tasks`,
      );
  const makeDue = () =>
    migrated.open().query(`UPDATE tasks SET due_at = clock_timestamp() - interval '1 ms'`);

  it('runs in one process, and in any of them when it is due again', async () => {
    const stores = [1, 2, 3].map(() => new TasksStore(migrated.open()));
    let runs = 0;
    const runEverywhere = () =>
      Promise.all(stores.map((store) => store.runOnce(task, never, async () => ++runs)));
    await Promise.all(stores.map((store) => store.record([task])));
    await runEverywhere();
    expect(runs).toBe(0);
    await makeDue();
    await runEverywhere();
    expect(runs).toBe(1);
    expect(await read()).toEqual([{ ended: true, last_error: null, pause: '60' }]);
    await makeDue();
    await runEverywhere();
    expect(runs).toBe(2);
  });

  it('shows why its last run failed, and is due at once if its process stopped', async () => {
    const store = new TasksStore(migrated.open());
    await makeDue();
    const failing = store.runOnce(task, never, () => Promise.reject(new Error('no space')));
    await expect(failing).rejects.toThrow('no space');
    expect(await read()).toMatchObject([{ ended: true, last_error: 'Error: no space' }]);
    await makeDue();
    const stop = new AbortController();
    await store.runOnce(task, stop.signal, async () => stop.abort());
    expect(await read()).toEqual([{ ended: true, last_error: null, pause: '0' }]);
  });
});
