import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Database } from '../../../src/platform/database/database.js';
import { TestClient, type EventAnswer, type SessionAnswer, type UserAnswer } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { createTestDatabase, withDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { CREATE_HANDLED_EVENTS } from '../support/processes/handled-events.js';
import { countStarts, startAtLast } from '../support/evidence/lost-starts.js';
import { inTime, isLong, itAtLength, measureUntil, promise } from '../support/promise.js';
import { contradictions, readRegistrations } from '../support/evidence/registration-ledger.js';
import { seedSessions } from '../support/seeded-sessions.js';
import { startTcpProxy, type TcpProxy } from '../support/network/tcp-proxy.js';

const TERMINATE_EVERY_MS = 300;
const TERMINATE_FOR_MS = isLong ? 8_000 : 3_000;
const STOPPED_MS = 2_000;
const BACK_WITHIN_MS = 2_000;
/** Sessions that come online one by one before, during and after the outage. */
const SESSIONS = isLong ? 100 : 50;
const CALLERS = 8;
const CALL_PAUSE_MS = 200;
const PROBE_PAUSE_MS = 25;
const CONVERGED_WITHIN_MS = 60_000;

let database: TestDatabase;
let admin: pg.Client;
let sandbox: TestSandbox;
let proxy: TcpProxy;
let service: TestProcess;
let hasEnded: boolean;

beforeEach(async () => {
  database = await createTestDatabase();
  admin = await database.connect();
  await admin.query(CREATE_HANDLED_EVENTS);
  sandbox = await startSandbox();
  proxy = await startTcpProxy(database.url);
});
afterEach(async () => {
  await service.stop('SIGKILL');
  await proxy.close();
  await sandbox.stop();
  await database.drop();
});

async function start(file: string): Promise<TestClient> {
  service = await startTestProcess(`test/faults/support/processes/${file}`, {
    ...testEnvironment(),
    ...sandbox.environment,
    DATABASE_URL: proxy.url,
    LOG_LEVEL: 'error',
    SCS_TIMEOUT_MS: '2000',
    POLL_LEASE_MS: '3000',
    POLL_MIN_INTERVAL_MS: '200',
    POLL_MAX_INTERVAL_MS: '2000',
  });
  hasEnded = false;
  void service.exited.then(() => (hasEnded = true));
  return new TestClient(service.url, ADMIN_KEY);
}

/** Runs `work` over a connection that bypasses the proxy. */
const directly = <T>(work: (direct: Database) => Promise<T>): Promise<T> => withDatabase(database.url, work);

const terminateBackends = () =>
  admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'pv-onboarding%'`,
  );

interface Probe {
  readonly beganAt: number;
  readonly endedAt: number;
  readonly live: number | undefined;
  readonly ready: number | undefined;
}

/** Simulates apps, owners and health probes during the outage, and records the responses. */
class Load {
  private running = true;
  private readonly loops: Promise<void>[];
  readonly registered: UserAnswer[] = [];
  readonly references: string[] = [];
  readonly started: SessionAnswer[] = [];
  readonly feed: EventAnswer[] = [];
  /** The times of successful reads, by `performance.now()`. */
  readonly successes: number[] = [];
  readonly probes: Probe[] = [];
  lastRead = 'no read has ended';
  private cursor = '0';

  constructor(
    private readonly client: TestClient,
    sessionIds: readonly string[],
  ) {
    this.loops = [
      ...Array.from({ length: CALLERS }, () => this.repeat(CALL_PAUSE_MS, () => this.registerAndStart())),
      this.repeat(PROBE_PAUSE_MS, () => this.read()),
      this.repeat(PROBE_PAUSE_MS, () => this.probe()),
      this.repeat(PROBE_PAUSE_MS, () => this.followFeed()),
      this.completeOneByOne(sessionIds),
    ];
  }

  /** Returns when the last owner has completed the web flow. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.loops);
  }

  async followFeed(): Promise<boolean> {
    const { status, body } = await this.client.call<{ items: EventAnswer[]; next: string }>(
      'GET',
      `/events?after=${this.cursor}&limit=200`,
    );
    if (status !== 200) return false;
    this.feed.push(...body.items);
    this.cursor = body.next;
    return body.items.length === 0;
  }

  private async repeat(pauseMs: number, work: () => Promise<unknown>): Promise<void> {
    while (this.running && !hasEnded) {
      // Ignores lost connections: `hasEnded` shows whether the service has crashed.
      await work().catch(() => {});
      await sleep(pauseMs);
    }
  }

  private async completeOneByOne(sessionIds: readonly string[]): Promise<void> {
    for (const id of sessionIds) {
      if (hasEnded) return;
      await sandbox.control.online(id, { inverters: 1 });
      await sleep(100);
    }
  }

  private async registerAndStart(): Promise<void> {
    const tenantReference = randomUUID();
    this.references.push(tenantReference);
    const user = await this.client.call<UserAnswer>('POST', '/users', {
      tenantReference,
      gridLocations: [{ ean: newEan() }],
    });
    if (user.status !== 201) return;
    this.registered.push(user.body);
    const session = await this.client.start(user.body.gridLocations[0]!.id);
    if (session.status === 201) this.started.push(session.body);
  }

  private async read(): Promise<void> {
    const beganAt = performance.now();
    const { status } = await this.client.call('GET', '/users?limit=1');
    const endedAt = performance.now();
    this.lastRead = `${status} after ${Math.round(endedAt - beganAt)} ms`;
    if (status === 200) this.successes.push(endedAt);
  }

  private async probe(): Promise<void> {
    const beganAt = performance.now();
    const [live, ready] = await Promise.all(
      ['live', 'ready'].map(async (kind) => (await fetch(`${this.client.url}/health/${kind}`)).status),
    );
    this.probes.push({ beganAt, endedAt: performance.now(), live, ready });
  }
}

async function terminateRepeatedly(load: Load): Promise<void> {
  await waitFor('the load to start sessions', () => load.started.length > 0);
  const until = performance.now() + TERMINATE_FOR_MS;
  while (performance.now() < until && !hasEnded) {
    await terminateBackends();
    await sleep(TERMINATE_EVERY_MS);
  }
}

/** Closes every connection and refuses new ones for STOPPED_MS. Returns the start and end of the outage, and the time to the first success. */
async function stopDatabase(load: Load) {
  await proxy.refuse();
  const awayAt = performance.now();
  await sleep(STOPPED_MS);
  await waitFor('a health probe meanwhile', () => load.probes.some(({ beganAt }) => beganAt > awayAt));
  const backAt = performance.now();
  await proxy.accept();
  const successAt = await waitFor('a call succeeds', () => load.successes.find((at) => at > backAt)).catch(
    (error: Error) => {
      throw new Error(`${error.message}; the last one: ${load.lastRead}`);
    },
  );
  return { awayAt, backAt, backMs: successAt - backAt };
}

const count = async (statement: string, values: unknown[] = []): Promise<number> =>
  Number((await admin.query<{ count: string }>(statement, values)).rows[0]?.count);

const countOnline = (ids: readonly string[]): Promise<number> =>
  count(`SELECT count(*) FROM onboarding_sessions WHERE id = ANY($1::uuid[]) AND state = 'online'`, [ids]);

async function findLost(load: Load, sessionIds: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  const note = (what: string, number: number): void => {
    if (number !== 0) lost.push(`${number} ${what}`);
  };
  const ledger = await sandbox.control.ledger();
  note('sessions are not online', sessionIds.length - (await countOnline(sessionIds)));
  note(
    'sessions came online more or less often than once',
    await count(
      `SELECT count(*) FROM unnest($1::uuid[]) AS seeded (id)
        WHERE 1 <> (SELECT count(*) FROM session_transitions WHERE session_id = seeded.id AND to_state = 'online')
           OR 1 <> (SELECT count(*) FROM domain_events WHERE subject = seeded.id::text AND name = 'session.online')`,
      [sessionIds],
    ),
  );
  note(
    'transitions do not follow from the one before',
    await count(
      `SELECT count(*) FROM (SELECT from_state, lag(to_state) OVER (PARTITION BY session_id ORDER BY id) AS before
                               FROM session_transitions) AS steps WHERE before <> from_state`,
    ),
  );
  await directly(async (direct) => {
    const rows = await readRegistrations(direct);
    // Skips references that neither our rows nor the ledger contain: a call that got a 503 may have had no effect.
    const known = load.references.filter(
      (reference) =>
        rows.some(({ tenantReference }) => tenantReference === reference) ||
        ledger.users.some(({ tenantReference }) => tenantReference === reference),
    );
    lost.push(...contradictions(known, ledger, rows));
    const users = new Set(rows.map(({ userId }) => userId));
    note('returned users are unknown', load.registered.filter(({ id }) => !users.has(id)).length);
    const { rows: sessions } = await admin.query<{ id: string }>('SELECT id FROM onboarding_sessions');
    const ids = new Set(sessions.map(({ id }) => id));
    note('returned sessions are unknown', load.started.filter(({ id }) => !ids.has(id)).length);
    const locations = load.registered.map(({ gridLocations }) => gridLocations[0]!.id);
    const starts = await countStarts(direct, ledger, locations);
    note(
      'locations do not have exactly one session beside the counted orphans',
      starts.filter(({ effects, orphans }) => effects !== 1 + orphans).length,
    );
  });
  const { rows: events } = await admin.query<{ id: string }>('SELECT id FROM domain_events');
  // Only now, since background tasks still append events.
  await waitFor('the feed is read to its end', () => load.followFeed());
  const read = new Set(load.feed.map(({ id }) => id));
  note('events were not read', events.filter(({ id }) => !read.has(id)).length);
  note('events were read again', load.feed.length - read.size);
  note(
    'events were not handled',
    await count(
      `SELECT count(*) FROM domain_events, admin.event_handlers
        WHERE domain_events.name = ANY (events) AND domain_events.id NOT IN (SELECT event_id FROM handled_events)`,
    ),
  );
  return lost;
}

describe('R9: a database outage is survived', () => {
  it('under load, with nothing lost and the first success right after it is back', async () => {
    const client = await start('handling-service.process.ts');
    const sessionIds = await directly((direct) => seedSessions(direct, sandbox.control, SESSIONS));
    const load = new Load(client, sessionIds);
    await terminateRepeatedly(load);
    const { awayAt, backAt, backMs } = await measureUntil(
      (outage) => outage.backMs <= BACK_WITHIN_MS,
      () => stopDatabase(load),
    );
    await waitFor('the service is ready', () =>
      load.probes.some(({ beganAt, ready }) => beganAt > backAt && ready === 200),
    );
    const startedBefore = load.started.length;
    await waitFor('a session is started after the outage', () => load.started.length > startedBefore);
    await load.stop();
    await waitFor(
      'all work is complete',
      async () =>
        (await countOnline(sessionIds)) === SESSIONS &&
        (await count('SELECT count(*) FROM admin.event_deliveries')) === 0 &&
        (await count(`SELECT count(*) FROM registrations WHERE status = 'pending'`)) === 0 &&
        (await count(
          `SELECT count(*) FROM session_starts WHERE status = 'sending' AND lease_until > now()`,
        )) === 0,
      CONVERGED_WITHIN_MS,
    );
    // Retries the starts, as apps do after a 503.
    for (const { gridLocations } of load.registered) await startAtLast(client, gridLocations[0]!.id);

    const lost = await findLost(load, sessionIds);
    const whileAway = load.probes.filter((probe) => probe.beganAt > awayAt && probe.endedAt < backAt);
    promise('R9', {
      figure: `${hasEnded ? 1 : 0} exits, ${lost.length} lost of ${load.references.length} registrations and ${SESSIONS} sessions, first success after ${Math.round(backMs)} ms`,
      bound: `0, 0, ${BACK_WITHIN_MS} ms`,
    });
    expect(hasEnded).toBe(false);
    expect(lost).toEqual([]);
    expect(backMs).toBeLessThanOrEqual(inTime(BACK_WITHIN_MS));
    expect(new Set(load.probes.map(({ live }) => live))).toEqual(new Set([200]));
    expect(new Set(whileAway.map(({ ready }) => ready))).toEqual(new Set([503]));
  });

  itAtLength('turns red when checked-out connections have no error handler', async () => {
    const client = await start('unhandled-clients.process.ts');
    const sessionIds = await directly((direct) => seedSessions(direct, sandbox.control, SESSIONS));
    const load = new Load(client, sessionIds);
    await terminateRepeatedly(load);
    await load.stop();
    expect(hasEnded).toBe(true);
  });
});
