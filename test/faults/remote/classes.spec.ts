import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CallQueue } from '../../../src/remote/pace/call-queue.js';
import type { CallClass, RemoteRequest } from '../../../src/remote/outcome.rules.js';
import { readSession, reply, type RawServer, startRawServer } from '../../e2e/remote/fixture.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import { isLong, itAtLength, measureUntil, promise } from '../support/promise.js';
import { type RemoteReplica, startRemoteReplica } from '../support/remote-replica.js';

const PER_SECOND = 2;
const CALLERS = 3;
const MEASURED_CALLS = isLong ? 40 : 18;
/** For each class, the maximum number of turns of other classes before its next turn. At the allowed rate, a turn takes half a second. */
const BOUNDS: Readonly<Record<CallClass, number>> = {
  'foreground change': 5,
  'foreground read': 5,
  'background change': 8,
  'background read': 12,
};
const CLASSES = Object.keys(BOUNDS) as CallClass[];

let database: TestDatabase;
let server: RawServer;
let replica: RemoteReplica;
let calling: boolean;
let callers: Promise<void>[];
let arrivals: string[];

beforeEach(async () => {
  [calling, callers, arrivals] = [true, [], []];
  database = await createTestDatabase();
  server = await startRawServer((socket, { path }) => {
    arrivals.push(decodeURIComponent(path.split('?')[1]!));
    socket.write(reply(200, '{}'));
  });
  replica = await startRemoteReplica({
    DATABASE_URL: database.url,
    SCS_BASE_URL: server.url,
    SCS_TIMEOUT_MS: 10_000,
    SCS_MAX_REQUESTS_PER_SECOND: PER_SECOND,
  });
});
afterEach(async () => {
  calling = false;
  jest.restoreAllMocks();
  await replica.close();
  await Promise.all(callers);
  await server.close();
  await database.drop();
});

const requestOf = (name: CallClass): RemoteRequest => {
  const request: RemoteRequest = name.endsWith('read')
    ? readSession
    : { operation: 'start_session', method: 'POST', path: '/api/v1/ssa/onboarding/pv/1' };
  const priority = name.startsWith('foreground') ? 'foreground' : 'background';
  return { ...request, priority, path: `${request.path}?${encodeURIComponent(name)}` };
};

/**
 * Lets several callers of every class call without a pause, until `calls` calls have arrived. `gaps`: for each class, the greatest number
 * of turns until its next turn.
 */
async function measure(calls: number) {
  const call = async (name: CallClass): Promise<void> => {
    while (calling) {
      const { kind } = await replica.remote.send(requestOf(name));
      if (kind === 'not_sent') await sleep(20);
    }
  };
  if (callers.length === 0)
    callers = CLASSES.flatMap((name) => Array.from({ length: CALLERS }, () => call(name)));
  await waitFor('the first call', () => arrivals.length > 0);
  arrivals = [];
  const startedAt = performance.now();
  await waitFor(`${calls} calls`, () => arrivals.length >= calls);
  const seconds = (performance.now() - startedAt) / 1_000;
  const gaps = CLASSES.map((name) => {
    const turns = arrivals.flatMap((arrival, turn) => (arrival === name ? [turn] : []));
    return Math.max(...[...turns, arrivals.length].map((turn, nth) => turn - (turns[nth - 1] ?? -1)));
  });
  return { gaps, perSecond: arrivals.length / seconds };
}

describe('R44: no class of calls starves another', () => {
  it('gives each class turns within its bound at two requests per second', async () => {
    const { gaps, perSecond } = await measureUntil(
      (figure) =>
        CLASSES.every((name, nth) => figure.gaps[nth]! <= BOUNDS[name]) &&
        figure.perSecond >= 0.9 * PER_SECOND,
      () => measure(MEASURED_CALLS),
    );
    promise('R44', {
      figure: `turns until the next call: ${CLASSES.map((name, nth) => `${name} ${gaps[nth]}`).join(', ')}`,
      bound: CLASSES.map((name) => BOUNDS[name]).join(', '),
    });
    for (const [nth, name] of CLASSES.entries())
      expect([name, gaps[nth]! <= BOUNDS[name]]).toEqual([name, true]);
    if (!isLong) return;
    expect(perSecond).toBeGreaterThanOrEqual(0.9 * PER_SECOND);
    expect(perSecond).toBeLessThanOrEqual(1.1 * PER_SECOND);
  });

  itAtLength('turns red when the foreground always goes first', async () => {
    const prototype = CallQueue.prototype as unknown as {
      waiting: Record<CallClass, Set<unknown>>;
      next(): CallClass | undefined;
    };
    jest.spyOn(prototype, 'next').mockImplementation(function (this: typeof prototype) {
      return CLASSES.find((name) => this.waiting[name].size > 0);
    });
    const { gaps } = await measure(BOUNDS['background read'] + 2);
    expect(gaps[3]).toBeGreaterThan(BOUNDS['background read']);
  });
});
