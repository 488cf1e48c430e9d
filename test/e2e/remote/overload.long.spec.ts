import { describe, expect, it } from '@jest/globals';
import type { Remote } from '../../../src/remote/remote.service.js';
import { measureUntil, promise } from '../../faults/support/promise.js';
import { type RawServer, readSession, reply, startRawServer, startRemote } from './fixture.js';
import { closeAfterEach } from '../../setup/close-after-each.js';

const closing = closeAfterEach();

const CAP = 20;
const LATENCY_MS = 150;
const DUE = 1_000;

interface CappedServer extends RawServer {
  readonly served: () => number;
  /** The summed duration of all served requests. */
  readonly busyMs: () => number;
  readonly refused: () => number;
}

/** Starts a server that serves at most 20 requests at once, each in 150 ms, and refuses others. */
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

/** Starts `due` reads at once and retries each until it succeeds, as a poller does. */
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

/** Measures, after a warm-up, the used share of the server's capacity and the attempts per successful read. */
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

const fetchOnce = async (server: CappedServer): Promise<boolean> => (await fetch(server.url)).status === 200;

const readOnce = async (remote: Remote): Promise<boolean> => {
  const sent = await remote.send(readSession);
  return sent.kind === 'response' && sent.response.status === 200;
};

/** Measures a client that knows the server's capacity. A busy machine slows it down as much as ours. */
async function measureBest(): Promise<Figures> {
  const server = await startCapped();
  const gate = fixed(CAP);
  return measure(server, () => gate(() => fetchOnce(server)), { warmUp: 0, due: 200 });
}

async function measureOurs() {
  const best = await measureBest();
  const server = await startCapped();
  const remote = startRemote({ SCS_BASE_URL: server.url, SCS_MAX_CONCURRENCY: 100 });
  closing.push(() => remote.onApplicationShutdown());
  const ours = await measure(server, () => readOnce(remote), { warmUp: 200, due: DUE });
  return { ...ours, share: ours.goodput / best.goodput };
}

describe('R25: overload reduces the load', () => {
  it('finds the capacity of a service that refuses any excess', async () => {
    const figures = await measureUntil(
      ({ share, attemptsPerSuccess }) => share >= 0.8 && attemptsPerSuccess <= 1.1,
      measureOurs,
    );
    promise('R25', {
      figure: `goodput ${Math.round(figures.share * 100)} %, ${figures.attemptsPerSuccess.toFixed(2)} attempts per success`,
      bound: 'at least 80 %, at most 1.1',
    });
    expect(figures.attemptsPerSuccess).toBeLessThanOrEqual(1.1);
    expect(figures.share).toBeGreaterThanOrEqual(0.8);
  });

  it('turns red with a fixed concurrency', async () => {
    const server = await startCapped();
    const gate = fixed(100);
    const figures = await measure(server, () => gate(() => fetchOnce(server)), { warmUp: 0, due: 100 });
    expect(figures.attemptsPerSuccess).toBeGreaterThan(1.1);
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
