import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Webhook } from 'standardwebhooks';
import { WEBHOOK_SCHEMAS } from '../../../scripts/asyncapi/schemas.js';
import { TEST_TYPE } from '../../../src/webhooks/endpoints/endpoints.service.js';
import { WebhookEndpointsStore } from '../../../src/webhooks/endpoints/endpoints.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { emptyTables } from '../../setup/database/test-database.js';
import { databaseTime, shiftClock } from '../../setup/shifted-clock.js';
import { TestClient, type Answer } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import { waitForLockWaits } from '../../faults/support/waits.js';

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly headerNames: readonly string[];
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly failures: number;
  readonly pending: number;
  readonly unread: number;
  readonly updatedAt: string;
  readonly previousSecretUntil: string | null;
  readonly createdAt: string;
  readonly secret: string;
}

interface ProblemAnswer {
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly { readonly field: string; readonly message: string }[];
}

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const OWN_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const fieldsOf = ({ status, body }: Answer<ProblemAnswer>) => [
  status,
  body.errors?.map(({ field }) => field),
];

// Starts no worker, so the service sends only what a test requests.
const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);
let database: Database;
let receiver: WebhookReceiver;

beforeAll(async () => {
  database = service.database;
  receiver = await startWebhookReceiver();
});
beforeEach(async () => {
  await emptyTables(database, 'webhook_endpoints, domain_events');
  receiver.received.length = 0;
  receiver.answer = () => ({ status: 204 });
});
afterAll(() => receiver.close());

const create = async (body: object = {}): Promise<Endpoint> => {
  const response = await client.call<Endpoint>('POST', '/webhook-endpoints', { url: receiver.url, ...body });
  if (response.status !== 201) throw new Error(JSON.stringify(response.body));
  return response.body;
};
const read = async (id: string) => (await client.call<Endpoint>('GET', `/webhook-endpoints/${id}`)).body;
const change = (id: string, body: object) =>
  client.call<Endpoint & ProblemAnswer>('PATCH', `/webhook-endpoints/${id}`, body);

/** Inserts sequenced events and returns the sequence of the first event. */
const insertEvents = async (count: number, name = 'session.online'): Promise<number> => {
  const [row] = await database.query<{ first: number }>(
    `WITH newest AS (SELECT coalesce(max(sequence), 0) AS sequence FROM domain_events), inserted AS (
       INSERT INTO domain_events (id, sequence, name, subject, data)
       SELECT gen_random_uuid(), newest.sequence + n, $2, 'subject-' || n % 7, '{}'
       FROM newest, generate_series(1, $1::int) AS n RETURNING sequence
     ) SELECT min(sequence)::int AS first FROM inserted`,
    [count, name],
  );
  return row!.first;
};

/** Inserts the endpoint's missing deliveries and marks all events as read, as a worker does. */
const deliverEvents = async (endpointId: string, status = 'delivered', error: string | null = null) =>
  database.query(
    `WITH moved AS (UPDATE webhook_endpoints SET read_to = (SELECT max(sequence) FROM domain_events), due_at = 'infinity' WHERE id = $1),
     queued AS (
       INSERT INTO webhook_subjects (endpoint_id, subject, due_at)
       SELECT DISTINCT $1::uuid, subject, now() + interval '1 hour' FROM domain_events WHERE $2 = 'pending'
     )
     INSERT INTO webhook_deliveries (endpoint_id, position, subject, status, attempts, next_attempt_at, last_error)
     SELECT $1, position, subject, $2, 1, CASE WHEN $2 = 'pending' THEN now() + interval '1 hour' END, $3
     FROM domain_events AS event
     WHERE NOT EXISTS (SELECT FROM webhook_deliveries WHERE endpoint_id = $1 AND position = event.position) ORDER BY position`,
    [endpointId, status, error],
  );

/** Counts the deliveries by status. A pending delivery counts as `due` if its subject is due. */
const statesOf = async (endpointId: string): Promise<Record<string, number>> => {
  const rows = await database.query<{ status: string; count: number }>(
    `SELECT CASE WHEN queued.due_at <= clock_timestamp() AND status = 'pending' THEN 'due' ELSE status END AS status, count(*)::int AS count
     FROM webhook_deliveries LEFT JOIN webhook_subjects AS queued USING (endpoint_id, subject) WHERE endpoint_id = $1 GROUP BY 1`,
    [endpointId],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
};

const isDue = async (endpointId: string): Promise<boolean> => {
  const due = 'SELECT FROM webhook_endpoints WHERE id = $1 AND due_at <= clock_timestamp()';
  return (await database.query(due, [endpointId])).length === 1;
};

/** Creates another endpoint that fails, with all events pending. Returns a function that expects all its rows as they were. */
async function failingNeighbour(): Promise<() => Promise<void>> {
  const { id } = await create();
  await deliverEvents(id, 'pending', 'responded with 503');
  await database.query('UPDATE webhook_endpoints SET failures = 3, failing_since = now() WHERE id = $1', [
    id,
  ]);
  const rows = () =>
    database.query(
      `SELECT e::text AS row FROM webhook_endpoints e WHERE id = $1
       UNION ALL SELECT d::text FROM webhook_deliveries d WHERE endpoint_id = $1
       UNION ALL SELECT s::text FROM webhook_subjects s WHERE endpoint_id = $1 ORDER BY 1`,
      [id],
    );
  const before = await rows();
  return async () => expect(await rows()).toEqual(before);
}

const detailsOf = async (target: string, action: string) =>
  (
    await database.query<{ details: object }>(
      'SELECT details FROM audit_log WHERE target = $1 AND action = $2 ORDER BY id',
      [target, `webhook_${action}`],
    )
  ).map(({ details }) => details);

const auditOf = async (target: string) => {
  const sql = 'SELECT action FROM audit_log WHERE target = $1 ORDER BY id';
  const rows = await database.query<{ action: string }>(sql, [target]);
  return rows.map(({ action }) => action.replace(/^webhook_/, ''));
};

describe('webhook endpoints', () => {
  it('are created with a secret that is shown once, and start with the next event', async () => {
    await insertEvents(3);
    const { secret, ...endpoint } = await create({
      types: ['session.online', 'pv.inverter.online.v1', 'pv.session.online.v1'],
      description: 'customer app',
      headers: { Authorization: 'Bearer of-the-receiver', 'X-Tenant': 'a' },
    });
    expect(Buffer.from(secret.replace('whsec_', ''), 'base64')).toHaveLength(32);
    expect(endpoint).toEqual({
      object: 'webhook_endpoint',
      id: expect.any(String),
      url: `${receiver.url}/`,
      types: ['pv.session.online.v1', 'pv.inverter.online.v1'],
      description: 'customer app',
      headerNames: ['Authorization', 'X-Tenant'],
      enabled: true,
      disabledAt: null,
      disabledReason: null,
      failures: 0,
      failingSince: null,
      lastDeliveredAt: null,
      previousSecretUntil: null,
      pending: 0,
      unread: 0,
      stalled: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await read(endpoint.id)).toEqual(endpoint);
    expect((await create({ secret: OWN_SECRET })).secret).toBe(OWN_SECRET);
    const stored = await database.query('SELECT t::text AS text FROM webhook_endpoints t');
    const text = JSON.stringify(stored);
    for (const hidden of [secret, OWN_SECRET, 'of-the-receiver']) expect(text).not.toContain(hidden);
    expect(await auditOf(endpoint.id)).toEqual(['endpoint.created']);
  });

  it('are at most 40, even if many are created at once', async () => {
    await database.query(
      `INSERT INTO webhook_endpoints (url, types, secret_ciphertext, read_to, created_by)
       SELECT 'http://127.0.0.1:1', '{}', '\\x00', 0, 'test' FROM generate_series(1, 37)`,
    );
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => client.call('POST', '/webhook-endpoints', { url: receiver.url })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
    expect(responses.find(({ status }) => status === 409)?.body).toMatchObject({
      code: 'webhook_endpoint_limit',
    });
  });

  it('change only in the given fields', async () => {
    const { id } = await create({ types: ['session.online'], headers: { 'X-A': 'a' }, description: 'one' });
    const { body } = await change(id, { description: 'two', url: `${receiver.url}/hook` });
    expect(body).toMatchObject({
      url: `${receiver.url}/hook`,
      description: 'two',
      types: ['pv.session.online.v1'],
      headerNames: ['X-A'],
    });
    expect((await change(id, { types: [], headers: { 'X-B': 'b', 'X-C': 'c' } })).body).toMatchObject({
      types: [],
      headerNames: ['X-B', 'X-C'],
    });
    expect((await change(id, { headers: {} })).body.headerNames).toEqual([]);
    for (const url of [null, 'http://someone@127.0.0.1/'])
      expect(fieldsOf(await change(id, { url }))).toEqual([400, ['url']]);
    expect(fieldsOf(await change(id, { secret: OWN_SECRET }))).toEqual([400, ['secret']]);
    expect(fieldsOf(await change(id, { enabled: true, skipMissed: true }))).toEqual([400, ['skipMissed']]);
    expect((await change(id, {})).status).toBe(200);
    // Neither the path of a URL nor the value of a header: they may contain secrets.
    const { origin } = new URL(receiver.url);
    expect([
      ...(await detailsOf(id, 'endpoint.created')),
      ...(await detailsOf(id, 'endpoint.changed')),
    ]).toEqual([
      { origin, types: ['session.online'], headerNames: ['X-A'] },
      { changed: ['description', 'url'], origin },
      { changed: ['types', 'headers'], types: [], headerNames: ['X-B', 'X-C'] },
      { changed: ['headers'], headerNames: [] },
    ]);
  });

  it('say when a caller has last changed them', async () => {
    const { id } = await create({});
    const longAgo = '2026-01-01T00:00:00.000Z';
    for (const [path, body, isChange] of [
      ['', { description: 'two' }, true],
      ['', {}, false],
      ['', { enabled: false }, true],
      ['', { enabled: true, skipMissed: true }, true],
      ['/rotate-secret', {}, true],
    ] as const) {
      await database.query('UPDATE webhook_endpoints SET updated_at = $1', [longAgo]);
      await client.call(path === '' ? 'PATCH' : 'POST', `/webhook-endpoints/${id}${path}`, body);
      expect([path, body, (await read(id)).updatedAt !== longAgo]).toEqual([path, body, isChange]);
    }
  });

  describe('that move to another origin', () => {
    const OTHER_SECRET = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
    /** An endpoint with a header, a secret and a previous secret. It is disabled, with pending deliveries. */
    const makeElsewhere = async () => {
      const { id } = await create({ url: 'http://127.0.0.1:1/', headers: { 'X-Key': 'of-the-first' } });
      await client.call('POST', `/webhook-endpoints/${id}/rotate-secret`, { secret: OWN_SECRET });
      await insertEvents(2);
      await deliverEvents(id, 'pending');
      await change(id, { enabled: false });
      return id;
    };

    it.each([
      [{}, ['headers', 'secret']],
      [{ headers: {} }, ['secret']],
      [{ headers: { 'X-Key': 'of-the-second' } }, ['secret']],
      [{ secret: OTHER_SECRET }, ['headers']],
      [{ enabled: true, skipMissed: true }, ['headers', 'secret']],
    ])(
      'take neither headers nor secrets with them: with %j, these are missing: %j',
      async (given, missing) => {
        const id = await makeElsewhere();
        const before = await read(id);
        expect(fieldsOf(await change(id, { url: receiver.url, ...given }))).toEqual([400, missing]);
        expect([await read(id), (await statesOf(id)).pending]).toEqual([before, 2]);
      },
    );

    it.each([
      ['none', {}, undefined],
      ['others', { 'X-Key': 'of-the-second' }, 'of-the-second'],
    ])('send %s of the headers there, and sign with the new secret alone', async (_, headers, expected) => {
      const id = await makeElsewhere();
      const { status, body } = await change(id, { url: receiver.url, headers, secret: OTHER_SECRET });
      expect([status, body.previousSecretUntil]).toEqual([200, null]);
      expect(body).not.toHaveProperty('secret');
      await client.call('POST', `/webhook-endpoints/${id}/test`);
      const sent = receiver.received[0]!;
      expect(sent.headers['x-key']).toBe(expected);
      expect(sent.headers['webhook-signature']).toMatch(/^\S+$/);
      expect(
        new Webhook(OTHER_SECRET).verify(sent.body, sent.headers as Record<string, string>),
      ).toBeDefined();
    });

    it('also include a change of the scheme or the port, but not of the path', async () => {
      const id = await makeElsewhere();
      for (const url of ['https://127.0.0.1:1/', 'http://127.0.0.1:2/', 'http://127.0.0.2:1/'])
        expect(fieldsOf(await change(id, { url }))).toEqual([400, ['headers', 'secret']]);
      expect((await change(id, { url: 'http://127.1:1/hook' })).body.headerNames).toEqual(['X-Key']);
    });
  });

  it.each<[method: string, path: string, body: object | undefined]>([
    ['GET', '', undefined],
    ['PATCH', '', {}],
    ['DELETE', '', undefined],
    ['POST', '/rotate-secret', {}],
    ['POST', '/test', undefined],
    ['POST', '/redeliver', { after: '0' }],
    ['POST', '/redeliver', { deliveryIds: [UNKNOWN] }],
  ])('that are not known are not found by %s …%s', async (method, path, body) => {
    expect((await client.call(method, `/webhook-endpoints/${UNKNOWN}${path}`, body)).status).toBe(404);
  });

  it('that are repaired have no failures any more, and retry at once', async () => {
    await insertEvents(5);
    const { id } = await create();
    await deliverEvents(id, 'pending', 'responded with 401');
    const expectOtherAsBefore = await failingNeighbour();
    const fail = () =>
      database.query(
        `UPDATE webhook_endpoints SET failures = 4, failing_since = now(), is_reported = true, quiet_until = now() + interval '1 day' WHERE id = $1`,
        [id],
      );
    await fail();
    await change(id, { description: 'not repaired' });
    expect([(await read(id)).failures, await isDue(id)]).toEqual([4, false]);
    const { body } = await change(id, { headers: { Authorization: 'Bearer other' } });
    expect([body.failures, body.pending, await isDue(id)]).toEqual([0, 5, true]);
    expect(Object.keys(await statesOf(id))).toEqual(['due']);
    await fail();
    expect((await change(id, { url: `${receiver.url}/moved` })).body.failures).toBe(0);
    expect(await database.query('SELECT FROM webhook_endpoints WHERE is_reported')).toEqual([]);
    await expectOtherAsBefore();
  });

  describe('that are disabled', () => {
    it('resume where they stopped once they are enabled', async () => {
      const { id } = await create();
      await insertEvents(4);
      await deliverEvents(id, 'pending');
      const off = (await change(id, { enabled: false })).body;
      expect(off).toMatchObject({
        enabled: false,
        disabledReason: 'requested',
        disabledAt: expect.any(String),
      });
      await change(id, { enabled: false });
      await insertEvents(3);
      expect((await read(id)).unread).toBe(3);
      await database.query('UPDATE webhook_endpoints SET failures = 9, failing_since = now()');
      const on = (await change(id, { enabled: true })).body;
      expect(on).toMatchObject({ enabled: true, disabledReason: null, unread: 3, failures: 0 });
      expect([Object.keys(await statesOf(id)), await isDue(id)]).toEqual([['due'], true]);
      await change(id, { enabled: true });
      expect(await auditOf(id)).toEqual(['endpoint.created', 'endpoint.disabled', 'endpoint.enabled']);
    });

    it('resume after the newest event with skipMissed', async () => {
      const { id } = await create();
      await insertEvents(4);
      await deliverEvents(id, 'pending');
      const expectOtherAsBefore = await failingNeighbour();
      await change(id, { enabled: false });
      await insertEvents(3);
      expect((await change(id, { enabled: true, skipMissed: true })).body).toMatchObject({
        enabled: true,
        unread: 0,
        pending: 0,
      });
      await expectOtherAsBefore();
      const errors = await database.query(
        'SELECT DISTINCT status, last_error AS error FROM webhook_deliveries WHERE endpoint_id = $1',
        [id],
      );
      expect(errors).toEqual([{ status: 'failed', error: 'skipped' }]);
    });

    it('do not skip a delivery that is recorded meanwhile', async () => {
      const { id } = await create();
      await insertEvents(3);
      await deliverEvents(id, 'pending');
      await change(id, { enabled: false });
      const changes: ReturnType<typeof change>[] = [];
      // Records an attempt that was in flight when the endpoint was disabled.
      await database.transaction(async (tx) => {
        await tx.query(
          `UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL
           WHERE id = (SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 LIMIT 1)`,
          [id],
        );
        changes.push(change(id, { enabled: true, skipMissed: true }));
        await waitForLockWaits(database);
      });
      expect((await changes[0]!).status).toBe(200);
      expect(await statesOf(id)).toEqual({ delivered: 1, failed: 2 });
    });
  });

  it('are deleted with their deliveries, however many there are', async () => {
    const { id } = await create();
    const other = await create();
    const expectOtherAsBefore = await insertEvents(1).then(failingNeighbour);
    await insertEvents(12_000);
    await deliverEvents(id);
    await deliverEvents(other.id);
    expect((await client.call('DELETE', `/webhook-endpoints/${id}`)).status).toBe(204);
    expect((await client.call('GET', `/webhook-endpoints/${id}`)).status).toBe(404);
    expect(await statesOf(id)).toEqual({});
    expect((await statesOf(other.id)).delivered).toBeGreaterThan(11_999);
    await expectOtherAsBefore();
    expect(await auditOf(id)).toEqual(['endpoint.created', 'endpoint.deleted']);
  });

  it('are audited once, even if their deletion is interrupted and repeated', async () => {
    const { id } = await create();
    const store = service.app.get(WebhookEndpointsStore);
    store['inSteps'] = () => Promise.reject(new Error('interrupted'));
    expect((await client.call('DELETE', `/webhook-endpoints/${id}`)).status).toBe(500);
    Reflect.deleteProperty(store, 'inSteps');
    expect((await client.call('DELETE', `/webhook-endpoints/${id}`)).status).toBe(204);
    expect(await auditOf(id)).toEqual(['endpoint.created', 'endpoint.deleted']);
  });

  describe('are tested', () => {
    it('by an event that the standardwebhooks library verifies, with their own headers', async () => {
      receiver.answer = () => ({ status: 200, body: `thanks ${'x'.repeat(5_000)}` });
      const { id, secret } = await create({ headers: { Authorization: 'Bearer of-the-receiver' } });
      const { status, body } = await client.call<{ eventId: string; answer: string }>(
        'POST',
        `/webhook-endpoints/${id}/test`,
      );
      expect([status, body]).toEqual([
        200,
        {
          object: 'webhook_test',
          delivered: true,
          eventId: expect.any(String),
          status: 200,
          error: null,
          answer: expect.stringMatching(/^thanks /),
          durationMs: expect.any(Number),
        },
      ]);
      expect(body.answer.length).toBeLessThanOrEqual(1_024);
      const { headers, body: bytes } = receiver.received[0]!;
      expect(headers).toMatchObject({ authorization: 'Bearer of-the-receiver', 'webhook-id': body.eventId });
      expect(new Webhook(secret).verify(bytes, headers as Record<string, string>)).toMatchObject({
        id: body.eventId,
        type: 'pv.webhook_endpoint.test.v1',
        subject: id,
      });
      const validate = new Ajv2020({ validateFormats: false }).compile(WEBHOOK_SCHEMAS[TEST_TYPE]);
      expect([validate(JSON.parse(bytes)), validate.errors]).toEqual([true, null]);
      expect(await client.events()).not.toContainEqual(expect.objectContaining({ subject: id }));
      expect(await auditOf(id)).toEqual(['endpoint.created', 'endpoint.tested']);
      expect(await detailsOf(id, 'endpoint.tested')).toEqual([{ status: 200 }]);
    });

    it("at the time of the database, whatever the process's clock says", async () => {
      const { id } = await create();
      shiftClock(-10 * 60_000);
      await client.call('POST', `/webhook-endpoints/${id}/test`);
      jest.useRealTimers();
      const { headers, body } = receiver.received[0]!;
      const { time } = JSON.parse(body) as { time: string };
      expect(Math.floor(Date.parse(time) / 1_000)).toBe(Number(headers['webhook-timestamp']));
      expect(Math.abs(Date.parse(time) - (await databaseTime(database)))).toBeLessThan(60_000);
    });

    it('and once that succeeds, have no failures any more, and retry at once', async () => {
      const { id } = await create();
      await insertEvents(5);
      await deliverEvents(id, 'pending', 'responded with 503');
      const expectOtherAsBefore = await failingNeighbour();
      await database.query(
        `UPDATE webhook_endpoints SET failures = 12, failing_since = now(), quiet_until = now() + interval '5 minutes' WHERE id = $1`,
        [id],
      );
      const test = () => client.call('POST', `/webhook-endpoints/${id}/test`);
      receiver.answer = () => ({ status: 503 });
      await test();
      expect([await statesOf(id), (await read(id)).failures, await isDue(id)]).toEqual([
        { pending: 5 },
        12,
        false,
      ]);
      receiver.answer = () => ({ status: 204 });
      await test();
      expect([await statesOf(id), (await read(id)).failures, await isDue(id)]).toEqual([{ due: 5 }, 0, true]);
      expect(await database.query('SELECT FROM webhook_endpoints WHERE quiet_until IS NOT NULL')).toEqual([]);
      await expectOtherAsBefore();
    });

    it('also if they are disabled or fail, which does not change them', async () => {
      const { id } = await create();
      await change(id, { enabled: false });
      receiver.answer = () => ({ status: 500, body: 'no' });
      const failed = await client.call('POST', `/webhook-endpoints/${id}/test`);
      expect(failed.body).toMatchObject({
        delivered: false,
        status: 500,
        error: 'responded with 500',
        answer: 'no',
      });
      await database.query('UPDATE webhook_endpoints SET failures = 9, failing_since = now()');
      receiver.answer = () => ({ status: 204 });
      await client.call('POST', `/webhook-endpoints/${id}/test`);
      expect((await read(id)).failures).toBe(9);
      const refused = await create({ url: 'http://127.0.0.1:1/' });
      const unreached = await client.call('POST', `/webhook-endpoints/${refused.id}/test`);
      expect(unreached.body).toMatchObject({ delivered: false, status: null, answer: null });
      expect((await read(refused.id)).failures).toBe(0);
    });
  });

  describe('change their secret', () => {
    const sign = async (id: string) => {
      receiver.received.length = 0;
      await client.call('POST', `/webhook-endpoints/${id}/test`);
      return receiver.received[0]!;
    };
    const verifies = (secret: string, { body, headers }: WebhookReceiver['received'][0]): boolean => {
      try {
        new Webhook(secret).verify(body, headers as Record<string, string>);
        return true;
      } catch {
        return false;
      }
    };
    const rotate = (id: string, body?: object, headers?: Record<string, string>) =>
      client.call<{ secret: string; previousSecretUntil: string | null } & ProblemAnswer>(
        'POST',
        `/webhook-endpoints/${id}/rotate-secret`,
        body,
        headers,
      );

    it('with an overlap in which both sign', async () => {
      const { id, secret: first } = await create();
      const { status, body } = await rotate(id);
      expect(status).toBe(200);
      const hours = (Date.parse(body.previousSecretUntil!) - Date.now()) / 3_600_000;
      expect(hours).toBeCloseTo(24, 1);
      expect((await read(id)).previousSecretUntil).toBe(body.previousSecretUntil);
      const both = await sign(id);
      expect([verifies(first, both), verifies(body.secret, both)]).toEqual([true, true]);
      await database.query(
        `UPDATE webhook_endpoints SET previous_secret_until = now() - interval '1 ms' WHERE id = $1`,
        [id],
      );
      const later = await sign(id);
      expect([verifies(first, later), verifies(body.secret, later)]).toEqual([false, true]);
    });

    it('again after a lost response: all earlier secrets still sign, the newest first', async () => {
      const { id, secret: first } = await create();
      const lost = await rotate(id);
      const [{ body }, repeated] = [
        await rotate(id, { overlapSeconds: 60 }, { 'idempotency-key': id }),
        await rotate(id, { overlapSeconds: 60 }, { 'idempotency-key': id }),
      ];
      expect(repeated.body).toEqual(body);
      expect(body.previousSecretUntil).toBe(lost.body.previousSecretUntil);
      const sent = await sign(id);
      const known = [body.secret, lost.body.secret, first];
      const signers = String(sent.headers['webhook-signature'])
        .split(' ')
        .map((signature) => ({ ...sent, headers: { ...sent.headers, 'webhook-signature': signature } }))
        .map((signed) => known.findIndex((secret) => verifies(secret, signed)));
      expect(signers).toEqual([0, 1, 2]);
    });

    it('and each signs until its own end, which a later rotation does not extend', async () => {
      const { id, secret: first } = await create();
      const { body: second } = await rotate(id, { overlapSeconds: 1 });
      const { body: third } = await rotate(id);
      expect(Date.parse(third.previousSecretUntil!)).toBeGreaterThan(Date.now() + 86_000_000);
      const known = [first, second.secret, third.secret];
      await waitFor('the end of the first', async () => !verifies(first, await sign(id)));
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(second.previousSecretUntil!));
      const sent = await sign(id);
      expect(known.map((secret) => verifies(secret, sent))).toEqual([false, true, true]);
    });

    it('to the current one, which changes nothing for the receiver', async () => {
      const { id, secret: first } = await create();
      await rotate(id, { secret: OWN_SECRET });
      await rotate(id, { secret: OWN_SECRET });
      const sent = await sign(id);
      expect([verifies(first, sent), verifies(OWN_SECRET, sent)]).toEqual([true, true]);
    });

    it('without an overlap, after a leak', async () => {
      const { id, secret: first } = await create();
      const { body } = await rotate(id, { secret: OWN_SECRET, overlapSeconds: 0 });
      expect(body).toMatchObject({ secret: OWN_SECRET, previousSecretUntil: null });
      const sent = await sign(id);
      expect([verifies(first, sent), verifies(OWN_SECRET, sent)]).toEqual([false, true]);
    });
  });
});

describe('webhook endpoints in production', () => {
  const production = useTestApp({
    ROLE: 'api',
    NODE_ENV: 'production',
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: false,
  });
  const createAt = (url: string) =>
    TestClient.of(production).call<ProblemAnswer>('POST', '/webhook-endpoints', { url });

  it.each([
    ['http://app.example/', 'must begin with https://'],
    ['https://127.0.0.1/', 'must lead to a public address: its host is in the loopback range'],
    ['https://localhost/', 'must lead to a public address: its host is a name of this machine'],
  ])('may not be at %s', async (url, message) => {
    const { status, body } = await createAt(url);
    expect([status, body.errors]).toEqual([400, [{ field: 'url', message }]]);
  });

  it('may be at a public https address', async () => {
    expect((await createAt('https://app.example/hooks')).status).toBe(201);
  });
});

describe('webhook deliveries', () => {
  let endpoint: Endpoint;

  beforeEach(async () => {
    endpoint = await create();
  });

  interface Delivery {
    readonly id: string;
    readonly endpointId: string;
    readonly eventId: string;
    readonly type: string;
    readonly sequence: string;
    readonly subject: string;
    readonly status: string;
  }
  interface DeliveryPage {
    readonly items: readonly Delivery[];
    readonly next: string | null;
  }

  const list = async (query = ''): Promise<Delivery[]> => {
    const found: Delivery[] = [];
    for (let cursor = ''; ;) {
      const { body } = await client.call<DeliveryPage>('GET', `/webhook-deliveries?limit=4${query}${cursor}`);
      found.push(...body.items);
      if (body.next === null) return found;
      cursor = `&cursor=${body.next}`;
    }
  };
  const redeliver = (body: object, id = endpoint.id) =>
    client.call<{ redelivered: number; next: string | null } & ProblemAnswer>(
      'POST',
      `/webhook-endpoints/${id}/redeliver`,
      body,
    );

  it('are listed in pages, newest first, over all endpoints', async () => {
    const other = await create();
    await insertEvents(5);
    await deliverEvents(endpoint.id);
    await database.query(`UPDATE webhook_deliveries SET created_at = created_at - interval '1 second'`);
    await deliverEvents(other.id, 'failed', 'responded with 500');
    const all = await list();
    expect(all).toHaveLength(10);
    expect(new Set(all.map(({ id }) => id)).size).toBe(10);
    const sequences = (id: string) =>
      all.filter(({ endpointId }) => endpointId === id).map(({ sequence }) => Number(sequence));
    expect(sequences(other.id)).toEqual([...sequences(other.id)].sort((a, b) => b - a));
    expect((await client.call('GET', `/webhook-deliveries/${all[0]!.id}`)).body).toEqual({
      object: 'webhook_delivery',
      id: all[0]!.id,
      endpointId: other.id,
      eventId: expect.any(String),
      type: 'pv.session.online.v1',
      sequence: expect.any(String),
      subject: expect.any(String),
      status: 'failed',
      attempts: 1,
      nextAttemptAt: null,
      lastAttemptAt: null,
      lastStatus: null,
      lastError: 'responded with 500',
      lastAnswer: null,
      previousAttempts: [],
      createdAt: expect.any(String),
    });
    const { eventId, subject } = all[0]!;
    const counts = await Promise.all(
      [
        `&endpointId=${endpoint.id}`,
        '&status=failed',
        `&eventId=${eventId}`,
        `&subject=${subject}`,
        `&subject=${subject}&status=failed`,
        `&endpointId=${other.id}&status=delivered`,
        '&since=2999-01-01T00:00:00Z',
        `&eventId=${UNKNOWN}`,
      ].map(async (query) => (await list(query)).length),
    );
    expect(counts).toEqual([5, 5, 2, 2, 1, 0, 0, 0]);
  });

  it('are sent again one by one, with the same event id', async () => {
    await insertEvents(2);
    await deliverEvents(endpoint.id);
    const [newest] = await list();
    await database.query('UPDATE webhook_deliveries SET early_attempts = 1');
    await database.query(
      `INSERT INTO webhook_subjects (endpoint_id, subject, due_at) VALUES ($1, $2, now() + interval '1 hour')`,
      [endpoint.id, newest!.subject],
    );
    const { status, body } = await client.call<Delivery>(
      'POST',
      `/webhook-deliveries/${newest!.id}/redeliver`,
    );
    expect([status, body]).toMatchObject([202, { eventId: newest!.eventId, status: 'pending', attempts: 0 }]);
    expect([await statesOf(endpoint.id), await isDue(endpoint.id)]).toEqual([{ delivered: 1, due: 1 }, true]);
    const early = 'SELECT early_attempts AS early FROM webhook_deliveries WHERE id = $1';
    expect(await database.query(early, [newest!.id])).toEqual([{ early: 0 }]);
    expect(await auditOf(newest!.id)).toEqual(['delivery.redelivered']);
    expect((await client.call('POST', `/webhook-deliveries/${UNKNOWN}/redeliver`)).status).toBe(404);
  });

  it('are sent again by their ids, all or none', async () => {
    await insertEvents(4);
    await deliverEvents(endpoint.id);
    const [one, two] = (await list()).map(({ id }) => id);
    const other = await create();
    await deliverEvents(other.id);
    const [foreign] = (await list(`&endpointId=${other.id}`)).map(({ id }) => id);
    const bad = await redeliver({ deliveryIds: [one, UNKNOWN, two, foreign] });
    expect(fieldsOf(bad)).toEqual([400, ['deliveryIds[1]', 'deliveryIds[3]']]);
    expect(await auditOf(endpoint.id)).toEqual(['endpoint.created']);
    expect([await statesOf(endpoint.id), await isDue(endpoint.id)]).toEqual([{ delivered: 4 }, false]);
    expect(await redeliver({ deliveryIds: [one!.toUpperCase(), two] })).toMatchObject({
      status: 202,
      body: { redelivered: 2, next: null },
    });
    expect(await detailsOf(endpoint.id, 'endpoint.redelivered')).toEqual([{ deliveries: 2 }]);
    expect(await auditOf(endpoint.id)).toEqual(['endpoint.created', 'endpoint.redelivered']);
    expect([await statesOf(endpoint.id), await isDue(endpoint.id)]).toEqual([{ delivered: 2, due: 2 }, true]);
  });

  it('are sent again by range, by type, and only failed ones', async () => {
    const first = await insertEvents(6);
    await insertEvents(4, 'inverter.online');
    await deliverEvents(endpoint.id);
    await database.query(
      `UPDATE webhook_deliveries AS d SET status = 'failed', last_error = 'x' FROM domain_events AS e
       WHERE e.position = d.position AND e.sequence = $1`,
      [first],
    );
    // Of another endpoint, more have failed.
    await deliverEvents((await create()).id, 'failed');
    const range = { after: String(first - 1), until: String(first + 7) };
    const failed = await redeliver({ ...range, onlyFailed: true });
    expect(failed.body).toMatchObject({ redelivered: 1, next: null });
    expect((await redeliver({ ...range, onlyFailed: true })).body.redelivered).toBe(0);
    expect((await redeliver({ ...range, types: ['pv.inverter.online.v1'] })).body.redelivered).toBe(2);
    expect(await statesOf(endpoint.id)).toEqual({ delivered: 7, due: 3 });
    expect((await redeliver(range)).body.redelivered).toBe(8);
    expect((await redeliver({ after: '0' })).body.redelivered).toBeGreaterThanOrEqual(10);
    expect(await isDue(endpoint.id)).toBe(true);
    const [details] = await detailsOf(endpoint.id, 'endpoint.redelivered');
    expect(details).toEqual({ ...range, types: [], onlyFailed: true });
  });

  it('are inserted for events before the creation of the endpoint, but not for events after its position or of other types', async () => {
    // More than one step.
    const first = await insertEvents(5_001);
    await insertEvents(2, 'inverter.online');
    const late = await create({ types: ['session.online'] });
    await insertEvents(2);
    expect((await redeliver({ after: String(first - 1) }, late.id)).body).toMatchObject({
      redelivered: 5_001,
      next: null,
    });
    expect(await statesOf(late.id)).toEqual({ due: 5_001 });
    const other = await redeliver({ after: '0', types: ['inverter.online', 'session.online'] }, late.id);
    expect([...fieldsOf(other), other.body.detail]).toEqual([
      400,
      ['types'],
      'types must be types of the endpoint; it does not have inverter.online',
    ]);
  });
});
