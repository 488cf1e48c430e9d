import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, CREDENTIALS, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { inTime, isLong, itAtLength, measureUntil, promise } from '../support/promise.js';
import { sendUnread, type UnreadRequests } from '../support/input/unread-requests.js';

if (isLong) jest.setTimeout(300_000);

const CONNECTIONS = 200;
/** The number of connections in the run with the seeded bug, which needs memory for each connection. */
const CONNECTIONS_OF_BUG = 16;
const REQUESTS = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_500);
const GROWTH_MB = 64;
const SLOWER = 4;
/** Latency below this is caused by a busy machine rather than by the attack. */
const FLOOR_MS = 25;
const OTHERS = 4;
const [ROUNDS, ROUND_MS] = isLong ? [10, 2_000] : [1, 1_500];

const p99Of = (waits: readonly number[]): number =>
  waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)]!;

describe('R62: unread responses cost no memory', () => {
  let database: TestDatabase;
  let service: TestProcess;
  let unread: UnreadRequests | undefined;

  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    unread?.leave();
    await service.stop('SIGKILL');
    await database.drop();
  });

  const environment = () => ({
    ...testEnvironment(),
    ...CREDENTIALS,
    DATABASE_URL: database.url,
    SCS_BASE_URL: 'http://127.0.0.1:9',
    ROLE: 'api',
  });

  async function memoryMb(): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / 1024 / 1024;
  }

  async function ask(path: string): Promise<number> {
    const beganAt = performance.now();
    const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
    await response.text();
    expect(response.status).toBe(200);
    return performance.now() - beganAt;
  }

  /** Runs other clients for `ms`. Returns the latencies of their requests in milliseconds. */
  async function waitsOfOthers(ms: number): Promise<number[]> {
    const waits: number[] = [];
    const until = performance.now() + ms;
    const client = async (): Promise<void> => {
      while (performance.now() < until) waits.push(await ask('/api/v1/users?limit=10'));
    };
    await Promise.all(Array.from({ length: OTHERS }, client));
    return waits;
  }

  /** Sends requests and reads no response. Measures memory growth during this call only, because earlier requests grow the heap by over 100 MB. */
  async function attack(): Promise<{ readonly waits: number[]; readonly growthMb: number }> {
    const beforeMb = await memoryMb();
    const others = waitsOfOthers(ROUND_MS);
    unread = await sendUnread(service.url, CONNECTIONS, REQUESTS);
    const filledMb = await memoryMb();
    const waits = await others;
    const growthMb = Math.max(filledMb, await memoryMb()) - beforeMb;
    expect(unread.open()).toBe(CONNECTIONS);
    unread.leave();
    return { waits, growthMb };
  }

  /** Measures a new process, because memory that an earlier attack has taken would hide growth. */
  async function measure() {
    service = await startServiceProcess(environment());
    await waitsOfOthers(ROUND_MS);
    await ask('/openapi.json');
    const quiet: number[] = [];
    const meanwhile: number[] = [];
    let growthMb = 0;
    // Alternates, so that other load on this machine affects both measurements equally.
    for (let round = 0; round < ROUNDS; round += 1) {
      quiet.push(...(await waitsOfOthers(ROUND_MS)));
      const attacked = await attack();
      meanwhile.push(...attacked.waits);
      growthMb = Math.max(growthMb, attacked.growthMb);
    }
    await service.stop('SIGKILL');
    const [quietMs, meanwhileMs] = [p99Of(quiet), p99Of(meanwhile)];
    return { growthMb, quietMs, meanwhileMs, longestMs: SLOWER * Math.max(FLOOR_MS, quietMs) };
  }

  it('200 connections with 1,500 requests each that read nothing: memory does not grow, others are served as before', async () => {
    const { growthMb, quietMs, meanwhileMs, longestMs } = await measureUntil(
      (figure) => figure.growthMb < GROWTH_MB && figure.meanwhileMs < figure.longestMs,
      measure,
    );
    promise('R62', {
      figure: `${Math.round(growthMb)} MB more, p99 of others ${quietMs.toFixed(1)} ms without and ${meanwhileMs.toFixed(1)} ms meanwhile`,
      bound: `${GROWTH_MB} MB, ${longestMs.toFixed(0)} ms`,
    });
    expect(growthMb).toBeLessThan(GROWTH_MB);
    expect(meanwhileMs).toBeLessThan(inTime(longestMs));
  });

  itAtLength('turns red when all input of a connection is parsed at once', async () => {
    service = await startTestProcess('test/faults/support/processes/eager-parser.process.ts', environment());
    await ask('/openapi.json');
    const before = await memoryMb();
    unread = await sendUnread(service.url, CONNECTIONS_OF_BUG, REQUESTS);
    await waitFor('the memory to grow', async () => (await memoryMb()) - before > GROWTH_MB);
  });
});
