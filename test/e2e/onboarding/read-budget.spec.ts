import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import type { StatusView } from '../../../src/status/status.view.js';
import { seedSessions } from '../../faults/support/seeded-sessions.js';
import { TestClient } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

/** The interval of every session, whatever its age. */
const INTERVAL_MS = 1_000;
const SESSIONS = 100;
const CEILING = 20;

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
  database = service.database;
});
afterAll(() => service.close());

const budget = async () => (await client.call<StatusView>('GET', '/status')).body.budget;
const eventsOf = (name: string) =>
  database.query<{ data: { since: string } }>('SELECT data FROM domain_events WHERE name = $1', [name]);

describe('sessions that want five times the reads that are allowed', () => {
  it('R41: are read at stretched intervals', async () => {
    await seedSessions(database, sandbox, SESSIONS);
    const stretched = await waitFor('the stretch', async () => {
      const now = await budget();
      return now.stretch > 1 && now;
    });
    expect(stretched).toMatchObject({ wantedPerSecond: 100, allowedPerSecond: 19.4, isShort: false });
    expect(stretched.stretch).toBeCloseTo(100 / 19.4, 5);
  });

  it('are announced once the shortage has lasted, and once it is over', async () => {
    const announced = async () => {
      // Repeats the update, because a measure that runs at the same time would overwrite it.
      await database.query(
        `UPDATE read_budget SET short_since = short_since - interval '15 minutes' WHERE announced_at IS NULL`,
      );
      return (await eventsOf('remote.budget_short')).length > 0;
    };
    await waitFor('the event', announced);
    expect((await budget()).isShort).toBe(true);
    await database.query('DELETE FROM session_polls');
    const ended = async () => (await eventsOf('remote.budget_sufficient')).length > 0;
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
    expect(sufficient!.data.since).toBe(short!.data.since);
    expect(short!.data).toEqual({ ...figures, stretch: expect.any(Number), wantedPerSecond: 100 });
    expect(sufficient!.data).toMatchObject({ ...figures, wantedPerSecond: 0, endedAt: expect.any(String) });
    await waitFor('no stretch', async () => (await budget()).stretch === 1);
    expect(await budget()).toMatchObject({ isShort: false, late: [] });
  });

  it('show in the status how soon changes of fresh sessions are noticed', async () => {
    const { id } = await client.startNew();
    expect((await budget()).noticed).toEqual({ changes: 0, p50Seconds: null, p95Seconds: null });
    // Waits for the next second: the sandbox returns whole seconds, and only a change after the start is counted.
    await sleep(1_100);
    await sandbox.online(id);
    await client.untilState(id, 'online');
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
