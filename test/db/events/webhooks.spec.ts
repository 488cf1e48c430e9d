import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Operations } from '../../../src/access/operations.js';
import { StallKinds } from '../../../src/stalls/stall-kinds.js';
import { StallViews } from '../../../src/stalls/stall-views.service.js';
import pg from 'pg';
import type { Attempt } from '../../../src/delivery/outlet.js';
import { makeDue, MAKE_RETRIES_DUE, POSTPONE, settle } from '../../../src/delivery/queue.sql.js';
import { DeliveryQueue } from '../../../src/delivery/queue.store.js';
import { ENDPOINT_LEASES, FIND_DUE } from '../../../src/delivery/take.sql.js';
import { DELIVERY_COLUMNS } from '../../../src/webhooks/log/deliveries.list.js';
import { ENDPOINT_STALLS } from '../../../src/webhooks/endpoints/endpoint-stalls.store.js';
import { WebhookEndpointsStore } from '../../../src/webhooks/endpoints/endpoints.store.js';
import { WebhookDeliveriesStore } from '../../../src/webhooks/log/deliveries.store.js';
import type { WebhookSealing } from '../../../src/webhooks/secrets/sealing.service.js';
import { WebhookAttemptsStore } from '../../../src/webhooks/send/attempts.store.js';
import { Leases } from '../../../src/platform/database/lease.js';
import { waitForLockWaits } from '../../faults/support/waits.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { HANDLER, insertRow, tomorrow } from '../valid-rows.js';

const URL = 'https://supplier.example/hooks';
/** A stand-in: these tests neither read nor write a secret. */
const sealing = {
  openDestination: (_: string, { url }: { url: string }) => ({ url }),
} as unknown as WebhookSealing;

const testDatabase = useTestDatabase();
let client: pg.Client;
const database = testDatabase.open();

beforeAll(async () => {
  client = await testDatabase.connect();
});
beforeEach(() => client.query('TRUNCATE webhook_endpoints, domain_events CASCADE'));
afterEach(() => void jest.restoreAllMocks());

const insertEndpoint = async (values: object = {}) =>
  (await insertRow<{ id: string }>(client, 'webhook_endpoints', { url: URL, ...values })).id;

/** Inserts a pending delivery, due in an hour, and returns an attempt of it. */
async function insertAttempt(endpoint_id: string, values: Partial<Attempt> = {}): Promise<Attempt> {
  const { position, subject } = await insertRow<{ position: string; subject: string }>(
    client,
    'domain_events',
  );
  const pending = { endpoint_id, position, subject };
  const { id } = await insertRow<{ id: string }>(client, 'webhook_deliveries', pending);
  const due_at = new Date(Date.now() + 3_600_000);
  await insertRow(client, 'webhook_subjects', { endpoint_id, subject, due_at });
  const delivery = { deliveryId: id, position, subject, attempts: 0, isEarly: false, data: {} };
  return {
    delivery: delivery as unknown as Attempt['delivery'],
    outcome: { kind: 'delivered' },
    plan: { status: 'delivered' },
    sentAtMs: performance.now(),
    ...values,
  };
}

const gone: Partial<Attempt> = {
  outcome: { kind: 'gone', url: URL },
  plan: { status: 'pending', waitMs: 0 },
};

describe('an attempt', () => {
  it('is recorded with the endpoint locked before the subject, as by a worker that reads events', async () => {
    const id = await insertEndpoint();
    const attempt = await insertAttempt(id);
    const worker = await testDatabase.connect();
    await worker.query('BEGIN');
    await worker.query('SELECT FROM webhook_endpoints FOR NO KEY UPDATE');
    let tries = 0;
    const settled = database.transaction(async (tx) => {
      tries += 1;
      await tx.query('SET LOCAL lock_timeout = 0');
      return settle(tx, id, [attempt]);
    });
    await waitForLockWaits(client);
    await worker.query('UPDATE webhook_subjects SET due_at = due_at');
    await worker.query('COMMIT');
    await settled;
    expect(tries).toBe(1);
  });

  it.each([
    ['disables', URL, false, {}],
    ['does not disable', 'https://supplier.example/before', true, {}],
    ['is recorded, and finds disabled', URL, false, { disabled_at: 'now', disabled_reason: 'requested' }],
  ])('that gets 410 %s the endpoint if it was sent to %s', async (_, url, enabled, values) => {
    const id = await insertEndpoint(values);
    const attempt = await insertAttempt(id, { ...gone, outcome: { kind: 'gone', url } });
    const store = new WebhookAttemptsStore(database, new DeliveryQueue(database), sealing);
    const before = await store.findEndpoint(id);
    expect((await store.record(id, before, [attempt])).endpoint !== null).toBe(enabled);
    const { rows } = await client.query('SELECT disabled_at IS NULL AS enabled FROM webhook_endpoints');
    expect(rows).toEqual([{ enabled }]);
    expect((await client.query('SELECT attempts, status FROM webhook_deliveries')).rows).toEqual([
      { attempts: 1, status: 'pending' },
    ]);
  });

  it('that succeeds at an earlier URL does not end a wait that the current URL has requested', async () => {
    const quiet_until = new Date(Date.now() + 60_000);
    const id = await insertEndpoint({ quiet_until });
    const url = 'https://supplier.example/before';
    const attempt = await insertAttempt(id, { outcome: { kind: 'delivered', url } });
    const store = new WebhookAttemptsStore(database, new DeliveryQueue(database), sealing);
    await store.record(id, await store.findEndpoint(id), [attempt]);
    const { rows } = await client.query('SELECT quiet_until FROM webhook_endpoints');
    expect(rows).toEqual([{ quiet_until }]);
  });
});

it('what is written about an endpoint touches no other one with the same event', async () => {
  const [own, other] = [await insertEndpoint(), await insertEndpoint()];
  const attempt = await insertAttempt(own);
  const { deliveryId, position, subject } = attempt.delivery;
  await insertRow(client, 'webhook_deliveries', { endpoint_id: other, position, subject });
  await insertRow(client, 'webhook_subjects', { endpoint_id: other, subject, due_at: tomorrow() });
  await insertRow(client, 'domain_events', { position: 0, subject });
  await insertRow(client, 'webhook_deliveries', { endpoint_id: other, position: 0, subject });
  await client.query('UPDATE webhook_deliveries SET attempts = 1');
  const others = async () =>
    (
      await client.query(
        `SELECT e::text AS row FROM webhook_endpoints e WHERE id = $1
         UNION ALL SELECT d::text FROM webhook_deliveries d WHERE endpoint_id = $1
         UNION ALL SELECT s::text FROM webhook_subjects s WHERE endpoint_id = $1`,
        [other],
      )
    ).rows;
  const before = await others();
  const subjects = () =>
    client.query(
      `SELECT due_at <= now() + interval '1 s' AS due FROM webhook_subjects WHERE endpoint_id = $1`,
      [own],
    );
  const nextAttempts = async () =>
    (
      await database.query(
        `SELECT ${DELIVERY_COLUMNS} FROM webhook_deliveries AS delivery JOIN domain_events AS event ON event.position = delivery.position
          WHERE delivery.endpoint_id = $1`,
        [own],
      )
    ).map((row) => (row as { nextAttemptAt: Date | null }).nextAttemptAt);
  expect(await nextAttempts()).toEqual([expect.any(Date)]);
  await database.query(MAKE_RETRIES_DUE, [own, null]);
  expect((await subjects()).rows).toEqual([{ due: true }]);
  await database.query(POSTPONE, [own, subject, deliveryId]);
  expect((await subjects()).rows).toEqual([{ due: false }]);
  await makeDue(database, own);
  await database.transaction((tx) => settle(tx, own, [attempt]));
  expect((await subjects()).rows).toEqual([]);
  expect(await others()).toEqual(before);
});

const NO_OPERATIONS = { of: () => undefined } as unknown as Operations;

describe('an endpoint', () => {
  it('that another request enables meanwhile keeps its pending deliveries', async () => {
    const id = await insertEndpoint({ disabled_at: 'now', disabled_reason: 'requested' });
    await insertAttempt(id);
    const transaction = database.transaction.bind(database);
    jest.spyOn(database, 'transaction').mockImplementationOnce(async (work) => {
      await client.query('UPDATE webhook_endpoints SET disabled_at = NULL, disabled_reason = NULL');
      return transaction(work);
    });
    const store = new WebhookEndpointsStore(
      database,
      sealing,
      new StallViews(new StallKinds(), NO_OPERATIONS),
    );
    expect(await store.change(id, { enabled: true, skipMissed: true }, 'test')).toBe('was_enabled');
    expect((await client.query('SELECT status FROM webhook_deliveries')).rows).toEqual([
      { status: 'pending' },
    ]);
  });
});

describe('a redelivery', () => {
  const range = { after: '0', until: '9223372036854775807', types: [], onlyFailed: false };
  it.each<[string, (store: WebhookDeliveriesStore, endpoint: string, id: string) => Promise<unknown>]>([
    ['of one delivery', (store, _, id) => store.redeliverOne(id, 'test')],
    ['of some deliveries', (store, endpoint, id) => store.redeliverThese(endpoint, [id], 'test')],
    ['of a range', (store, endpoint) => store.redeliverRange(endpoint, range, 'test')],
  ])('%s waits for a deletion of the endpoint, and finds none', async (_, redeliver) => {
    const endpoint = await insertEndpoint();
    const id = await insertDelivery(endpoint, 'a subject', { status: 'failed', next_attempt_at: null });
    await client.query('BEGIN');
    await client.query('DELETE FROM webhook_endpoints WHERE id = $1', [endpoint]);
    const redelivered = redeliver(new WebhookDeliveriesStore(database), endpoint, id);
    const watcher = await testDatabase.connect();
    await waitForLockWaits(watcher);
    await client.query('COMMIT');
    expect(await redelivered).toBeNull();
    const audited = await client.query('SELECT FROM audit_log WHERE target = ANY ($1)', [[endpoint, id]]);
    expect(audited.rows).toEqual([]);
  });
});

async function insertDelivery(endpoint_id: string, subject: string, values: object = {}): Promise<string> {
  const { position } = await insertRow<{ position: string }>(client, 'domain_events', { subject });
  await client.query('UPDATE domain_events SET sequence = position WHERE position = $1', [position]);
  const row = { endpoint_id, position, subject, ...values };
  return (await insertRow<{ id: string }>(client, 'webhook_deliveries', row)).id;
}

describe('the next attempt of a delivery is shown', () => {
  const at = new Date(Date.now() + 3_600_000);
  const next = async (id: string) => (await new WebhookDeliveriesStore(database).find(id))!.nextAttemptAt;

  it.each([
    ['delivered', { status: 'delivered', next_attempt_at: null }, at],
    ['given up', { status: 'failed', next_attempt_at: null }, at],
    ['pending', {}, null],
  ])('if the earlier one of its subject is %s', async (_, earlier, shown) => {
    const [endpoint, subject] = [await insertEndpoint(), `subject ${_}`];
    await insertDelivery(endpoint, subject, earlier);
    // Those of another subject or endpoint are no earlier ones.
    await insertDelivery(endpoint, 'another subject');
    const other = await insertEndpoint();
    await insertDelivery(other, subject);
    await insertRow(client, 'webhook_subjects', { endpoint_id: other, subject, due_at: 'now' });
    const id = await insertDelivery(endpoint, subject);
    await insertRow(client, 'webhook_subjects', { endpoint_id: endpoint, subject, due_at: at });
    expect(await next(id)).toEqual(shown);
  });
});

it('a handler is no endpoint that can be stalled, and its deliveries are not shown', async () => {
  const ids = [
    await insertEndpoint(),
    await insertEndpoint({ ...HANDLER, failures: 9, failing_since: 'now' }),
  ];
  const found = await database.query<{ id: string }>(ENDPOINT_STALLS.facts.text, [ids]);
  expect(found.map(({ id }) => id)).toEqual(ids.slice(0, 1));
  const [shown, hidden] = await Promise.all(ids.map((id) => insertDelivery(id, 'a subject')));
  const store = new WebhookDeliveriesStore(database);
  expect([(await store.find(shown!))?.id, await store.find(hidden!)]).toEqual([shown, null]);
});

describe('a disabled endpoint', () => {
  it('is due for nobody and gets no deliveries, nor does one in a quiet period; others do', async () => {
    const disabled = await insertEndpoint({ disabled_at: 'now', disabled_reason: 'requested' });
    const enabled = await insertEndpoint();
    const quiet = await insertEndpoint({ quiet_until: new Date(Date.now() + 3_600_000) });
    const quietBefore = await insertEndpoint({ quiet_until: new Date(Date.now() - 60_000) });
    for (const id of [disabled, enabled]) await insertDelivery(id, 'a subject');
    const due = (await database.query<{ id: string }>(FIND_DUE, [['']])).map(({ id }) => id);
    expect(due.toSorted()).toEqual([enabled, quietBefore].toSorted());
    const queue = new DeliveryQueue(database);
    await insertRow(client, 'webhook_subjects', { endpoint_id: quiet, due_at: 'yesterday' });
    expect(await queue.findNextDue(quiet)).toBeGreaterThan(3_000_000);
    const leases = new Leases(database, ENDPOINT_LEASES, {
      leaseMs: 30_000,
      backoff: { firstMs: 1, mostMs: 1 },
    });
    const takenOf = async (id: string, limit = 10) => {
      let taken: readonly [number, boolean] | undefined;
      await leases.runUnderLease(id, new AbortController().signal, async ({ token }) => {
        const { deliveries, isThereMore } = await queue.take(id, token, [], limit);
        taken = [deliveries.length, isThereMore];
        // Not 0: the time of the next claim is rounded to milliseconds.
        return -1;
      });
      return taken;
    };
    expect([await takenOf(enabled), await takenOf(enabled, 1)]).toEqual([
      [1, false],
      [1, true],
    ]);
    expect(await takenOf(disabled)).toBeUndefined();
    const selective = await insertEndpoint({ types: ['session.lost'] });
    await client.query(
      `INSERT INTO domain_events (id, sequence, name, subject, data)
       SELECT gen_random_uuid(), 1000000 + n, 'session.expired', 'a subject', '{}' FROM generate_series(1, 998) AS n`,
    );
    expect([await takenOf(selective), await takenOf(selective)]).toEqual([
      [0, true],
      [0, false],
    ]);
    expect((await queue.take(enabled, '00000000-0000-4000-8000-000000000000', [], 10)).deliveries).toEqual(
      [],
    );
  });
});
