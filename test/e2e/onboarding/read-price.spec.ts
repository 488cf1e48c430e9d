import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { PriceStore } from '../../../src/onboarding/poll/price.store.js';
import { Database } from '../../../src/platform/database/database.js';
import type { StatusView } from '../../../src/observability/status/status.view.js';
import { measureUntil } from '../../faults/support/promise.js';
import { seedSessions } from '../../faults/support/seeded-sessions.js';
import { TestClient } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox-control.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

/** The interval of all sessions, whatever their age. */
const INTERVAL_MS = 1_000;
const SESSIONS = 100;
const CEILING = 20;
const MEASURED_MS = 10_000;

let service: TestApp;
let client: TestClient;
let sandbox: SandboxControl;
let database: Database;

beforeAll(async () => {
  service = await startTestApp({
    POLL_MIN_INTERVAL_MS: INTERVAL_MS,
    POLL_MAX_INTERVAL_MS: INTERVAL_MS,
    SCS_MAX_REQUESTS_PER_SECOND: CEILING,
  });
  client = TestClient.of(service);
  sandbox = service.sandbox!.control;
  database = service.app.get(Database);
});
afterAll(() => service.close());

const budget = async () => (await client.call<StatusView>('GET', '/status')).body.budget;
const eventsOf = (name: string) =>
  database.query<{ data: object }>('SELECT data FROM domain_events WHERE name = $1', [name]);

/** Returns the used share of the ceiling, the sessions read, and the longest time between two reads of one, in stretched intervals. */
async function measure(): Promise<{ used: number; sessions: number; longest: number }> {
  const { stretch } = await budget();
  const reads = async () =>
    (await sandbox.requests()).filter(({ operation }) => operation === 'read_session');
  const last = (await reads()).at(-1)!.at;
  await sleep(MEASURED_MS);
  const since = (await reads()).filter(({ at }) => at > last);
  const seconds = (Date.now() - last) / 1_000;
  const lastAt = new Map<string, number>();
  const gaps = since.map(({ path, at }) => {
    const gapMs = at - (lastAt.get(path) ?? at);
    lastAt.set(path, at);
    return gapMs;
  });
  return {
    used: since.length / seconds / CEILING,
    sessions: lastAt.size,
    longest: Math.max(...gaps) / (stretch * INTERVAL_MS),
  };
}

describe('sessions that want five times the reads that are allowed', () => {
  it('R41: are read at stretched intervals, with at least 90 % of the budget and never more', async () => {
    await seedSessions(database, sandbox, SESSIONS);
    // A capacity that was learned from the first steps may be below the ceiling for some time.
    const isSettled = async () => {
      const { stretch, allowedPerSecond } = await budget();
      return stretch > 4.8 && allowedPerSecond === 19.4;
    };
    await waitFor('the stretch', isSettled);
    expect(await budget()).toMatchObject({ wantedPerSecond: 100, isShort: false });
    const { used, sessions, longest } = await measureUntil(
      (figures) => figures.used >= 0.9 && figures.sessions === SESSIONS && figures.longest < 3,
      measure,
    );
    expect(sessions).toBe(SESSIONS);
    expect(used).toBeGreaterThanOrEqual(0.9);
    expect(used).toBeLessThanOrEqual(1.05);
    expect(longest).toBeLessThan(3);
    const { stretch, allowedPerSecond } = await budget();
    expect(allowedPerSecond).toBeLessThanOrEqual(19.4);
    expect(stretch).toBeGreaterThan(4.8);
  });

  it('are announced once the shortage has lasted, and once it is over', async () => {
    const announced = async () => {
      // Repeated, since a step that runs at the same time overwrites it.
      await database.query(
        `UPDATE read_price SET short_since = short_since - interval '15 minutes' WHERE announced_at IS NULL`,
      );
      return (await eventsOf('remote.budget_short')).length > 0;
    };
    await waitFor('the event', announced);
    expect((await budget()).isShort).toBe(true);
    await database.query('DELETE FROM session_polls');
    const ended = async () => {
      // After a slow count, the next count would be due only after a long time.
      await database.query('UPDATE read_price SET measure_after = NULL');
      return (await eventsOf('remote.budget_sufficient')).length > 0;
    };
    await waitFor('its end', ended);
    const [[short], [sufficient]] = await Promise.all([
      eventsOf('remote.budget_short'),
      eventsOf('remote.budget_sufficient'),
    ]);
    const figures = {
      operation: 'read_session',
      allowedPerSecond: expect.any(Number),
      since: expect.any(String),
    };
    expect(short!.data).toEqual({ ...figures, stretch: expect.any(Number), wantedPerSecond: 100 });
    expect(sufficient!.data).toMatchObject({ ...figures, wantedPerSecond: 0, endedAt: expect.any(String) });
    await waitFor('no stretch', async () => (await budget()).stretch === 1);
    expect(await budget()).toMatchObject({ isShort: false, late: [] });
  });

  it('are priced by the last count while they cannot be counted', async () => {
    const count = jest.spyOn(service.app.get(PriceStore), 'countByAge').mockRejectedValue(new Error('slow'));
    await database.query('UPDATE read_price SET stretch = 3, measure_after = NULL');
    const isOver = async () => count.mock.calls.length > 0 && (await budget()).stretch === 1;
    await waitFor('no stretch', isOver);
    // The count is not repeated in each step, but in the next if the update came during a step.
    expect(count.mock.calls.length).toBeLessThanOrEqual(2);
    count.mockRestore();
  });

  it('show in the status how soon changes of fresh sessions are noticed', async () => {
    const { id } = await client.startNew();
    expect((await budget()).noticed).toEqual({ changes: 0, p50Seconds: null, p95Seconds: null });
    // The sandbox's instants are whole seconds, and only a change after the start is counted.
    await sleep(1_100);
    await sandbox.online(id);
    await waitFor('online', async () => (await client.session(id)).state === 'online');
    const { changes, p50Seconds, p95Seconds } = (await budget()).noticed;
    expect(changes).toBe(1);
    expect(p50Seconds).toBe(p95Seconds);
    expect(p50Seconds).toBeGreaterThanOrEqual(0);
    expect(p50Seconds).toBeLessThan(30);
    const rows = await database.query(
      `SELECT noticed_seconds_p50::float8 AS p50, noticed_seconds_p95::float8 AS p95 FROM admin.poll_lag WHERE phase = 'all'`,
    );
    const rounded = expect.closeTo(p50Seconds!, 0);
    expect(rows).toEqual([{ p50: rounded, p95: rounded }]);
  });

  it('show their stretch in admin.poll_lag', async () => {
    const [row] = await database.query(
      `SELECT stretch::float8, allowed_per_second::float8 AS allowed FROM admin.poll_lag WHERE phase = 'all'`,
    );
    expect(row).toEqual({ stretch: 1, allowed: 19.4 });
  });
});
