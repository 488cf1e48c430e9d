import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import type { Attempt } from '../../../src/events/deliver/outlet.js';
import { settle } from '../../../src/events/deliver/queue.sql.js';
import { DeliveryQueue } from '../../../src/events/deliver/queue.store.js';
import { WebhookEndpointsStore } from '../../../src/events/webhooks/endpoints/endpoints.store.js';
import type { WebhookSealing } from '../../../src/events/webhooks/secrets/sealing.service.js';
import { WebhookAttemptsStore } from '../../../src/events/webhooks/send/attempts.store.js';
import type { Database } from '../../../src/platform/database/database.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { insertRow } from '../valid-rows.js';
import { waitForLockWaits } from '../../faults/support/waits.js';

const URL = 'https://supplier.example/hooks';
/** A stand-in: these tests neither read nor write a secret. */
const sealing = {
  openDestination: (_: string, { url }: { url: string }) => ({ url }),
} as unknown as WebhookSealing;

let testDatabase: TestDatabase;
let database: Database;
let client: pg.Client;
beforeEach(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open();
  client = await testDatabase.connect();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await testDatabase.drop();
});

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
    ['disables', URL, false],
    ['does not disable', 'https://supplier.example/before', true],
  ])('that gets 410 %s the endpoint if it was sent to %s', async (_, url, enabled) => {
    const id = await insertEndpoint();
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
});

describe('an endpoint', () => {
  it('that another request enables meanwhile keeps its pending deliveries', async () => {
    const id = await insertEndpoint({ disabled_at: 'now', disabled_reason: 'requested' });
    await insertAttempt(id);
    const transaction = database.transaction.bind(database);
    jest.spyOn(database, 'transaction').mockImplementationOnce(async (work) => {
      await client.query('UPDATE webhook_endpoints SET disabled_at = NULL, disabled_reason = NULL');
      return transaction(work);
    });
    const store = new WebhookEndpointsStore(database, sealing);
    expect(await store.change(id, { enabled: true, skipMissed: true }, 'test')).toBe('was_enabled');
    expect((await client.query('SELECT status FROM webhook_deliveries')).rows).toEqual([
      { status: 'pending' },
    ]);
  });
});
