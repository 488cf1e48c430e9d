import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { claimOldestFirst } from '../support/oldest-first.js';
import { gatePolling, type PollingGate } from '../support/polling-gate.js';
import { isLong, itAtLength, measureUntil, promise } from '../support/promise.js';
import { seedSessions } from '../support/seeded-sessions.js';

const OVERDUE = isLong ? 20_000 : 5_000;
/** At this rate, reading the backlog takes many times as long as BOUND_MS. */
const PER_SECOND = 100;
const INTERVAL_MS = 3_000;
const FRESH = 5;
/** The overdue sessions want fewer reads than the budget allows, so the stretch is 1. */
const BOUND_MS = 2 * INTERVAL_MS;

let service: TestApp;
afterEach(() => service.close());

interface Fresh {
  readonly id: string;
  /** When the session became fresh, by performance.now(). */
  readonly since: number;
}

/** Makes some sessions of the backlog fresh and due now, as if their reads had failed for an hour. */
async function failForAnHour(): Promise<Fresh[]> {
  const since = performance.now();
  const rows = await service.database.query<{ id: string }>(
    `UPDATE session_polls p SET anchor_at = now(), claimed_at = now() - interval '1 hour', planned_at = now() - $2 * interval '1 ms', due_at = now() - interval '1 ms'
       FROM (SELECT session_id FROM session_polls
               WHERE due_at <= now() AND batch_id IS NULL AND anchor_at < now() - interval '1 hour' ORDER BY due_at DESC LIMIT $1 FOR UPDATE) last
      WHERE last.session_id = p.session_id RETURNING p.session_id AS id`,
    [FRESH, INTERVAL_MS],
  );
  return rows.map(({ id }) => ({ id, since }));
}

async function startSome(): Promise<Fresh[]> {
  const client = TestClient.of(service);
  const startOne = async () => {
    const location = await client.locate();
    const since = performance.now();
    return { id: (await client.start(location)).body.id, since };
  };
  return Promise.all(Array.from({ length: FRESH }, startOne));
}

/** Starts a service, and waits until it reads a backlog of two hours. */
async function startWithBacklog(mutate: (app: NestFastifyApplication) => void = () => {}): Promise<void> {
  let gate: PollingGate | undefined;
  const environment = {
    POLL_MIN_INTERVAL_MS: INTERVAL_MS,
    POLL_MAX_INTERVAL_MS: 900_000,
    SCS_MAX_REQUESTS_PER_SECOND: PER_SECOND,
  };
  service = await startTestApp(environment, {
    prepare: (app) => {
      mutate(app);
      gate = gatePolling(app);
    },
  });
  const database = service.database;
  await seedSessions(database, service.sandbox!.control, OVERDUE);
  await database.query(
    `UPDATE session_polls p SET anchor_at = now() - interval '1 day', claimed_at = o.due_at - interval '15 minutes', due_at = o.due_at
       FROM (SELECT session_id, now() - random() * interval '2 hours' AS due_at FROM session_polls) o WHERE o.session_id = p.session_id`,
  );
  gate!.open();
  await waitFor('the backlog to be read', async () => Object.keys(await reads()).length > PER_SECOND);
}

const reads = async () => (await service.sandbox!.control.ledger()).reads;

/** Calls `begin` during the backlog. Returns how long after that each session was read; Infinity: not within `withinMs`. */
async function measureFresh(withinMs: number, begin = startSome): Promise<number[]> {
  const measure = async ({ id, since }: Fresh): Promise<number> => {
    for (;;) {
      const afterMs = performance.now() - since;
      if (((await reads())[id]?.total ?? 0) > 0) return afterMs;
      if (afterMs > withinMs) return Infinity;
      await sleep(100);
    }
  };
  const delays = await Promise.all((await begin()).map(measure));
  expect(delays).toHaveLength(FRESH);
  expect(Object.keys(await reads()).length).toBeLessThan(OVERDUE);
  return delays;
}

const slowestOf = (begin: typeof startSome): Promise<number> =>
  measureUntil(
    (ms) => ms <= BOUND_MS,
    async () => Math.max(...(await measureFresh(2 * BOUND_MS, begin))),
  );

describe('R42: the backlog of an outage does not bury the fresh', () => {
  it('reads a session that starts meanwhile within two of its intervals', async () => {
    await startWithBacklog();
    const slowest = await slowestOf(startSome);
    promise('R42', {
      figure: `${OVERDUE} overdue by up to two hours: read ${Math.round(slowest)} ms after the start`,
      bound: `${BOUND_MS} ms`,
    });
    expect(slowest).toBeLessThanOrEqual(BOUND_MS);
  });

  it('reads a fresh session whose reads failed for an hour just as soon', async () => {
    await startWithBacklog();
    expect(await slowestOf(failForAnHour)).toBeLessThanOrEqual(BOUND_MS);
  });

  itAtLength('turns red when the oldest due session is read first', async () => {
    await startWithBacklog(claimOldestFirst);
    expect(Math.min(...(await measureFresh(1.2 * BOUND_MS)))).toBe(Infinity);
  });
});
