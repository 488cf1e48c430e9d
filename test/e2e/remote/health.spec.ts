import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { RecentRequests } from '../../../src/platform/metrics/recent-requests.js';
import type { RemoteRequest } from '../../../src/remote/outcome.rules.js';
import { TRIALS } from '../../../src/remote/pace/breaker.rules.js';
import type { Remote } from '../../../src/remote/remote.service.js';
import { OperationsStore } from '../../../src/remote/shared/operations.store.js';
import { ReplicasStore } from '../../../src/status/signs/replicas.store.js';
import { SignsOfLife } from '../../../src/status/signs/signs-of-life.service.js';
import { type RemoteReplica, startRemoteReplica } from '../../faults/support/remote-replica.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import {
  createTestDatabase,
  type TestDatabase,
  useTestDatabases,
} from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import { replicaEnvironment, startReplica, startTokenService, type TokenService } from '../auth/fixture.js';
import {
  type RawServer,
  readSession,
  registerUser,
  remoteEnvironment,
  reply,
  startRawServer,
  startRemote,
  startSession,
} from './fixture.js';

describe('the events about the remote service', () => {
  interface Announced {
    readonly name: string;
    readonly subject: string;
    readonly data: Readonly<Record<string, string | null>>;
  }

  const closing = closeAfterEach();
  const database = useTestDatabases();
  let client: pg.Client;

  beforeEach(async () => {
    client = await database.connect();
  });

  const announced = async (): Promise<Announced[]> =>
    (await client.query<Announced>(`SELECT name, subject, data FROM domain_events ORDER BY position`)).rows;
  const names = async (): Promise<string[]> => (await announced()).map(({ name }) => name);
  const health = async (operation: string): Promise<string | undefined> =>
    (
      await client.query<{ health: string }>('SELECT health FROM admin.remote_health WHERE operation = $1', [
        operation,
      ])
    ).rows[0]?.health;

  describe('the health of the remote service', () => {
    let down: boolean;
    let server: RawServer;

    beforeEach(async () => {
      down = true;
      server = await startRawServer((socket) => socket.write(reply(down ? 500 : 200, '{}')));
      closing.push(server.close);
    });

    async function start(count: number): Promise<RemoteReplica[]> {
      const settings = { DATABASE_URL: database.url, SCS_BASE_URL: server.url };
      const replicas = await Promise.all(Array.from({ length: count }, () => startRemoteReplica(settings)));
      for (const replica of replicas) closing.push(replica.close);
      return replicas;
    }

    const call = ({ remote }: RemoteReplica) => remote.send(readSession);
    const failOften = (replica: RemoteReplica) =>
      Promise.all(Array.from({ length: 20 }, () => call(replica)));

    it('is announced once when it fails and once when it recovers, however many replicas detect it', async () => {
      const replicas = await start(3);
      await Promise.all(replicas.map(failOften));
      expect(replicas.map(({ remote }) => remote.status().operations.read_session.breaker)).toEqual(
        Array(3).fill('open'),
      );
      await waitFor('every announcement', () => replicas.every(({ state }) => state['writing'].size === 0));
      down = false;
      for (const replica of replicas) {
        await waitFor('its probe', async () => (await call(replica)).kind === 'response');
      }
      await waitFor('the recovery', async () => (await names()).includes('remote.recovered'));
      // Closes the replicas, which waits until they have written their events.
      for (const close of closing.splice(1)) await close();
      expect(await announced()).toEqual([
        {
          name: 'remote.degraded',
          subject: 'read_session',
          data: { operation: 'read_session', reason: 'status 500', since: expect.any(String) },
        },
        {
          name: 'remote.recovered',
          subject: 'read_session',
          data: {
            operation: 'read_session',
            from: 'degraded',
            since: expect.any(String),
            recoveredAt: expect.any(String),
          },
        },
      ]);
      expect(await health('read_session')).toBe('healthy');
    });

    it('stays degraded while one replica has trouble, and recovers by another replica once that trouble is over', async () => {
      const [first, second] = await start(2);
      await failOften(first!);
      await waitFor('the announcement', async () => (await health('read_session')) === 'degraded');
      down = false;
      await call(second!);
      // Gives the second replica, whose call has just succeeded, time to announce a recovery.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(await names()).toEqual(['remote.degraded']);
      // Simulates that the first replica died: the trouble that it reported expires.
      await client.query(
        `UPDATE remote_operations SET trouble_until = clock_timestamp() - interval '1 ms' WHERE health = 'degraded'`,
      );
      await call(second!);
      await waitFor('the recovery', async () => (await names()).includes('remote.recovered'));
    });

    it('is announced when the service requests a wait of a minute or longer, but not for a shorter one', async () => {
      const [replica] = await start(1);
      let retryAfter = '30';
      server = await startRawServer((socket) => socket.write(reply(503, '', { 'retry-after': retryAfter })));
      closing.push(server.close);
      const settings = { DATABASE_URL: database.url, SCS_BASE_URL: server.url };
      const waiting = await startRemoteReplica(settings);
      closing.push(waiting.close);
      await waiting.remote.send(registerUser);
      retryAfter = '60';
      await call(waiting);
      await waitFor('the announcement', async () => (await announced()).length > 0);
      expect(await announced()).toMatchObject([
        {
          name: 'remote.degraded',
          subject: 'read_session',
          data: { reason: 'status 503, asked to wait for 60 s' },
        },
      ]);
      expect(await health('register_user')).toBe('healthy');
      const seen = () => replica!.remote.status().operations.read_session.health;
      await waitFor('the other replica to know', () => seen() === 'unavailable');
    });
  });

  it('a shorter trouble changes the reason of a longer one, but ends neither it nor the degradation', async () => {
    const store = new OperationsStore(database.open());
    const state = async () => {
      const { rows } = await client.query<object>(
        `SELECT health, reason, trouble_until > now() + interval '50 min' AS "isLong" FROM remote_operations WHERE operation = 'read_session'`,
      );
      return Object.values(rows[0]!);
    };
    await store.degrade('read_session', 'first', 3_600_000);
    expect(await state()).toEqual(['degraded', 'first', true]);
    await store.degrade('read_session', 'second', 1_000);
    await store.recover('read_session', 'once_trouble_is_over');
    expect(await state()).toEqual(['degraded', 'second', true]);
    await store.recover('read_session', 'now');
    expect(await state()).toEqual(['healthy', null, null]);
  });

  describe('a call', () => {
    const respond = async (status: number, headers: Record<string, string> = {}) => {
      const server = await startRawServer((socket) => socket.write(reply(status, '{}', headers)));
      closing.push(server.close);
      const settings = { DATABASE_URL: database.url, SCS_BASE_URL: server.url };
      const replica = await startRemoteReplica(settings);
      closing.push(replica.close);
      return replica;
    };

    it.each([
      [200, 'a success, with its duration', expect.any(Number)],
      [401, 'a failure', null],
      [429, 'a failure', null],
      [500, 'a failure', null],
    ])('that gets %i is counted as %s', async (status, _, counted) => {
      const { remote, database: own } = await respond(status);
      const signs = new SignsOfLife(
        remote,
        new ReplicasStore(own),
        own,
        new RecentRequests(new Metrics()),
        remoteEnvironment({}),
      );
      const noted = jest.spyOn(signs, 'note');
      await remote.send(registerUser);
      expect(noted.mock.calls).toEqual([['register_user', counted]]);
    });

    it('that is asked to wait records the rest of the wait, if it could not be recorded at once', async () => {
      const { remote, database: own } = await respond(503, { 'retry-after': '30' });
      const waits: number[] = [];
      const query = own.query.bind(own);
      jest.spyOn(own, 'query').mockImplementation((statement, values, ...more) => {
        const isWait = JSON.stringify(statement).includes('quiet_until = greatest');
        if (isWait && waits.push(Number(values![1])) === 1)
          return Promise.reject(Object.assign(new Error('Connection terminated'), { code: '08006' }));
        return query<never>(statement, values, ...more);
      });
      await remote.send(registerUser);
      await waitFor('it is recorded', () => waits.length === 2);
      expect(waits[0]).toBeLessThanOrEqual(30_000);
      expect(waits[1]).toBeLessThan(waits[0]! - 10);
    });
  });

  describe('rejected credentials', () => {
    let service: TokenService;

    beforeEach(async () => {
      service = await startTokenService();
      closing.push(service.close);
    });

    function start(overrides: Record<string, string> = {}) {
      const replica = startReplica({ ...replicaEnvironment(database.url, service), ...overrides });
      closing.push(replica.close);
      return replica;
    }

    it('are announced once while fresh tokens are refused, and once when they are accepted again', async () => {
      const [one, other] = [start(), start()];
      service.refuseCalls = true;
      await Promise.all([one.read(), other.read(), one.read()]);
      await waitFor('a second trial', async () => {
        await other.read();
        return ((await other.store.getStatus()).failures ?? 0) >= 2;
      });
      expect(await announced()).toEqual([
        {
          name: 'remote.credentials_rejected',
          subject: 'token',
          data: {
            operation: 'token',
            reason: 'the service refused a fresh token',
            since: expect.any(String),
          },
        },
      ]);
      // An end of other trouble does not end it.
      await new OperationsStore(one.database).recover('token', 'now');
      expect(await health('token')).toBe('credentials_rejected');
      service.refuseCalls = false;
      await client.query('UPDATE remote_tokens SET next_attempt_at = NULL');
      await waitFor('a call to be accepted', async () => (await one.read()).kind === 'response');
      expect((await announced()).slice(1)).toMatchObject([
        {
          name: 'remote.recovered',
          subject: 'token',
          data: { operation: 'token', from: 'credentials_rejected' },
        },
      ]);
      expect(await health('token')).toBe('healthy');
    });
  });
});

describe('trials', () => {
  const BASE = '/api/v1/ssa';
  const closing = closeAfterEach();

  /** The status of the responses to the base probe, to POSTs and to reads. */
  let status: { base: number; post: number; read: number };
  let server: RawServer;

  beforeEach(async () => {
    status = { base: 503, post: 503, read: 503 };
    server = await startRawServer((socket, { method, path }) =>
      socket.write(reply(method === 'POST' ? status.post : path === BASE ? status.base : status.read, '{}')),
    );
    closing.push(server.close);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const posts = (): number => server.requests.filter(({ method }) => method === 'POST').length;
  const probes = () => server.requests.filter(({ path }) => path === BASE);
  const isSent = async (remote: Remote, request: RemoteRequest): Promise<boolean> =>
    (await remote.send(request)).kind === 'response';

  function connect(): Remote {
    const remote = startRemote({ SCS_BASE_URL: server.url });
    closing.push(() => remote.onApplicationShutdown());
    return remote;
  }

  async function failOften(remote: Remote, request = registerUser): Promise<void> {
    for (let call = 0; call < 5; call++) await remote.send(request);
    expect(await remote.send(request)).toMatchObject({ kind: 'not_sent', reason: 'breaker_open' });
  }

  describe.each([
    ['a registration', registerUser],
    ['a start', startSession],
  ])('%s after failures', (_, request) => {
    it('is not sent before the base probe has shown that the service is up', async () => {
      const remote = connect();
      await failOften(remote, request);
      const refused = await waitFor('a base probe', async () => {
        const sent = await remote.send(request);
        return probes().length === 1 && sent;
      });
      expect(refused).toMatchObject({ kind: 'not_sent', reason: 'breaker_open' });
      expect(posts()).toBe(5);
      expect(probes()[0]).toMatchObject({ method: 'GET', headers: { apikey: expect.any(String) } });
      expect(probes()[0]!.headers).not.toHaveProperty('authorization');

      Object.assign(status, { base: 200, post: 200 });
      await waitFor('the recovery', () => isSent(remote, request));
      expect(await isSent(remote, request)).toBe(true);
      expect([posts(), probes().length]).toEqual([7, 2]);
    });
  });

  describe('the base probe', () => {
    it('is not needed while reads are served', async () => {
      const remote = connect();
      await failOften(remote);
      Object.assign(status, { post: 200, read: 200 });
      await remote.send(readSession);
      await waitFor('the recovery', () => isSent(remote, registerUser));
      expect(probes()).toHaveLength(1);
    });
  });

  describe('replicas', () => {
    let database: TestDatabase;

    beforeEach(async () => {
      database = await createTestDatabase();
      closing.push(() => database.drop());
    });

    async function join(): Promise<RemoteReplica> {
      const replica = await startRemoteReplica({ DATABASE_URL: database.url, SCS_BASE_URL: server.url });
      closing.push(replica.close);
      return replica;
    }

    /**
     * Waits until the breaker is open in all replicas. Then lets them send registrations until two trials have been sent. Returns the times
     * of the trials.
     */
    async function tryOut(): Promise<number[]> {
      status.base = 200;
      jest.replaceProperty(TRIALS, 'register_user', { ...TRIALS.register_user!, firstMs: 2_000 });
      const replicas = await Promise.all([join(), join(), join()]);
      await failOften(replicas[0].remote);
      await waitFor('the others to know', () =>
        replicas.every(({ remote }) => remote.status().operations.register_user.breaker === 'open'),
      );
      const lost = posts();
      expect(lost).toBe(5);
      const trials: number[] = [];
      await waitFor('two trials', async () => {
        await Promise.all(replicas.map(({ remote }) => remote.send(registerUser)));
        for (let nth = trials.length; nth < posts() - lost; nth++) trials.push(performance.now());
        return trials.length >= 2;
      });
      return trials;
    }

    it('lose one registration per trial to a service that fails only for them, and wait longer after each', async () => {
      const [first, second] = await tryOut();
      // The second trial is due at least 1.6 s after the first.
      expect(second! - first!).toBeGreaterThan(1_000);
    });

    it('know of the outage when they start, and of its end by one of them', async () => {
      const first = await join();
      await failOften(first.remote);
      await waitFor('it is stored', () => first.state['writing'].size === 0);
      const [second, third] = [await join(), await join()];
      for (const { remote } of [second, third])
        expect(remote.status().operations.register_user.breaker).toBe('open');
      Object.assign(status, { base: 200, post: 200 });
      await waitFor('the trial', () => isSent(second.remote, registerUser));
      await waitFor('the other one', () => isSent(third.remote, registerUser));
      expect(posts()).toBe(7);
    });
  });
});
