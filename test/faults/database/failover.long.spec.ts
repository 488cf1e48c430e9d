import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Database } from '../../../src/platform/database/database.js';
import {
  TestClient,
  type Answer,
  type EventAnswer,
  type SessionAnswer,
  type UserAnswer,
} from '../../setup/client.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { newEan } from '../../setup/ean.js';
import { startPostgresPair, type PostgresPair } from '../../setup/receivers/postgres-pair.js';
import {
  arrivals,
  outOfOrder,
  startWebhookSink,
  type WebhookSink,
} from '../../setup/receivers/webhook-sink.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { withDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { withClient } from '../../setup/database/with-client.js';
import { countStarts } from '../support/evidence/lost-starts.js';
import { contradictions, readRegistrations } from '../support/evidence/registration-ledger.js';
import {
  countHandled,
  findContradictions,
  findUntrue,
  NOTHING_FOUND,
} from '../support/evidence/session-oracle.js';
import { CREATE_HANDLED_EVENTS } from '../support/processes/handled-events.js';
import { promise } from '../support/promise.js';
import { startTcpProxy, type TcpProxy } from '../support/network/tcp-proxy.js';
import { makeEndpoint } from '../support/webhooks.js';
import { waitUntilHeld } from '../support/waits.js';

jest.setTimeout(300_000);

const REPLICAS = 3;
const SESSIONS = 60;
const CALLERS = 8;
/** The number of calls of each kind whose response is held when the primary is killed. The calls have had their effect. */
const HELD_EACH = 3;
const CALL_PAUSE_MS = 100;
const RETRY_PAUSE_MS = 200;
const READS = ['/users', '/registrations', '/onboarding/pv', '/inverters', '/webhook-endpoints'];
const READY_WITHIN_MS = 10_000;
const STARTED_WITHIN_MS = 60_000;
const CONVERGED_WITHIN_MS = 60_000;

const random = <T>(all: readonly T[]): T => all[randomInt(all.length)]!;

/** Simulates apps and owners during the failover, and records the responses. */
class Load {
  private running = true;
  private readonly loops: Promise<void>[];
  /** The number of responses by status. 0: no response. */
  readonly statuses = new Map<number, number>();
  readonly references: string[] = [];
  readonly registered: UserAnswer[] = [];
  readonly started: SessionAnswer[] = [];
  readonly feed: EventAnswer[] = [];
  private cursor = '0';

  constructor(
    private readonly clients: readonly TestClient[],
    private readonly sandbox: TestSandbox,
  ) {
    this.loops = [
      ...Array.from({ length: CALLERS }, () => this.repeat(CALL_PAUSE_MS, () => this.onboardOne())),
      this.repeat(25, () => this.followFeed()),
    ];
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.loops);
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<Answer<T> | undefined> {
    const answer = await random(this.clients)
      .call<T>(method, path, body)
      .catch(() => undefined);
    const status = answer?.status ?? 0;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    return answer;
  }

  /** Reads the next page of the feed. Returns whether it is the last one. */
  async followFeed(): Promise<boolean> {
    const page = await this.call<{ items: EventAnswer[]; next: string }>(
      'GET',
      `/events?after=${this.cursor}&limit=200`,
    );
    if (page?.status !== 200) return false;
    this.feed.push(...page.body.items);
    this.cursor = page.body.next;
    return page.body.items.length === 0;
  }

  private async repeat(pauseMs: number, work: () => Promise<unknown>): Promise<void> {
    while (this.running) {
      await work();
      await sleep(pauseMs);
    }
  }

  private async onboardOne(): Promise<void> {
    const tenantReference = randomUUID();
    this.references.push(tenantReference);
    const gridLocations = [{ ean: newEan() }];
    const user = await this.callUntilDone<UserAnswer>('/users', { tenantReference, gridLocations });
    if (user === undefined) return;
    this.registered.push(user);
    const session = await this.callUntilDone<SessionAnswer>(`/onboarding/pv/${user.gridLocations[0]!.id}`);
    if (session === undefined) return;
    this.started.push(session);
    await this.sandbox.control.complete(session.id, { onlineAfterMs: 200 });
  }

  /** Repeats a request until it has its effect, as apps do after a 503. Gives up when a person has to decide, or at any other status. */
  private async callUntilDone<T>(path: string, body?: unknown): Promise<T | undefined> {
    for (;;) {
      const answer = await this.call<T & { status?: string }>('POST', path, body);
      if (answer?.status === 200 || answer?.status === 201) return answer.body;
      const isOpen = answer?.status === 202 && answer.body.status !== 'uncertain';
      if (answer?.status !== 503 && !isOpen) return undefined;
      await sleep(RETRY_PAUSE_MS);
    }
  }
}

/** Returns the log lines about faults of the service itself. */
const bugsIn = (logs: string): string[] =>
  logs.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));

const DOUBLED_OR_LOST_EVENTS = `
  SELECT 'user.registered of ' || users.id AS what FROM users
   WHERE 1 <> (SELECT count(*) FROM domain_events WHERE name = 'user.registered' AND subject = users.id::text)
   UNION ALL
  SELECT 'session.started of ' || s.id FROM onboarding_sessions s
   WHERE 1 <> (SELECT count(*) FROM domain_events WHERE name = 'session.started' AND subject = s.id::text)`;

describe('R55: a failover of PostgreSQL loses nothing', () => {
  const closing = closeAfterEach();
  let pair: PostgresPair;
  let address: TcpProxy;
  let sandbox: TestSandbox;
  let sink: WebhookSink;

  beforeEach(async () => {
    pair = await startPostgresPair();
    closing.push(pair.remove);
    await withClient(pair.primary, (client) => client.query(CREATE_HANDLED_EVENTS));
    address = await startTcpProxy(pair.primary);
    closing.push(address.close);
    sandbox = await startSandbox();
    closing.push(sandbox.stop);
    sink = await startWebhookSink();
    closing.push(sink.stop);
  });

  async function startReplica(file: string, role = 'all'): Promise<TestProcess> {
    const replica = await startTestProcess(`test/faults/support/processes/${file}`, {
      ...testEnvironment(),
      ...sandbox.environment,
      DATABASE_URL: address.url,
      ROLE: role,
      SCS_TIMEOUT_MS: '15000',
      POLL_LEASE_MS: '20000',
      POLL_MIN_INTERVAL_MS: '200',
      POLL_MAX_INTERVAL_MS: '2000',
    });
    closing.push(() => replica.stop('SIGKILL'));
    return replica;
  }

  const clientOf = ({ url }: TestProcess) => new TestClient(url, ADMIN_KEY);

  const readiness = async ({ url }: TestProcess): Promise<{ status: number; missing: string[] }> => {
    const response = await fetch(`${url}/health/ready`);
    const { missing } = (await response.json()) as { missing: string[] };
    return { status: response.status, missing };
  };

  const waitForAll = (what: string, replicas: readonly TestProcess[], expected: object) =>
    Promise.all(
      replicas.map((replica) =>
        waitFor(`${replica.url} is ${what}`, async () => {
          const seen = await readiness(replica);
          return JSON.stringify(seen) === JSON.stringify(expected);
        }),
      ),
    );

  const waitForReady = (replicas: readonly TestProcess[]) =>
    waitForAll('ready', replicas, { status: 200, missing: [] });

  const waitForReadOnly = (replicas: readonly TestProcess[]) =>
    waitForAll('read-only', replicas, { status: 503, missing: ['the database is read-only'] });

  /** Prepares a request to each operation that writes. Returns a function that sends them and returns the operations by status. */
  async function prepareWrites(
    client: TestClient,
  ): Promise<(to: TestClient) => Promise<Record<number, string[]>>> {
    const { id: endpoint } = await makeEndpoint(client, `${sink.url}/other`);
    const key = { name: 'an app', scopes: ['users:read'] };
    const { body: made } = await client.call<{ id: string }>('POST', '/api-keys', key);
    const session = await client.startNew();
    const registrations = await client.list<{ id: string }>('/registrations?limit=1');
    const user = { tenantReference: randomUUID(), gridLocations: [{ ean: '376104250021234569' }] };
    const writes: readonly (readonly [method: string, path: string, body?: unknown])[] = [
      ['POST', '/users', user],
      ['DELETE', `/users/${session.userId}`],
      ['POST', `/registrations/${registrations[0]!.id}/retry`],
      ['POST', `/onboarding/pv/${session.gridLocationId}`, { reuse: false }],
      ['POST', `/onboarding/pv/${session.id}/refresh`],
      ['POST', '/api-keys', key],
      ['DELETE', `/api-keys/${made.id}`],
      ['POST', '/webhook-endpoints', { url: `${sink.url}/third` }],
      ['PATCH', `/webhook-endpoints/${endpoint}`, { enabled: false }],
      ['POST', `/webhook-endpoints/${endpoint}/rotate-secret`],
      ['POST', `/webhook-endpoints/${endpoint}/redeliver`, { after: '0' }],
      ['DELETE', `/webhook-endpoints/${endpoint}`],
    ];
    return async (to) => {
      const operations: Record<number, string[]> = {};
      for (const [method, path, body] of writes) {
        const { status } = await to.call(method, path, body);
        (operations[status] ??= []).push(`${method} ${path}`);
      }
      return operations;
    };
  }

  /** Waits until the remote service holds responses whose calls have had their effect. Returns a function that releases them. */
  async function holdCalls(): Promise<() => Promise<void>> {
    const { control } = sandbox;
    const held = await Promise.all(
      (['register_user', 'start_session'] as const).map((operation) =>
        control.addFault({ kind: 'hold', operation, times: HELD_EACH }),
      ),
    );
    for (const { id } of held) await waitUntilHeld(control, HELD_EACH, id);
    return async () => void (await Promise.all(held.map(({ id }) => control.release(id))));
  }

  async function findLost(database: Database, load: Load): Promise<string[]> {
    const ledger = await sandbox.control.ledger();
    const rows = await readRegistrations(database);
    const lost = contradictions(load.references, ledger, rows);
    for (const { tenantReference, status, userId } of rows) {
      const returned = load.registered.find((user) => user.tenantReference === tenantReference);
      if (returned !== undefined && returned.id !== userId)
        lost.push(`${tenantReference}: returned ${returned.id}, recorded ${status} as ${userId}`);
      const isSent = ledger.users.some((user) => user.tenantReference === tenantReference);
      if (status === 'uncertain' && !isSent) lost.push(`${tenantReference}: uncertain, but was never sent`);
    }
    const sessions = await database.query<{ id: string }>('SELECT id FROM onboarding_sessions');
    const known = new Set(sessions.map(({ id }) => id));
    lost.push(...load.started.filter(({ id }) => !known.has(id)).map(({ id }) => `session ${id} is unknown`));
    const locations = load.registered.map(({ gridLocations }) => gridLocations[0]!.id);
    for (const { gridLocationId, effects, orphans } of await countStarts(database, ledger, locations))
      if (effects !== 1 + orphans)
        lost.push(`location ${gridLocationId}: ${effects} sessions, ${orphans} orphans`);
    const events = await database.query<{ what: string }>(DOUBLED_OR_LOST_EVENTS);
    return [...lost, ...events.map(({ what }) => what)];
  }

  it('under load, behind an address that moves before the promotion (seeded bug: a read-only error taken for a bug)', async () => {
    const [mutant, ...replicas] = await Promise.all([
      startReplica('read-only-is-a-bug.process.ts', 'api'),
      ...Array.from({ length: REPLICAS }, () => startReplica('handling-service.process.ts')),
    ]);
    const ended: TestProcess[] = [];
    for (const replica of replicas) void replica.exited.then(() => ended.push(replica));
    const clients = replicas.map(clientOf);
    await makeEndpoint(clients[0]!, `${sink.url}/all`);
    const sendWrites = await prepareWrites(clients[1]!);
    const load = new Load(clients, sandbox);
    await waitFor('sessions are started', () => load.started.length >= SESSIONS, STARTED_WITHIN_MS);

    const releaseHeld = await holdCalls();
    await pair.killPrimary();
    await releaseHeld();
    await waitFor('a request fails', () => load.statuses.has(503));
    address.moveTo(pair.standby);
    await waitForReadOnly(replicas);
    expect(Object.keys(await sendWrites(clients[0]!))).toEqual(['503']);
    for (const path of READS)
      await waitFor(`${path} is read`, async () => (await clients[0]!.call('GET', path)).status === 200);
    expect(Object.keys(await sendWrites(clientOf(mutant)))).toContain('500');
    expect(bugsIn(mutant.logs())).not.toEqual([]);
    await waitForReadOnly(replicas);
    await pair.promoteStandby();
    const promotedAt = performance.now();
    await waitForReady(replicas);
    const readyMs = Math.round(performance.now() - promotedAt);

    const before = load.started.length;
    await waitFor(
      'sessions are started again',
      () => load.started.length >= before + SESSIONS,
      STARTED_WITHIN_MS,
    );
    await load.stop();
    await withDatabase(pair.standby, async (database) => {
      await waitFor(
        'all work is complete',
        async () => {
          await sleep(200);
          const [open] = await database.query<{ count: number }>(
            `SELECT (SELECT count(*) FROM registrations WHERE status = 'pending')::int
                  + (SELECT count(*) FROM session_starts WHERE status = 'sending')::int AS count`,
          );
          const { missed, owed } = await countHandled(database);
          if (open!.count + missed + owed > 0) return false;
          const sessions = await sandbox.control.sessions();
          const known = new Set(load.started.map(({ id }) => id));
          const areOnline = sessions.every(
            ({ sessionId, inverters }) => !known.has(sessionId) || inverters.length > 0,
          );
          return areOnline && (await findUntrue(database, sandbox.control)).length === 0;
        },
        CONVERGED_WITHIN_MS,
      );
      await waitFor('the feed is read to its end', () => load.followFeed());
      const rows = await database.query<{ id: string }>('SELECT id FROM domain_events ORDER BY sequence');
      const events = rows.map(({ id }) => id);
      const received = await waitFor(
        'every event has arrived',
        async () => {
          const arrived = arrivals(await sink.received(), '/all');
          return arrived.length >= events.length && arrived;
        },
        CONVERGED_WITHIN_MS,
      );

      const lost = await findLost(database, load);
      const findings = await findContradictions(database, sandbox.control);
      const [uncertain] = await database.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM registrations WHERE status = 'uncertain'`,
      );
      promise('R55', {
        figure:
          `${load.registered.length} registrations, ${load.started.length} sessions, ${events.length} events: ` +
          `${lost.length + findings.lost.length} lost, ${findings.doubled.length} doubled, ${uncertain!.count} uncertain, ` +
          `${ended.length} exits, ready after ${readyMs} ms`,
        bound: `0 lost, 0 doubled, 0 exits, ${READY_WITHIN_MS} ms`,
      });
      expect(lost).toEqual([]);
      expect(findings).toEqual(NOTHING_FOUND);
      expect(load.feed.map(({ id }) => id)).toEqual(events);
      expect(outOfOrder(received)).toEqual([]);
    });
    expect(ended).toEqual([]);
    expect(readyMs).toBeLessThanOrEqual(READY_WITHIN_MS);
    expect([...load.statuses.keys()].filter((status) => ![200, 201, 202, 503].includes(status))).toEqual([]);
    expect(replicas.flatMap((replica) => bugsIn(replica.logs()))).toEqual([]);
  });
});
