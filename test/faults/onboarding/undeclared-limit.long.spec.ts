import { createServer, request as forward } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { LANES } from '../../../src/onboarding/poll/lanes.rules.js';
import { RECORD_FAILURES, STAYS_LATE } from '../../../src/onboarding/poll/polls.sql.js';
import { msFromNow } from '../../../src/platform/database/timestamps.js';
import { endServer, listen } from '../../setup/receivers/servers.js';
import { TestClient } from '../../setup/client.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { startSandbox } from '../../setup/sandbox/sandbox.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { changeStatement } from '../support/changed-statement.js';
import { gatePolling, type PollingGate } from '../support/polling-gate.js';
import { promise } from '../support/promise.js';
import { seedSessions } from '../support/seeded-sessions.js';

jest.setTimeout(300_000);

const PER_SECOND = 20;
const FLOOR_MS = 1_000;
/** The interval of the old sessions. */
const CEILING_MS = 8_000;
const OLD = 640;
const FRESH = 5;
const WANTED = (OLD * 1_000) / CEILING_MS + (FRESH * 1_000) / FLOOR_MS;
/** The delay if one stretch of all intervals made the reads fit into the limit. */
const FAIR_MS = (FLOOR_MS * WANTED) / PER_SECOND;
const WARM_UP_MS = 40_000;
const MEASURED_MS = 120_000;
const RETRY_MS = 500;

const closing = closeAfterEach();
let service: TestApp;
let served = 0;
afterEach(() => service.close());

/**
 * Starts a remote service that serves PER_SECOND requests of each second. It responds to the others with 429 without Retry-After, but
 * always serves token requests.
 */
async function startLimiter(target: string): Promise<string> {
  let [second, count] = [0, 0];
  const server = createServer((request, response) => {
    const now = Math.floor(Date.now() / 1_000);
    if (now !== second) [second, count] = [now, 0];
    const isLimited = !request.url!.includes('token');
    if (isLimited && ++count > PER_SECOND) {
      request.resume();
      response.writeHead(429).end();
      return;
    }
    if (isLimited) served++;
    const options = { method: request.method, headers: request.headers };
    const to = forward(`${target}${request.url}`, options, (from) => {
      response.writeHead(from.statusCode!, from.headers);
      from.pipe(response);
    });
    to.on('error', () => response.destroy());
    request.pipe(to);
  });
  closing.push(() => endServer(server));
  return `http://127.0.0.1:${await listen(server)}`;
}

/** Lets apps start sessions and refresh one, and lets the sessions change. Returns the figures. */
async function measure(mutate: (app: NestFastifyApplication) => void = () => {}) {
  const sandbox = await startSandbox();
  closing.push(sandbox.stop);
  let gate: PollingGate;
  const intervals = { POLL_TICK_MS: 100, POLL_MIN_INTERVAL_MS: FLOOR_MS, POLL_MAX_INTERVAL_MS: CEILING_MS };
  service = await startTestApp(
    { ...sandbox.environment, SCS_BASE_URL: await startLimiter(sandbox.url), ...intervals },
    {
      prepare: (app) => {
        mutate(app);
        gate = gatePolling(app);
      },
    },
  );
  const database = service.database;
  await seedSessions(database, sandbox.control, OLD);
  await database.query(
    `UPDATE session_polls SET anchor_at = now() - interval '30 days', claimed_at = now() - interval '8 s', due_at = now() - random() * interval '8 s'`,
  );
  gate!.open();
  await sleep(WARM_UP_MS);

  const client = TestClient.of(service);
  const [noticed, started, refreshed]: number[][] = [[], [], []];
  const [beganAt, servedBefore] = [performance.now(), served];
  const isOver = () => performance.now() - beganAt > MEASURED_MS;
  /** Repeats `attempt` until it succeeds, like an app that got a 503. Returns the result and the time that it took. */
  const repeat = async <T>(everyMs: number, attempt: () => Promise<T | undefined>): Promise<[T, number]> => {
    for (const startedAt = performance.now(); ; await sleep(everyMs)) {
      const value = await attempt();
      if (value !== undefined) return [value, performance.now() - startedAt];
    }
  };
  const startOne = async () => {
    const [location] = await repeat(RETRY_MS, () => client.locate().catch(() => undefined));
    return repeat(RETRY_MS, async () => (await client.start(location)).body.id as string | undefined);
  };
  const startAndNotice = async () => {
    while (!isOver()) {
      const [id, startMs] = await startOne();
      started!.push(startMs);
      await sleep(Math.random() * 4_000);
      await sandbox.control.complete(id, { onlineAfterMs: null });
      const isNoticed = async () => (await client.session(id)).state !== 'awaiting_owner' || undefined;
      noticed!.push((await repeat(100, isNoticed))[1]);
      // Deletes the poll, so that the number of fresh sessions does not grow.
      await database.query('DELETE FROM session_polls WHERE session_id = $1', [id]);
    }
  };
  const refresh = async () => {
    const [id] = await startOne();
    const path = `/onboarding/pv/${id}/refresh`;
    while (!isOver()) {
      const isRead = async () => (await client.call('POST', path)).status === 200 || undefined;
      refreshed!.push((await repeat(RETRY_MS, isRead))[1]);
      await sleep(1_000);
    }
  };
  await Promise.all([refresh(), ...Array.from({ length: FRESH }, startAndNotice)]);
  const perSecond = ((served - servedBefore) * 1_000) / (performance.now() - beganAt);
  const [row] = await database.query<{ ms: number }>(
    `SELECT max(date_part('epoch', now() - claimed_at)) * 1000 AS ms FROM session_polls WHERE anchor_at < now() - interval '1 day'`,
  );
  const longestMs =
    LANES.find(({ longestSeconds }) => longestSeconds * 1_000 > CEILING_MS)!.longestSeconds * 1_000;
  // The bound of lanes.rules.ts for the lane of the old sessions.
  const [unread, unreadAtMost] = [row!.ms, (2 * longestMs * WANTED) / perSecond];
  return { noticed: noticed!, started: started!, refreshed: refreshed!, perSecond, unread, unreadAtMost };
}

const p95 = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(0.95 * (values.length - 1))]!;

describe('R43: beside a limit that nobody has declared', () => {
  it('fresh sessions are noticed within twice the fair delay, and no class starves', async () => {
    const { noticed, started, refreshed, perSecond, unread, unreadAtMost } = await measure();
    const of = (values: readonly number[]) =>
      `${values.length} times after ${Math.round(p95(values))} ms (p95)`;
    promise('R43', {
      figure:
        `${perSecond.toFixed(1)} of ${PER_SECOND} requests per second served; noticed ${of(noticed)}; started ${of(started)}; ` +
        `refreshed ${of(refreshed)}; unread ${Math.round(unread)} ms at most`,
      bound: `${2 * FAIR_MS} ms; ${Math.round(unreadAtMost)} ms`,
    });
    expect(p95(noticed)).toBeLessThanOrEqual(2 * FAIR_MS);
    expect(p95(started)).toBeLessThanOrEqual(15_000);
    expect(p95(refreshed)).toBeLessThanOrEqual(15_000);
    expect(unread).toBeLessThanOrEqual(unreadAtMost);
  });

  it('turns red when sessions that were claimed and not read are due after a pause', async () => {
    const { noticed } = await measure((app) => {
      const paused = `planned_at = clock_timestamp(), due_at = ${msFromNow('greatest(f."retryMs", 1000)')}`;
      changeStatement(app, RECORD_FAILURES, STAYS_LATE, paused);
    });
    expect(p95(noticed)).toBeGreaterThan(2 * FAIR_MS);
  });
});
