import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { actAs, requireActing } from '../../../src/access/acting-caller.js';
import { ApiKeysStore, hashOf } from '../../../src/access/api-keys.store.js';
import { ActiveCallers } from '../../../src/access/active-callers.service.js';
import { ConsoleSessions } from '../../../src/console-access/console-sessions.service.js';
import { RequestHooks } from '../../../src/access/request-hooks.service.js';
import type { Transaction } from '../../../src/platform/database/database.js';
import { createKey } from '../../e2e/keys.js';
import { startReplica, withReplica } from '../../e2e/replica.js';
import { insertCampaign } from '../../setup/campaign.js';
import { changesOf, type Change } from '../../setup/changes.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { startWebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import { shiftClock } from '../../setup/shifted-clock.js';
import { useTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { waitPatiently } from '../support/patient-database.js';
import { inTime, itAtLength, promise } from '../support/promise.js';
import { waitForLockWaits, waitUntilHeld } from '../support/waits.js';
import { makeEndpoint } from '../support/webhooks.js';

const WITHIN_MS = 5_000;
/** The caller of a response that is sent sooner than this after its request is not checked again. */
const LATE_MS = 2_000;
/** The rows of a download that is longer than what the kernel buffers. */
const ROWS = 40_000;

// Has a connection for each operation, on which a lock is waited for as long as a busy machine needs to send all of them, as is a response that
// is held. A process with the role `api` changes nothing by itself.
const service = useTestApp(
  { ROLE: 'api', DATABASE_POOL_SIZE: 40, SCS_TIMEOUT_MS: 60_000, POLL_LEASE_MS: 120_000 },
  { prepare: waitPatiently },
);
const admin = TestClient.of(service);
let other: TestApp;

beforeAll(async () => {
  other = await startReplica(service, { ROLE: 'api' }, { prepare: waitPatiently });
});
afterAll(() => other.close());

const sql = <Row>(text: string, values?: unknown[]) => service.database.query<Row>(text, values);

const TABLES =
  `users grid_locations registrations stalls bulk_actions onboarding_sessions session_starts session_observations invitations campaigns
  campaign_rows webhook_endpoints webhook_deliveries domain_events erasures idempotency_keys audit_log`.split(
    /\s+/,
  );

/** Returns what the changes could have changed: the rows, and what the remote service has been asked for. */
async function state() {
  const keys = await sql('SELECT id, revoked_at FROM api_keys ORDER BY id');
  const digests = await Promise.all(
    TABLES.map((table) =>
      sql(`SELECT count(*), md5(string_agg(t::text, '' ORDER BY t::text)) FROM ${table} t`),
    ),
  );
  return { keys, digests, users: (await service.sandbox!.control.users()).length };
}

interface HalfSent {
  readonly operation: string;
  /** Sends the rest of the body; of a file, only after the response. Returns the status of the response. */
  complete(): Promise<string>;
}

/** Sends a request up to the middle of its body, once the service has admitted its headers. */
async function sendHalf(
  url: string,
  { operation, path, body = {} }: Change,
  credentials: object,
): Promise<HalfSent> {
  const { hostname, port } = new URL(url);
  const isFile = typeof body === 'string';
  const text = isFile ? body : JSON.stringify(body);
  const fields = {
    ...{ host: `${hostname}:${port}`, connection: 'close', expect: '100-continue' },
    ...{ 'content-type': isFile ? 'text/csv' : 'application/json', 'content-length': text.length },
    ...credentials,
  };
  const head = Object.entries(fields).map((pair) => pair.join(': '));
  const socket: Socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  let received = '';
  socket.on('data', (bytes) => (received += bytes.toString()));
  socket.write([`${operation.split(' ')[0]} /api/v1${path} HTTP/1.1`, ...head, '', ''].join('\r\n'));
  await waitFor(`${operation} to be admitted`, () => received.includes('\r\n\r\n'));
  expect([operation, received]).toEqual([operation, 'HTTP/1.1 100 Continue\r\n\r\n']);
  received = '';
  socket.write(text.slice(0, text.length / 2));
  return {
    operation,
    complete: async () => {
      if (!isFile) socket.write(text.slice(text.length / 2));
      await waitFor(`a response to ${operation}`, () => received.includes('\r\n\r\n'));
      if (isFile && socket.writable)
        await new Promise((end) => socket.write(text.slice(text.length / 2), end));
      socket.destroy();
      return received.slice(9, 12);
    },
  };
}

const refuses = (client: TestClient) =>
  waitFor('the key to be refused', async () => (await client.call('GET', '/users?limit=1')).status === 401);

/** Returns the operations that did not end with 401, and whether something has changed. */
async function afterRevocation(
  target: TestApp,
): Promise<{ passed: string[]; hasChanged: boolean; sent: number }> {
  const all = await changesOf(service);
  const { id, key } = await createKey(admin, 'admin');
  const halves: HalfSent[] = [];
  for (const change of all)
    halves.push(await sendHalf(target.url, change, { authorization: `Bearer ${key}` }));
  // Another replica revokes the key, so that the one with the requests has to notice it.
  await TestClient.of(other).call('DELETE', `/api-keys/${id}`);
  await refuses(new TestClient(target.url, key));
  const before = await state();
  const passed: string[] = [];
  for (const { operation, complete } of halves) if ((await complete()) !== '401') passed.push(operation);
  const hasChanged = JSON.stringify(await state()) !== JSON.stringify(before);
  return { passed, hasChanged, sent: halves.length };
}

/** Tables of which one is locked by each change, after the check of its body and before it is written. */
const LOCKED = 'registrations, users, session_polls, invitations, campaigns, webhook_endpoints, stalls';

/** Inserts a registration that is due. Returns the request that joins it, and so would send it. */
async function joining(): Promise<Change> {
  const [tenantReference, ean] = [randomUUID(), newEan()];
  await sql(
    `INSERT INTO registrations (tenant_reference, eans, metadata, next_attempt_at) VALUES ($1, ARRAY[$2], '{}', clock_timestamp())`,
    [tenantReference, ean],
  );
  return { operation: 'POST /users', path: '/users', body: { tenantReference, gridLocations: [{ ean }] } };
}

/** Begins a transaction in which the key acts until `end` is called. */
function act(id: string) {
  let end = (): void => {};
  const held = new Promise<void>((resolve) => (end = resolve));
  const acting = new Promise<void>((resolve, reject) =>
    actAs({ id }, () => {
      const work = async (tx: Transaction) => {
        await requireActing(tx);
        resolve();
        await held;
      };
      service.database.transaction(work).catch(reject);
    }),
  );
  return { acting, end };
}

describe('R82: a revoked key acts no more', () => {
  it('although its request began before: each operation that changes something, half of whose body has arrived', async () => {
    const document = JSON.parse(
      await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8'),
    ) as {
      paths: Record<string, object>;
    };
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => method !== 'get')
        .map((method) => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
    );
    expect((await changesOf(service)).map(({ operation }) => operation).sort()).toEqual(operations.sort());
    const { passed, hasChanged, sent } = await afterRevocation(service);
    promise('R82', { figure: `${passed.length} of ${sent} operations with half a body`, bound: '0' });
    expect({ passed, hasChanged }).toEqual({ passed: [], hasChanged: false });
  });

  it('although its transaction or statement had begun', async () => {
    const { id, app } = await createKey(admin, 'admin');
    const withKey = () => ({ 'idempotency-key': randomUUID() });
    const keys = withKey();
    const [creation, ...others] = (await changesOf(service)).filter((change) => change.waits);
    await app.call('POST', creation!.path, creation!.body, keys);
    // What no table of LOCKED holds back before it locks the API key is held back by its Idempotency-Key.
    const held = [
      ...['POST /api-keys', 'POST /bulk-actions', 'POST /webhook-endpoints'],
      'POST /onboarding/pv/{sessionId}/refresh',
    ];
    const waiting = [creation!, ...others, await joining()].map((change) => ({
      ...change,
      headers: held.includes(change.operation) ? withKey() : undefined,
    }));
    waiting.push({ ...creation!, headers: keys });
    const before = await state();
    let sent: Promise<{ status: number }[]> | undefined;
    await service.database.transaction(async (tx) => {
      await tx.query(`LOCK TABLE ${LOCKED} IN EXCLUSIVE MODE; LOCK TABLE idempotency_keys`);
      sent = Promise.all(
        waiting.map(({ operation, path, body, headers }) =>
          app.call(operation.split(' ')[0]!, path, body, headers),
        ),
      );
      await waitForLockWaits(service.database, waiting.length);
      await tx.query('UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = $1', [id]);
    });
    const statuses = (await sent!).map(({ status }, index) => `${waiting[index]!.operation} ${status}`);
    expect(statuses).toEqual(waiting.map(({ operation }) => `${operation} 401`));
    expect((await state()).digests).toEqual(before.digests);
  });

  it('and what it had begun is audited, but changes nothing more', async () => {
    const receiver = await startWebhookReceiver();
    const made = await makeEndpoint(admin, receiver.url);
    await sql('UPDATE webhook_endpoints SET failures = 3, failing_since = now() WHERE id = $1', [made.id]);
    await sql(
      `UPDATE remote_tokens SET renew_at = now() - interval '1 ms', expires_at = now() - interval '1 ms', failures = 1`,
    );
    const { control } = service.sandbox!;
    const hold = await control.addFault({ kind: 'hold', operation: 'token', times: 1 });
    let respond = () => {};
    receiver.answer = () => new Promise((resolve) => (respond = () => resolve({ status: 204 })));
    const { id, app } = await createKey(admin, 'admin');
    const begun = [
      app.call('POST', `/webhook-endpoints/${made.id}/test`),
      app.call('POST', '/status/credentials/probe'),
    ];
    await waitFor('both requests', async () => receiver.received.length === 1);
    await waitUntilHeld(control, 1, hold.id);
    await TestClient.of(other).call('DELETE', `/api-keys/${id}`);
    await refuses(app);
    await control.release(hold.id);
    respond();
    expect((await begun[0]!).status).toBe(401);
    await begun[1];
    const audited = await sql(`SELECT action FROM audit_log WHERE actor = $1 ORDER BY action`, [`key:${id}`]);
    expect(audited).toEqual([{ action: 'credentials.probed' }, { action: 'webhook_endpoint.tested' }]);
    expect(await sql('SELECT failures FROM webhook_endpoints WHERE id = $1', [made.id])).toEqual([
      { failures: 3 },
    ]);
    await receiver.close();
  });

  it('and no upload of it is kept, however long it is held and even if its rest follows', async () => {
    const { id, key } = await createKey(admin, 'admin');
    const body = `tenantReference,ean\n${Array.from({ length: 4_000 }, () => `${randomUUID()},${newEan()}\n`).join('')}`;
    const before = await state();
    const upload = await sendHalf(
      service.url,
      { operation: 'POST /campaigns', path: '/campaigns', body },
      { authorization: `Bearer ${key}` },
    );
    const receiving = async () =>
      (
        await sql(
          `SELECT FROM campaign_rows JOIN campaigns c ON c.id = campaign_id WHERE c.status = 'receiving'`,
        )
      ).length;
    await waitFor('rows of the upload', async () => (await receiving()) > 0);
    await TestClient.of(other).call('DELETE', `/api-keys/${id}`);
    expect(await upload.complete()).toBe('401');
    await waitFor('the upload to be deleted', async () => (await receiving()) === 0);
    expect((await state()).digests.slice(0, -1)).toEqual(before.digests.slice(0, -1));
  });

  it('and reads no more: a download is reset, a late response is a 401 without data', async () => {
    const rows = Array.from({ length: ROWS }, () => ({ tenantReference: randomUUID().repeat(4) }));
    const campaign = await insertCampaign(service.database, rows);
    const { body: session } = await admin.call<SessionAnswer>(
      'POST',
      `/onboarding/pv/${await admin.locate()}`,
    );
    const { id, app } = await createKey(admin, 'admin');
    const headers = { authorization: `Bearer ${app.key}` };
    const callers = service.app.get(ActiveCallers);
    const watch = callers.watch.bind(callers);
    let endedAt = 0;
    callers.watch = (caller, end) =>
      watch(caller, (why) => {
        endedAt = performance.now();
        end(why);
      });
    const download = request(`${service.url}/api/v1/campaigns/${campaign}/result.csv`, { headers }).end();
    // Reads nothing until the service has ended it, so that most of the file is still to be sent.
    const [response] = (await once(download, 'response')) as [IncomingMessage];
    const { control } = service.sandbox!;
    const hold = await control.addFault({ kind: 'hold', contains: session.id, times: 1 });
    const late = app.call('POST', `/onboarding/pv/${session.id}/refresh`);
    await waitUntilHeld(control, 1, hold.id);
    const heldAt = performance.now();
    await TestClient.of(other).call('DELETE', `/api-keys/${id}`);
    const revokedAt = performance.now();
    await waitFor('the service to notice', () => endedAt > 0);
    callers.watch = watch;
    const tookMs = endedAt - revokedAt;
    const closed = new Promise((resolve) => response.once('close', resolve));
    response.on('error', () => {}).resume();
    await closed;
    expect(response.complete).toBe(false);
    await waitFor('the response to be late', () => performance.now() - heldAt > LATE_MS);
    await control.release(hold.id);
    expect((await late).body).toMatchObject({ code: 'unauthenticated' });
    promise('R82', { figure: `a download goes on for ${Math.round(tookMs)} ms`, bound: `${WITHIN_MS} ms` });
    expect(tookMs).toBeLessThan(inTime(WITHIN_MS));
  });

  it('and neither does a session of the console that ends', async () => {
    const some = (await changesOf(service)).slice(0, 5);
    const { key } = await createKey(admin, 'admin');
    const session = {
      kind: 'key',
      keyHash: hashOf(key).toString('base64'),
      expiresAt: Date.now() + 3_600_000,
    } as const;
    const cookie = `pvo_console=${service.app.get(ConsoleSessions).cookie.seal(session)}`;
    const credentials = { cookie, origin: service.url, 'x-console': '1' };
    const halves = await Promise.all(some.map((change) => sendHalf(service.url, change, credentials)));
    const before = await state();
    shiftClock(3_600_001);
    expect(await Promise.all(halves.map(({ complete }) => complete()))).toEqual(halves.map(() => '401'));
    jest.useRealTimers();
    expect(await state()).toEqual(before);
  });

  it('although its transactions overlap without a gap, and no other key waits', async () => {
    const { id } = await createKey(admin, 'admin');
    const { id: another } = await createKey(admin, 'admin');
    const first = act(id);
    await first.acting;
    // Does not wait for the transaction.
    await service.app.get(ApiKeysStore).noteUse(id);
    const revoking = TestClient.of(other).call('DELETE', `/api-keys/${id}`);
    await waitForLockWaits(service.database);
    const elsewhere = act(another);
    await elsewhere.acting;
    elsewhere.end();
    const second = act(id);
    const refused = expect(second.acting).rejects.toMatchObject({ code: 'unauthenticated' });
    await Promise.race([second.acting, waitForLockWaits(service.database, 2)]).catch(() => {});
    first.end();
    expect((await revoking).status).toBe(204);
    await refused;
    second.end();
  });

  it.each([
    ['a redelivery', 'POST', '/redeliver', (after: string) => ({ after }), 'delivered', 'pending'],
    ['a skip', 'PATCH', '', () => ({ enabled: true, skipMissed: true }), 'pending', 'failed'],
  ])(
    'although it has done the first of several steps: %s',
    async (_, method, path, bodyOf, before, after) => {
      const { id } = await makeEndpoint(admin, 'http://127.0.0.1:9/');
      await admin.call('PATCH', `/webhook-endpoints/${id}`, { enabled: false });
      // One delivery more than a step has.
      const [{ first }] = (await sql<{ first: string }>(
        `WITH event AS (
         INSERT INTO domain_events (id, sequence, name, subject, data)
         SELECT gen_random_uuid(), (SELECT max(sequence) FROM domain_events) + n, 'session.online', gen_random_uuid(), '{}'
           FROM generate_series(1, 5001) n RETURNING position, sequence, subject
       ), delivery AS (
         INSERT INTO webhook_deliveries (endpoint_id, position, subject, status, next_attempt_at)
         SELECT $1, position, subject, $2, CASE $2 WHEN 'pending' THEN now() END FROM event
       ), endpoint AS (UPDATE webhook_endpoints SET read_to = (SELECT max(sequence) FROM event) WHERE id = $1)
       SELECT min(sequence) - 1 AS first FROM event`,
        [id, before],
      )) as [{ first: string }];
      const { id: key, app } = await createKey(admin, 'admin');
      // The first step commits together with the revocation.
      await sql(`CREATE FUNCTION revoke_key() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN UPDATE api_keys SET revoked_at = now() WHERE id = '${key}'; RETURN NULL; END $$`);
      await sql(`CREATE TRIGGER revoke_key AFTER UPDATE ON webhook_deliveries EXECUTE FUNCTION revoke_key()`);
      const { status } = await app.call(method, `/webhook-endpoints/${id}${path}`, bodyOf(first));
      await sql('DROP FUNCTION revoke_key CASCADE');
      const counts = await sql<{ status: string; count: number }>(
        'SELECT status, count(*)::int FROM webhook_deliveries WHERE endpoint_id = $1 GROUP BY 1',
        [id],
      );
      expect([status, Object.fromEntries(counts.map((each) => [each.status, each.count]))]).toEqual([
        401,
        { [before]: 1, [after]: 5_000 },
      ]);
    },
  );

  itAtLength('turns red when the key is checked before the body only', async () => {
    const bug = {
      identifyAgain: async ({ principal }: { principal: unknown }) => principal,
    };
    await withReplica(
      service,
      { ROLE: 'api' },
      async (replica) => {
        expect((await afterRevocation(replica)).hasChanged).toBe(true);
      },
      { prepare: (app) => void Object.assign(app.get(RequestHooks), bug) },
    );
  });
});

describe('a download whose client has gone before it begins', () => {
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      service.app
        .getHttpServer()
        .getConnections((error: Error | null, count: number) =>
          error === null ? resolve(count) : reject(error),
        ),
    );

  it.each([
    ['export', 'users'],
    ['result.csv', 'campaigns'],
  ])('leaves nothing behind (%s, while %s is locked)', async (name, table) => {
    const { key } = await createKey(admin, 'users:read', 'users:erase');
    const { userId } = await admin.startNew();
    const campaign = await insertCampaign(service.database, [{ tenantReference: randomUUID() }]);
    const path = name === 'export' ? `/users/${userId}/export` : `/campaigns/${campaign}/result.csv`;
    const callers = service.app.get(ActiveCallers);
    const watch = callers.watch.bind(callers);
    let watched = 0;
    let seen = 0;
    callers.watch = (caller, end) => {
      watched += 1;
      seen += 1;
      const unwatch = watch(caller, end);
      return () => {
        watched -= 1;
        unwatch();
      };
    };
    const before = await connections();
    await service.database.transaction(async (tx) => {
      await tx.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      const sockets = Array.from({ length: 2 }, () => {
        const { hostname, port } = new URL(service.url);
        const socket = connect(Number(port), hostname);
        socket.on('error', () => {});
        socket.write(`GET /api/v1${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
        return socket;
      });
      await waitForLockWaits(service.database, sockets.length);
      for (const socket of sockets) socket.resetAndDestroy();
      await waitFor('the service to notice', async () => (await connections()) <= before);
    });
    await waitFor('both to begin and to end', () => seen >= 2 && watched === 0);
    callers.watch = watch;
    const headers = { authorization: `Bearer ${key}` };
    expect((await fetch(`${service.url}/api/v1${path}`, { headers })).status).toBe(200);
  });
});
