import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TRIALS } from '../../../src/remote/pace/breaker.rules.js';
import type { RemoteRequest } from '../../../src/remote/outcome.rules.js';
import type { Remote } from '../../../src/remote/remote.service.js';
import { type RemoteReplica, startRemoteReplica } from '../../faults/support/remote-replica.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import {
  type RawServer,
  readSession,
  registerUser,
  reply,
  startRawServer,
  startRemote,
  startSession,
} from './fixture.js';

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
