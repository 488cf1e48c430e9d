import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { claimOldestFirst } from '../support/oldest-first.js';
import { gatePolling, type PollingGate } from '../support/polling-gate.js';
import { isLong, itAtLength, measureUntil, promise } from '../support/promise.js';
import { seedSessions } from '../support/seeded-sessions.js';

jest.setTimeout(240_000);

const PER_SECOND = 60;
const FLOOR_MS = 250;
/** The interval of the old sessions. */
const CEILING_MS = 2_000;
const OLD = 600;
const FRESH = 5;
const STRETCH = ((OLD * 1_000) / CEILING_MS + (FRESH * 1_000) / FLOOR_MS) / PER_SECOND;
const NOTICED_WITHIN_MS = 2.5 * FLOOR_MS * STRETCH;
const UNREAD_AT_MOST_MS = 3 * CEILING_MS * STRETCH;
/** In the long test, each of the old sessions is read within this time. */
const MEASURED_MS = isLong ? 35_000 : 4_000;

let service: TestApp;
let gate: PollingGate;
afterEach(() => service.close());

/** Starts a service that wants five times as many reads as it may send. */
async function startTight(mutate: (app: NestFastifyApplication) => void = () => {}): Promise<void> {
  const environment = {
    POLL_TICK_MS: 100,
    POLL_MIN_INTERVAL_MS: FLOOR_MS,
    POLL_MAX_INTERVAL_MS: CEILING_MS,
    SCS_MAX_REQUESTS_PER_SECOND: PER_SECOND,
  };
  service = await startTestApp(environment, {
    prepare: (app) => {
      mutate(app);
      gate = gatePolling(app);
    },
  });
  await seedSessions(service.database, service.sandbox!.control, OLD);
}

/** Makes the old sessions as late as if the budget had been tight for a while. */
async function makeLate(): Promise<void> {
  const database = service.database;
  gate.close();
  await waitFor(
    'the reads to end',
    async () => (await database.query('SELECT FROM poll_batches')).length === 0,
  );
  await database.query(
    `UPDATE session_polls p SET anchor_at = now() - interval '30 days', claimed_at = o.due_at - $1 * interval '1 ms', due_at = o.due_at
       FROM (SELECT session_id, now() - random() * $2 * interval '1 ms' AS due_at FROM session_polls) o
      WHERE o.session_id = p.session_id`,
    [STRETCH * CEILING_MS, (STRETCH - 1) * CEILING_MS],
  );
  gate.open();
  const before = await countCalls();
  await waitFor('the first reads', async () => (await countCalls()) > before + PER_SECOND);
}

/**
 * Starts sessions while the old sessions are late, and changes each. Returns how long after the change it was noticed; Infinity if this
 * took longer than `withinMs`.
 */
async function measureNotice(withinMs: number): Promise<number[]> {
  await makeLate();
  const client = TestClient.of(service);
  const { control } = service.sandbox!;
  const measure = async (): Promise<number> => {
    const { id } = await client.startNew();
    await control.complete(id, { onlineAfterMs: null });
    const changedAt = performance.now();
    while (performance.now() - changedAt < withinMs) {
      if ((await client.session(id)).state !== 'awaiting_owner') return performance.now() - changedAt;
      await sleep(50);
    }
    return Infinity;
  };
  return Promise.all(Array.from({ length: FRESH }, measure));
}

/** Returns the longest time since the last read of a session. Until the next claim, `claimed_at` is the time of the last read. */
async function measureUnread(): Promise<number> {
  const [row] = await service.database.query<{ ms: number }>(
    'SELECT extract(epoch FROM now() - min(claimed_at))::float8 * 1000 AS ms FROM session_polls',
  );
  return row!.ms;
}

async function countCalls(): Promise<number> {
  const { requests } = await service.sandbox!.control.ledger();
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

/** Returns the used share of the budget, and the longest time between two reads of a session. */
async function measureUse() {
  const startedAt = performance.now();
  const before = await countCalls();
  let unread = 0;
  do {
    await sleep(250);
    unread = Math.max(unread, await measureUnread());
  } while (performance.now() - startedAt < MEASURED_MS);
  const calls = (await countCalls()) - before;
  const seconds = (performance.now() - startedAt) / 1_000;
  return { used: calls / seconds / PER_SECOND, unread };
}

describe('R41: a tight budget is shared fairly', () => {
  it('notices changes of fresh sessions soon, uses the budget, and leaves no session unread', async () => {
    await startTight();
    const noticed = await measureUntil(
      (ms) => ms <= NOTICED_WITHIN_MS,
      async () => Math.max(...(await measureNotice(2 * NOTICED_WITHIN_MS))),
    );
    const { used, unread } = await measureUntil(
      (figure) =>
        figure.used >= 0.9 && figure.used <= 1.05 && (!isLong || figure.unread <= UNREAD_AT_MOST_MS),
      measureUse,
    );
    promise('R41', {
      figure:
        `${OLD} old, stretch ${STRETCH.toFixed(1)}: noticed after ${Math.round(noticed)} ms, ` +
        `${Math.round(100 * used)} % of the budget, unread ${Math.round(unread)} ms at most`,
      bound: `${Math.round(NOTICED_WITHIN_MS)} ms, 90 to 105 %, ${Math.round(UNREAD_AT_MOST_MS)} ms`,
    });
    expect(noticed).toBeLessThanOrEqual(NOTICED_WITHIN_MS);
    expect(used).toBeGreaterThanOrEqual(0.9);
    expect(used).toBeLessThanOrEqual(1.05);
    // In the short test, even a session that is never read stays below the bound.
    if (isLong) expect(unread).toBeLessThanOrEqual(UNREAD_AT_MOST_MS);
  });

  itAtLength('turns red when the oldest due session is read first', async () => {
    await startTight(claimOldestFirst);
    expect(Math.min(...(await measureNotice(NOTICED_WITHIN_MS)))).toBe(Infinity);
  });
});
