import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Remote } from '../../../src/remote/remote.service.js';
import { caught, promise } from '../../faults/support/promise.js';
import { waitFor } from '../../setup/wait-for.js';
import {
  type RawRequest,
  type RawServer,
  readSession,
  registerUser,
  reply,
  startRawServer,
  startRemote,
} from './fixture.js';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const CAP = 20;
const LATENCY_MS = 150;
const DUE = 1_000;

interface CappedServer extends RawServer {
  readonly served: () => number;
  /** How long its places were taken, all added up. */
  readonly busyMs: () => number;
  readonly refused: () => number;
}

/** Serves 20 at once, each in 150 ms, and refuses the rest at once. */
async function startCapped(): Promise<CappedServer> {
  let busy = 0;
  let served = 0;
  let refused = 0;
  let busyMs = 0;
  const server = await startRawServer((socket) => {
    if (busy >= CAP) {
      refused++;
      socket.write(reply(refused % 2 === 0 ? 429 : 503, ''));
      return;
    }
    busy++;
    const takenAt = performance.now();
    setTimeout(() => {
      busy--;
      busyMs += performance.now() - takenAt;
      served++;
      socket.write(reply(200, '{}'));
    }, LATENCY_MS);
  });
  closing.push(server.close);
  return Object.assign(server, { served: () => served, refused: () => refused, busyMs: () => busyMs });
}

/** As a poller does it: everything due at once, and what failed again until it succeeds. */
async function readAll(read: () => Promise<boolean>, due: number): Promise<void> {
  await Promise.all(
    Array.from({ length: due }, async () => {
      while (!(await read()));
    }),
  );
}

interface Figures {
  readonly goodput: number;
  readonly attemptsPerSuccess: number;
}

/** Once warmed up: which share of the service's places was in use, and the load that took. */
async function measure(
  server: CappedServer,
  read: () => Promise<boolean>,
  reads: { readonly warmUp: number; readonly due: number },
): Promise<Figures> {
  await readAll(read, reads.warmUp);
  const [served, refused, busyMs, startedAt] = [
    server.served(),
    server.refused(),
    server.busyMs(),
    performance.now(),
  ];
  await readAll(read, reads.due);
  return {
    goodput: (server.busyMs() - busyMs) / ((performance.now() - startedAt) * CAP),
    attemptsPerSuccess: 1 + (server.refused() - refused) / (server.served() - served),
  };
}

const isRead = async (remote: Remote): Promise<boolean> => {
  const sent = await remote.send(readSession);
  return sent.kind === 'answered' && sent.answer.status === 200;
};

describe('R25: overload is answered with less', () => {
  it('finds what a service takes that refuses what is beyond it', async () => {
    const server = await startCapped();
    const remote = startRemote({ SCS_BASE_URL: server.url, SCS_MAX_CONCURRENCY: 100 });
    closing.push(() => remote.onApplicationShutdown());
    const figures = await measure(server, () => isRead(remote), { warmUp: 200, due: DUE });
    promise('R25', {
      figure: `goodput ${Math.round(figures.goodput * 100)} %, ${figures.attemptsPerSuccess.toFixed(2)} attempts per success`,
      bound: 'at least 80 %, at most 1.1',
    });
    expect(figures.attemptsPerSuccess).toBeLessThanOrEqual(1.1);
    expect(figures.goodput).toBeGreaterThanOrEqual(0.8);
  });

  it('would be red with a fixed concurrency', async () => {
    const server = await startCapped();
    // One connection per call and 100 calls at once, whatever the answers.
    const read = async () => (await fetch(server.url)).status === 200;
    const gate = fixed(100);
    const figures = await measure(server, () => gate(read), { warmUp: 0, due: 100 });
    expect(figures.attemptsPerSuccess).toBeGreaterThan(1.1);
    caught('R25', 'fixed concurrency');
  });
});

function fixed(limit: number): (work: () => Promise<boolean>) => Promise<boolean> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    running++;
    try {
      return await work();
    } finally {
      running--;
      waiting.shift()?.();
    }
  };
}

async function serve(
  answer: (socket: Socket, request: RawRequest) => void,
): Promise<{ server: RawServer; remote: Remote }> {
  const server = await startRawServer(answer);
  const remote = startRemote({ SCS_BASE_URL: server.url });
  closing.push(server.close, () => remote.onApplicationShutdown());
  return { server, remote };
}

describe('a service in trouble', () => {
  it('is left alone for as long as Retry-After says, in that class of operations only', async () => {
    const { server, remote } = await serve((socket, { method }) =>
      socket.write(method === 'GET' ? reply(429, '', { 'retry-after': '2' }) : reply(200, '{}')),
    );
    await remote.send(readSession);
    for (let i = 0; i < 50; i++) {
      expect(await remote.send(readSession)).toMatchObject({
        kind: 'not_sent',
        reason: 'rate_limited',
        retryAfterMs: expect.any(Number),
      });
    }
    expect(server.requests).toHaveLength(1);
    expect(await remote.send(registerUser)).toMatchObject({ kind: 'answered' });
    expect(remote.status().operations).toMatchObject({
      read_session: { health: 'unavailable', lastError: 'status 429' },
      register_user: { health: 'healthy', lastError: null },
    });
    await waitFor(
      'the end of the wait',
      async () => (await remote.send(readSession)).kind === 'answered',
      3_000,
    );
  });

  it('is asked by one probe at a time once it is down, and by all when it is back', async () => {
    let down = true;
    const { server, remote } = await serve((socket) => socket.write(reply(down ? 500 : 200, '{}')));
    await Promise.all(Array.from({ length: 100 }, () => remote.send(readSession)));
    expect(remote.status().operations.read_session.breaker).toBe('open');
    const asked = server.requests.length;
    // Those in flight when it opened, and the retries that the budget allows.
    expect(asked).toBeLessThan(40);
    await Promise.all(Array.from({ length: 100 }, () => remote.send(readSession)));
    expect(server.requests).toHaveLength(asked);
    down = false;
    await waitFor(
      'a probe to succeed',
      async () => (await remote.send(readSession)).kind === 'answered',
      3_000,
    );
    expect(server.requests).toHaveLength(asked + 1);
    expect(remote.status().operations.read_session).toMatchObject({ breaker: 'closed', health: 'healthy' });
  });

  it('gets at most a tenth more reads for its failures, once the first few have been repeated', async () => {
    let calls = 0;
    // Half of the reads fail, so the breaker stays closed: every second, never many in a row.
    const { server, remote } = await serve((socket) =>
      socket.write(reply(calls++ % 3 === 0 ? 502 : 200, '{}')),
    );
    for (let i = 0; i < 300; i++) await remote.send(readSession);
    expect(server.requests.length).toBeLessThanOrEqual(300 + 30 + 10);
    expect(server.requests.length).toBeGreaterThan(310);
  });
});
