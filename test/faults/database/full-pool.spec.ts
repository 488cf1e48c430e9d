import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database } from '../../../src/platform/database/database.js';
import { startTestApp } from '../../setup/test-app.js';
import { inTime, itAtLength, promise } from '../support/promise.js';

const CONNECTION_WAIT_MS = 5_000;
const TOLERANCE_MS = 200;
const POOL_SIZE = 4;
const REQUESTS = 8;
/** Time between the starts of two requests. */
const APART_MS = 100;

interface Answered {
  readonly status: number;
  readonly code: string | undefined;
  readonly tookMs: number;
}

type Asked = Awaited<ReturnType<typeof askWithFullPool>>;

/** Exhausts a service's pool. Returns the responses received within `patienceMs`. Their times exclude the lateness of timers on a busy machine. */
async function askWithFullPool(patienceMs: number, prepare?: (app: NestFastifyApplication) => void) {
  const service = await startTestApp({ DATABASE_POOL_SIZE: POOL_SIZE, ROLE: 'api' }, prepare && { prepare });
  const pool = service.database.pool;
  const ask = async (nth = 0): Promise<Answered> => {
    await sleep(nth * APART_MS);
    const startedAt = performance.now();
    const late = sleep(CONNECTION_WAIT_MS, undefined, { ref: false }).then(
      () => performance.now() - startedAt - CONNECTION_WAIT_MS,
    );
    const registration = {
      tenantReference: `customer ${nth}`,
      gridLocations: [{ ean: '541448860004178019' }],
    };
    const response = await fetch(`${service.url}/api/v1/users`, {
      headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
      ...(nth % 2 === 1 && { method: 'POST', body: JSON.stringify(registration) }),
    });
    const { code } = (await response.json()) as { code?: string };
    const tookMs = performance.now() - startedAt;
    return {
      status: response.status,
      code,
      tookMs: tookMs < CONNECTION_WAIT_MS ? tookMs : tookMs - (await late),
    };
  };
  // Excludes the first query from the measurement, because Prisma compiles its query engine on it.
  await ask();
  const { tookMs: usualMs } = await ask();
  const held = await Promise.all(Array.from({ length: POOL_SIZE }, () => pool.connect()));
  const answered: Answered[] = [];
  const asked = Array.from({ length: REQUESTS }, (_, nth) =>
    ask(nth).then((answer) => void answered.push(answer)),
  );
  await Promise.race([Promise.all(asked), sleep(patienceMs, undefined, { ref: false })]);
  const inTime = [...answered];
  for (const client of held) client.release();
  await Promise.all(asked);
  const { status } = await ask();
  await service.close();
  return { answered: inTime, afterwards: status, usualMs };
}

let measured: Promise<readonly [bounded: Asked, endless: Asked]> | undefined;

/**
 * Exhausts the pools of two services at the same time, once for both tests. In the second service, the wait for a connection never ends.
 */
const measure = () =>
  (measured ??= Promise.all([
    askWithFullPool(60_000),
    askWithFullPool(CONNECTION_WAIT_MS + TOLERANCE_MS, (app) => {
      app.get(Database).pool.options.connectionTimeoutMillis = 0;
    }),
  ]));

describe('R10: a full pool fails fast', () => {
  it('a request gets a 503 at most 200 ms after the wait, and a 200 once the pool is free', async () => {
    const [{ answered, afterwards, usualMs }] = await measure();
    expect(answered).toHaveLength(REQUESTS);
    for (const { status, code } of answered) expect([status, code]).toEqual([503, 'database_unavailable']);
    const tookMs = answered.map((answer) => answer.tookMs - usualMs);
    promise('R10', {
      figure: `503 after ${Math.round(Math.min(...tookMs))} to ${Math.round(Math.max(...tookMs))} ms`,
      bound: `${CONNECTION_WAIT_MS + TOLERANCE_MS} ms`,
    });
    // A busy process may delay some requests, but no request waits for the pool twice.
    expect(Math.min(...tookMs)).toBeLessThan(inTime(CONNECTION_WAIT_MS + TOLERANCE_MS));
    expect(Math.max(...tookMs)).toBeLessThan(inTime(CONNECTION_WAIT_MS + 10 * TOLERANCE_MS));
    expect(afterwards).toBe(200);
  });

  itAtLength("turns red with the pool's default, which waits without end", async () => {
    const [, { answered }] = await measure();
    expect(answered).toHaveLength(0);
  });
});
