import { rootCertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import type { Browser } from 'playwright-core';
import { Environment } from '../../../src/platform/env/environment.js';
import { tlsFilesOf } from '../../../src/platform/http-client/tls-files.js';
import { DeploymentMetrics } from '../../../src/status/deployment-metrics.js';
import { alertOf } from '../../../scripts/alerts.js';
import { REASON_CODES, REASONS, type ReasonCode } from '../../../src/status/reasons.js';
import { causeOf } from '../../../src/status/reasons/incidents.rules.js';
import type { StatusView } from '../../../src/status/status.view.js';
import { startWebhookSink, type WebhookSink } from '../../setup/receivers/webhook-sink.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { TestClient } from '../../setup/client.js';
import { CHROMIUM, launchChromium, SCREENS } from '../../pages/chromium.js';
import { waitFor } from '../../setup/wait-for.js';
import { seedSessions } from '../support/seeded-sessions.js';
import { evaluate, scrape } from '../support/alerts.js';
import { allAtLength, isLong, itAtLength, promise } from '../support/promise.js';
import { CAUSES_OF_APPS } from './apps.causes.js';
import { CAUSES_ON_CALL } from './on-call.causes.js';
import type { Cause, Planted } from './planted.js';
import { CAUSES_OF_QUEUES } from './queues.causes.js';

const SESSIONS = 5;
/** Long enough that a busy machine reads every session within twice this time. */
const POLL_MAX_INTERVAL_MS = 10_000;

let sandbox: TestSandbox;
let sink: WebhookSink;
let database: TestDatabase;
let apps: TestApp[];
let closing: (() => unknown)[];
/** The number of planted causes, of those that were named, and of those that the console showed. */
const told = { of: 0, named: 0, shown: 0 };
/** Shows the console in the long test; null if there is no browser. */
let browser: Browser | null = null;
let blocker: pg.Client | undefined;

beforeAll(async () => {
  [sandbox, sink] = await Promise.all([startSandbox(), startWebhookSink()]);
  if (isLong && CHROMIUM !== null) browser = await launchChromium();
  if (isLong && CHROMIUM === null) console.warn('THE CONSOLE WAS NOT LOOKED AT: there is no chromium here');
});
afterAll(() => Promise.all([sandbox.stop(), sink.stop(), browser?.close()]));
beforeEach(async () => {
  apps = [];
  closing = [];
  await Promise.all([sandbox.control.reset(), sink.behave({})]);
  database = await createTestDatabase();
});
afterEach(async () => {
  await Promise.all(closing.map((end) => end()));
  jest.restoreAllMocks();
  await blocker?.end();
  blocker = undefined;
  await Promise.all(apps.map((app) => app.close()));
  await database.drop();
});

async function start(environment: Partial<Environment> = {}): Promise<TestApp> {
  const app = await startTestApp({
    DATABASE_URL: database.url,
    POLL_MAX_INTERVAL_MS,
    ...sandbox.environment,
    ...environment,
  });
  apps.push(app);
  return app;
}

async function startWatching(environment: Partial<Environment> = {}): Promise<Planted> {
  const app = await start(environment);
  const database = app.database;
  const ids = await seedSessions(database, sandbox.control, SESSIONS);
  const earlier = await waitFor('the figures of the deployment', async () => {
    const samples = await scrape(app.url);
    return [...samples.keys()].some((name) => name.startsWith('pv_onboarding_deployment_orphans')) && samples;
  });
  return {
    app,
    client: TestClient.of(app),
    database,
    control: sandbox.control,
    ids,
    earlier,
    startAnother: start,
    closing,
  };
}

const statusOf = async ({ client }: Pick<Planted, 'client'>) =>
  (await client.call<StatusView>('GET', '/status')).body;

const lock = async (mode: string, table = 'session_polls') => {
  blocker = await database.connect();
  await blocker.query(`BEGIN; LOCK TABLE ${table} IN ${mode} MODE`);
};

const respondWith = (
  operation: 'any' | 'read_session',
  status: number,
  headers: Record<string, string> = {},
) => sandbox.control.addFault({ kind: 'answer', status, headers, operation, times: null });

/** Registers a receiver that fails by `rule`, and dates its first failure a minute back. */
async function registerFailingReceiver({ client, database }: Planted, rule: object): Promise<void> {
  await sink.behave({ '/hook': rule });
  await client.call('POST', '/webhook-endpoints', { url: `${sink.url}/hook` });
  await client.startNew();
  const failed = async () =>
    (await database.query('SELECT FROM webhook_endpoints WHERE failures > 0')).length > 0;
  await waitFor('a failed attempt', failed);
  await database.query(
    `UPDATE webhook_endpoints SET failures = greatest(failures, 2), failing_since = failing_since - interval '16 minutes'`,
  );
}

async function registerWorkingReceiver({ client }: Planted): Promise<void> {
  await client.call('POST', '/webhook-endpoints', { url: `${sink.url}/hook` });
  await client.startNew();
  await waitFor('a delivery', async () => (await sink.taken('/hook')) > 0);
}

async function bringOnline({ client, ids }: Planted, inverters: number) {
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
    plant: () => respondWith('any', 401),
    reasons: {
      credentials_rejected: 'the remote service rejects our credentials or fresh tokens: no token',
    },
    also: ['remote_degraded', 'held_back_by_breaker'],
    readsStop: true,
  },
  'reads get 503 with Retry-After 80': {
    plant: () => respondWith('read_session', 503, { 'retry-after': '80' }),
    reasons: {
      remote_degraded: 'asked to wait for 80 s',
      held_back_by_remote_service: 'read_session: the remote service asked to wait for 80 s',
    },
    readsStop: true,
  },
  'reads get 503 with Retry-After 33': {
    plant: () => respondWith('read_session', 503, { 'retry-after': '33' }),
    reasons: { held_back_by_remote_service: 'read_session: the remote service asked to wait for 33 s' },
    readsStop: true,
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
    reasons: { remote_slow: 'calls of all processes took over 2 s' },
  },
  'a session has undescribed flags': {
    async plant({ ids, database }) {
      await sandbox.control.fields(ids[0]!, { set: { finished: false, active: false } });
      const aged = `UPDATE onboarding_sessions SET state_changed_at = now() - interval '15 minutes'
        WHERE id = $1 AND state = 'unrecognised' RETURNING id`;
      await waitFor('the flags', async () => (await database.query(aged, [ids[0]])).length > 0);
    },
    reasons: { sessions_doubtful: 'the interface does not describe the flags of 1 session' },
    // The interface does not describe these flags.
    also: ['contract_drifted'],
  },
  'all inverters of a session are gone': {
    plant: async (planted) => {
      const [first] = await bringOnline(planted, 1);
      await sandbox.control.removeInverter(planted.ids[0]!, first!.id);
    },
    reasons: { sessions_doubtful: 'all inverters are missing from 1 session' },
    // The interface does not describe a finished session without inverters.
    also: ['contract_drifted'],
  },
  'the receiver of webhooks responds with 500': {
    plant: (planted) => registerFailingReceiver(planted, { fail: 1 }),
    reasons: { webhooks_failing: '1 of 1 endpoint fails' },
  },
  'the receiver of webhooks hangs': {
    plant: (planted) => registerFailingReceiver(planted, { hang: 1 }),
    reasons: { webhooks_failing: '1 of 1 endpoint fails' },
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
    reasons: { registrations_uncertain: '1 registration waits for a person' },
  },
  'no worker runs': {
    environment: { ROLE: 'api' },
    plant: () => Promise.resolve(),
    reasons: { no_worker: 'no process with ROLE worker or all is alive' },
    readsStop: true,
  },
  'an ACCESS EXCLUSIVE lock of session_polls': {
    plant: () => lock('ACCESS EXCLUSIVE'),
    reasons: { tables_locked: 'session_polls is locked by process' },
    readsStop: true,
  },
  'a SHARE lock of session_polls, idle in transaction': {
    plant: () => lock('SHARE'),
    reasons: { tables_locked: '(idle in transaction, for ' },
    readsStop: true,
  },
  'a ceiling of 2 requests a second': {
    environment: { SCS_MAX_REQUESTS_PER_SECOND: 2 },
    plant: ({ database }) =>
      waitFor('the sessions are counted', async () => {
        const [budget] = await database.query<{ wanted: number }>(
          'SELECT wanted_per_second AS wanted FROM read_budget',
        );
        return budget!.wanted > 0;
      }),
    reasons: { budget_short: '1.9 are allowed' },
  },
  'nothing listens at the address of the outbound proxy': {
    environment: { HTTP_PROXY: 'http://127.0.0.1:9', SCS_BASE_URL: 'http://scs.test' },
    plant: () => Promise.resolve(),
    reasons: { proxy_fails: 'the proxy 127.0.0.1:9 cannot be reached' },
    readsStop: true,
  },
  'the file of an authority vanishes': {
    plant: ({ app }) => {
      const files = tlsFilesOf(app.app.get(Environment), 'remote');
      // As after `SCS_CA_FILE` was removed: what was read before stays in use.
      Object.assign(files, {
        paths: { ...files['paths'], ca: '/nowhere' },
        readAt: -Infinity,
        material: { ca: rootCertificates[0] },
      });
      return Promise.resolve();
    },
    reasons: { certificates_expire: 'SCS_CA_FILE cannot be read (ENOENT)' },
  },
  'reads get 500': {
    plant: () => respondWith('read_session', 500),
    reasons: {
      remote_degraded: 'read_session: status 500',
      held_back_by_breaker: 'read_session: calls fail (status 500)',
    },
    readsStop: true,
  },
  'starts are stranded under an ACCESS EXCLUSIVE lock of session_observations': {
    environment: { SCS_TIMEOUT_MS: 3_000 },
    async plant({ client, database }) {
      const location = await client.locate();
      await lock('ACCESS EXCLUSIVE', 'session_observations');
      await client.start(location);
      const stranded = `SELECT FROM session_starts WHERE status = 'failed' AND orphans > 0`;
      await waitFor('an orphan', async () => (await database.query(stranded)).length > 0);
    },
    reasons: {
      tables_locked: 'session_observations is locked by process',
      starts_lost: 'may have been started within the last hour whose id nobody knows',
    },
    // A read that found a change also waits for the lock.
    readsStop: true,
  },
  'the remote service no longer knows a session': {
    plant: ({ ids }) => sandbox.control.deleteSession(ids[0]!),
    reasons: { sessions_doubtful: 'the remote service no longer knows 1 session' },
  },
  'the receiver of webhooks is gone': {
    async plant({ client }) {
      await sink.behave({ '/hook': { fail: 1, status: 410 } });
      await client.call('POST', '/webhook-endpoints', { url: `${sink.url}/hook` });
      await client.startNew();
    },
    reasons: { webhooks_disabled: '1 endpoint was disabled automatically' },
  },
  'responses have a new field': {
    async plant({ client, ids }) {
      await sandbox.control.fields(ids[0]!, { set: { tariff: 'night' } });
      const count = async () => (await statusOf({ client })).remote.deployment.contractDrift;
      await waitFor('the difference', async () => (await count()) === 1);
    },
    reasons: { contract_drifted: '1 difference was first seen within the last hour' },
  },
  ...CAUSES_ON_CALL,
  ...CAUSES_OF_APPS,
  ...CAUSES_OF_QUEUES,
} as const satisfies Record<string, Cause>;

const SEEN_BY_WORKERS = [
  'reads get 503 with Retry-After 33',
  'reads get 503 with Retry-After 80',
  'all calls get 401',
] as const satisfies (keyof typeof CAUSES)[];

/** Asserts that /status and the alerts name these causes, and nothing else. */
async function expectNamed(
  planted: Pick<Planted, 'client' | 'app' | 'earlier'>,
  causes: readonly Cause[],
): Promise<void> {
  const wanted = causes.flatMap(({ reasons }) => Object.entries(reasons));
  const codesWanted: string[] = wanted.map(([code]) => code);
  const also = causes.flatMap(({ also = [], readsStop = false }) => [
    ...also,
    ...(readsStop ? ['reads_stale'] : []),
  ]);
  const named = [...new Set(codesWanted)].map(alertOf);
  const alsoFire = also.map(alertOf);
  // Repeats the check, because a wrong reason may disappear: a worker that is late with a sign of life on a busy machine gives the next
  // one.
  await waitFor(`the reasons ${JSON.stringify(wanted)}`, async () => {
    const { health, reasons } = await statusOf(planted);
    for (const [code, words] of wanted)
      expect(reasons).toContainEqual(
        expect.objectContaining({ code, detail: expect.stringContaining(words) }),
      );
    const others = reasons.filter(({ code }) => !codesWanted.includes(code) && !also.includes(code));
    expect(others).toEqual([]);
    expect(health).toBe(wanted.length === 0 ? 'healthy' : 'degraded');
    return true;
  });
  const figures = planted.app.app.get(DeploymentMetrics);
  // Repeats the check, because the metrics of one moment may differ: while the breaker tries a call, calls are not blocked.
  await waitFor(`the alerts ${named.join()}`, async () => {
    // `planted.earlier` contains the metrics of this process, so it comes first.
    const urls = [planted.app, ...apps.filter((app) => app !== planted.app)].map(({ url }) => url);
    const firing = await evaluate(urls, planted.earlier, () => (figures['readAgainAt'] = 0));
    if (firing === null) console.warn('THE ALERTS WERE NOT TESTED: there is no promtool here');
    else
      expect(firing.filter((alert) => named.includes(alert) || !alsoFire.includes(alert)).sort()).toEqual(
        named.sort(),
      );
    return true;
  });
}

/** Returns what the console shows of the reasons: the sentence of a cause, its operation in words, and the title of what probably follows. */
function shownOf(reasons: Cause['reasons']): string[] {
  const present = new Set(Object.keys(reasons) as ReasonCode[]);
  return Object.entries(reasons).map(([code, words]) =>
    causeOf(code as ReasonCode, present) === null
      ? words.replace(/^([a-z]+)_([a-z]+): /, '$1 $2: ')
      : REASONS[code as ReasonCode].title,
  );
}

/** Asserts that the first page of the console names the cause in words. */
async function expectShown({ app }: Pick<Planted, 'app'>, { reasons, shown }: Cause): Promise<void> {
  if (browser === null || shown === null) return;
  const page = await browser.newPage({ viewport: SCREENS.desktop });
  try {
    await page.goto(`${app.url}/console`);
    await page.getByLabel('API key').fill(app.adminKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    for (const words of shown ?? shownOf(reasons)) await page.getByText(words).first().waitFor();
    told.shown++;
  } finally {
    await page.close();
  }
}

describe('R68: the night is told: /status and the alerts', () => {
  afterAll(() =>
    promise('R68', {
      figure: `${told.named} of ${told.of} planted causes are named by their reasons and alerts, and no others; ${told.shown} by the first page of the console`,
      bound: 'all of them',
    }),
  );

  it('name nothing while all is well', async () => {
    const planted = await startWatching();
    await registerWorkingReceiver(planted);
    await waitFor('reads', async () => (await statusOf(planted)).poller!.watched > 0);
    await expectNamed(planted, []);
  });

  it.each(allAtLength(Object.entries<Cause>(CAUSES)))('name the cause: %s', async (_, cause) => {
    const planted = await startWatching(cause.environment);
    told.of++;
    await cause.plant(planted);
    await expectNamed(planted, [cause]);
    told.named++;
    await expectShown(planted, cause);
  });

  itAtLength('name nothing under load', async () => {
    const planted = await startWatching();
    await registerWorkingReceiver(planted);
    const until = performance.now() + 20_000;
    const load = Array.from({ length: 8 }, async () => {
      while (performance.now() < until) {
        await planted.client.startNew();
        await planted.client.call('GET', '/users');
      }
    });
    await Promise.all([expectNamed(planted, []), ...load]);
  });

  it('are of at least 40 situations, and of each reason', () => {
    const reasons = Object.values<Cause>(CAUSES).flatMap(({ reasons }) => Object.keys(reasons));
    expect(Object.keys(CAUSES).length).toBeGreaterThanOrEqual(40);
    // Waits for our own ceiling belong to the budget, so no planted cause has this reason.
    expect([...new Set([...reasons, 'held_back_by_ceiling'])].sort()).toEqual([...REASON_CODES].sort());
  });

  itAtLength('turn red without a finder', async () => {
    const planted = await startWatching({ ROLE: 'api' });
    await expectNamed(planted, [CAUSES['no worker runs']]);
    const { find } = REASONS.no_worker;
    Object.assign(REASONS.no_worker, { find: () => false });
    try {
      await expectNamed(planted, []);
    } finally {
      Object.assign(REASONS.no_worker, { find });
    }
  });

  it.each(allAtLength(SEEN_BY_WORKERS))(
    'of a process with ROLE=api name what only a worker sees: %s',
    async (name) => {
      const planted = await startWatching({ ROLE: 'api' });
      const cause: Cause = CAUSES[name];
      await cause.plant(planted);
      await start({ ROLE: 'worker' });
      // Prometheus scrapes the worker, too.
      await expectNamed(planted, [{ ...cause, readsStop: true }]);
    },
  );
});
