import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Database } from '../../../src/platform/database/database.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { DeploymentMetrics } from '../../../src/status/deployment-metrics.js';
import type { StatusView } from '../../../src/status/status.view.js';
import { startWebhookSink, type WebhookSink } from '../../setup/receivers/webhook-sink.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { TestClient } from '../../setup/client.js';
import { waitFor } from '../../setup/wait-for.js';
import { seedSessions } from '../support/seeded-sessions.js';
import { findFiringAlerts } from '../support/firing-alerts.js';
import { allAtLength, itAtLength } from '../support/promise.js';

jest.setTimeout(180_000);

const SESSIONS = 5;
/** Long enough that a busy machine reads every session within twice this time. */
const POLL_MAX_INTERVAL_MS = 10_000;

interface Planted {
  readonly app: TestApp;
  readonly client: TestClient;
  readonly database: Database;
  /** Watched sessions. */
  readonly ids: readonly string[];
}

interface Cause {
  readonly environment?: Partial<Environment>;
  readonly plant: (planted: Planted) => Promise<unknown>;
  /** The reasons that name it, and a part of the sentence of each. */
  readonly reasons: Readonly<Record<string, string>>;
  /** What else may be said meanwhile. */
  readonly also?: readonly string[];
  /** The alerts that name it. */
  readonly alerts: readonly string[];
  readonly alsoFires?: readonly string[];
}

let sandbox: TestSandbox;
let sink: WebhookSink;
let database: TestDatabase;
let apps: TestApp[];
let blocker: pg.Client | undefined;

beforeAll(async () => {
  [sandbox, sink] = await Promise.all([startSandbox(), startWebhookSink()]);
});
afterAll(() => Promise.all([sandbox.stop(), sink.stop()]));
beforeEach(async () => {
  apps = [];
  await Promise.all([sandbox.control.reset(), sink.behave({})]);
  database = await createTestDatabase();
});
afterEach(async () => {
  await blocker?.end();
  blocker = undefined;
  await Promise.all(apps.map((app) => app.close()));
  await database.drop();
});

async function start(environment: Partial<Environment> = {}): Promise<TestApp> {
  const remote = sandbox.environment;
  const app = await startTestApp({
    DATABASE_URL: database.url,
    POLL_MAX_INTERVAL_MS,
    ...remote,
    ...environment,
  });
  apps.push(app);
  return app;
}

async function startWatching(environment: Partial<Environment> = {}): Promise<Planted> {
  const app = await start(environment);
  const database = app.app.get(Database);
  const ids = await seedSessions(database, sandbox.control, SESSIONS);
  return { app, client: TestClient.of(app), database, ids };
}

const statusOf = async ({ client }: Pick<Planted, 'client'>) =>
  (await client.call<StatusView>('GET', '/status')).body;

const lock = async (mode: string) => {
  blocker = await database.connect();
  await blocker.query(`BEGIN; LOCK TABLE session_polls IN ${mode} MODE`);
};

const fails = (operation: 'any' | 'read_session', status: number, headers: Record<string, string> = {}) =>
  sandbox.control.addFault({ kind: 'answer', status, headers, operation, times: null });

/** Has a receiver that treats requests like this, and fails for a minute. */
async function receiver({ client, database }: Planted, rule: object): Promise<void> {
  await sink.behave({ '/hook': rule });
  await client.call('POST', '/webhook-endpoints', { url: `${sink.url}/hook` });
  await client.startNew();
  const failed = async () =>
    (await database.query('SELECT FROM webhook_endpoints WHERE failures > 0')).length > 0;
  await waitFor('a failed attempt', failed, 40_000);
  await database.query(`UPDATE webhook_endpoints SET failing_since = failing_since - interval '61 s'`);
}

async function receiverThatWorks({ client }: Planted): Promise<void> {
  await client.call('POST', '/webhook-endpoints', { url: `${sink.url}/hook` });
  await client.startNew();
  await waitFor('a delivery', async () => (await sink.taken('/hook')) > 0);
}

async function online({ client, ids }: Planted, inverters: number) {
  const id = ids[0]!;
  await sandbox.control.online(id, { inverters });
  const find = async () => {
    const { state, inverters } = await client.session(id);
    return state === 'online' && inverters;
  };
  return waitFor('the session is online', find);
}

const CAUSES = {
  'all calls get 401': {
    plant: () => fails('any', 401),
    reasons: {
      credentials_rejected: 'the remote service rejects our credentials or fresh tokens: no token',
    },
    also: ['remote_degraded', 'held_back_by_breaker'],
    alerts: ['CredentialsAreRejected'],
    alsoFires: ['NothingIsRead', 'BreakerIsOpen', 'RemoteServiceIsDown'],
  },
  'reads get 503 with Retry-After 80': {
    plant: () => fails('read_session', 503, { 'retry-after': '80' }),
    reasons: {
      remote_degraded: 'read_session: status 503, asked to wait for 80 s',
      held_back_by_remote_service: 'read_session: the remote service asked to wait for 80 s',
    },
    alerts: ['RemoteServiceIsDown'],
    alsoFires: ['NothingIsRead'],
  },
  'reads get 503 with Retry-After 33': {
    plant: () => fails('read_session', 503, { 'retry-after': '33' }),
    reasons: { held_back_by_remote_service: 'read_session: the remote service asked to wait for 33 s' },
    // Only from the second wait on, see below.
    alerts: [],
    alsoFires: ['NothingIsRead'],
  },
  'starts take 4 s': {
    plant: async ({ client }) => {
      const locations = await Promise.all(Array.from({ length: 3 }, () => client.locate()));
      await sandbox.control.addFault({
        kind: 'delay',
        delayMs: 4_000,
        operation: 'start_session',
        times: null,
      });
      await Promise.all(locations.map((location) => client.start(location)));
    },
    reasons: { remote_slow: 'start_session: most of the latest calls of ' },
    alerts: ['RemoteServiceIsSlow'],
  },
  'a session has undescribed flags': {
    plant: ({ ids }) => sandbox.control.fields(ids[0]!, { set: { finished: false, active: false } }),
    reasons: { sessions_doubtful: 'the interface does not describe the flags of 1 sessions' },
    alerts: ['SessionsAreDoubtful'],
  },
  'all inverters of a session are gone': {
    plant: async (planted) => {
      const [first] = await online(planted, 1);
      await sandbox.control.removeInverter(planted.ids[0]!, first!.id);
    },
    reasons: { sessions_doubtful: 'all inverters are missing of 1 sessions' },
    alerts: ['SessionsAreDoubtful'],
  },
  'the receiver of webhooks responds with 500': {
    plant: (planted) => receiver(planted, { fail: 1 }),
    reasons: { webhooks_failing: '1 of 1 endpoints fail' },
    alerts: ['WebhookEndpointFails'],
  },
  'the receiver of webhooks hangs': {
    plant: (planted) => receiver(planted, { hang: 1 }),
    reasons: { webhooks_failing: '1 of 1 endpoints fail' },
    alerts: ['WebhookEndpointFails'],
  },
  'responses to registrations are lost': {
    plant: async ({ client }) => {
      await sandbox.control.addFault({
        kind: 'reset',
        effect: true,
        operation: 'register_user',
        times: null,
      });
      await client.locate().catch(() => {});
    },
    reasons: { registrations_uncertain: '1 registrations wait for a person' },
    alerts: ['RegistrationsNeedAPerson'],
  },
  'no worker runs': {
    environment: { ROLE: 'api' },
    plant: () => Promise.resolve(),
    reasons: { no_worker: 'no process with ROLE worker or all is alive' },
    alerts: ['NoWorkerRuns'],
    alsoFires: ['NothingIsRead'],
  },
  'an ACCESS EXCLUSIVE lock of session_polls': {
    plant: () => lock('ACCESS EXCLUSIVE'),
    reasons: { tables_locked: 'session_polls is locked by process' },
    alerts: ['DeploymentIsUnknown'],
  },
  'a SHARE lock of session_polls, idle in transaction': {
    plant: () => lock('SHARE'),
    reasons: { tables_locked: '(idle in transaction, for ' },
    alerts: ['NothingIsRead'],
  },
  'a ceiling of 2 requests a second': {
    environment: { SCS_MAX_REQUESTS_PER_SECOND: 2 },
    plant: () => Promise.resolve(),
    reasons: { budget_short: '1.9 are allowed' },
    alerts: ['BudgetIsShort'],
  },
} as const satisfies Record<string, Cause>;

const PAIRS = [
  ['reads get 503 with Retry-After 80', 'responses to registrations are lost'],
  ['a session has undescribed flags', 'the receiver of webhooks responds with 500'],
  ['all inverters of a session are gone', 'starts take 4 s'],
  ['the receiver of webhooks responds with 500', 'an ACCESS EXCLUSIVE lock of session_polls'],
  ['starts take 4 s', 'responses to registrations are lost'],
] as const satisfies [keyof typeof CAUSES, keyof typeof CAUSES][];

const SEEN_BY_WORKERS = [
  'reads get 503 with Retry-After 33',
  'reads get 503 with Retry-After 80',
  'all calls get 401',
] as const satisfies (keyof typeof CAUSES)[];

/** Asserts that /status and the alerts name these causes, and nothing else. */
async function expectTold(planted: Pick<Planted, 'client' | 'app'>, causes: readonly Cause[]): Promise<void> {
  const wanted = causes.flatMap(({ reasons }) => Object.entries(reasons));
  const also = causes.flatMap(({ also = [] }) => also);
  const isTold = ({ reasons }: StatusView) =>
    wanted.every(([code, words]) =>
      reasons.some((reason) => reason.code === code && reason.detail.includes(words)),
    );
  const { health, reasons } = await waitFor(
    `the reasons ${JSON.stringify(wanted)}`,
    async () => {
      const status = await statusOf(planted);
      if (isTold(status)) return status;
      throw new Error(JSON.stringify(status.reasons));
    },
    60_000,
  );
  const codes = [...new Set(reasons.map(({ code }) => code))];
  expect(health).toBe(causes.length === 0 ? 'healthy' : 'degraded');
  expect(codes.filter((code) => !also.includes(code)).sort()).toEqual([
    ...new Set(wanted.map(([code]) => code).sort()),
  ]);
  const figures = planted.app.app.get(DeploymentMetrics);
  const firing = await findFiringAlerts(planted.app.url, () => (figures['readAgainAt'] = 0));
  if (firing === null) return console.warn('THE ALERTS WERE NOT TESTED: there is no promtool here');
  const alsoFire = causes.flatMap(({ alsoFires = [] }) => alsoFires);
  const named = [...new Set(causes.flatMap(({ alerts }) => alerts))];
  expect(firing.filter((alert) => named.includes(alert) || !alsoFire.includes(alert)).sort()).toEqual(
    named.sort(),
  );
}

describe('/status and the alerts', () => {
  it('name nothing while all is well', async () => {
    const planted = await startWatching();
    await receiverThatWorks(planted);
    await waitFor('reads', async () => (await statusOf(planted)).poller!.watched > 0);
    await expectTold(planted, []);
  });

  it.each(Object.entries<Cause>(CAUSES))('name the cause: %s', async (_, cause) => {
    const planted = await startWatching(cause.environment);
    await cause.plant(planted);
    await expectTold(planted, [cause]);
  });

  it('count a session that misses one of its inverters, and name nothing', async () => {
    const planted = await startWatching();
    const [first] = await online(planted, 2);
    await sandbox.control.removeInverter(planted.ids[0]!, first!.id);
    await waitFor('the figure', async () => (await statusOf(planted)).sessions.someInvertersMissing === 1);
    await expectTold(planted, []);
  });

  it('name nothing for a row that several want', async () => {
    const planted = await startWatching();
    const [first, second] = [await database.connect(), await database.connect()];
    const change = 'UPDATE users SET metadata = metadata';
    await first.query(`BEGIN; ${change}`);
    const waiting = second.query(change);
    await waitFor('a transaction that waits for a row', async () => {
      const waits = `SELECT FROM pg_locks WHERE locktype = 'tuple' AND relation = 'users'::regclass AND granted`;
      return (await first.query(waits)).rows.length > 0;
    });
    await expectTold(planted, []);
    await first.query('ROLLBACK');
    await waiting;
    await Promise.all([first.end(), second.end()]);
  });

  itAtLength('name a service that asks to wait for 33 s again and again', async () => {
    const planted = await startWatching();
    const cause: Cause = CAUSES['reads get 503 with Retry-After 33'];
    await cause.plant(planted);
    const reasons = { ...cause.reasons, remote_degraded: 'asked to wait for 33 s, 2 times within 5 minutes' };
    await expectTold(planted, [
      { ...cause, reasons, also: ['reads_stale'], alerts: ['RemoteServiceIsDown'] },
    ]);
  });

  it.each(allAtLength(PAIRS))('name both causes: %s, and %s', async (...names) => {
    const causes: Cause[] = names.map((name) => CAUSES[name]);
    const planted = await startWatching();
    for (const { plant } of causes) await plant(planted);
    // Under this lock, no figure of the deployment is measured: DeploymentIsUnknown covers its alerts.
    const isUnknown = causes.some(({ alerts }) => alerts.includes('DeploymentIsUnknown'));
    await expectTold(
      planted,
      isUnknown ? causes.map((cause) => ({ ...cause, alerts: ['DeploymentIsUnknown'] })) : causes,
    );
  });

  it.each(allAtLength(SEEN_BY_WORKERS))(
    'of a process with ROLE=api name what only a worker sees: %s',
    async (name) => {
      const planted = await startWatching({ ROLE: 'api' });
      const cause: Cause = CAUSES[name];
      await cause.plant(planted);
      await start({ ROLE: 'worker' });
      // Prometheus scrapes the worker, too.
      await expectTold(planted, [
        { ...cause, alsoFires: [...(cause.alsoFires ?? []), 'NoWorkerRuns', 'NothingIsRead'] },
      ]);
    },
  );
});
