import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ENDPOINT_LEASES, FIND_DUE } from '../../../src/events/deliver/take.sql.js';
import { DeliveryQueue } from '../../../src/events/deliver/queue.store.js';
import { Leases } from '../../../src/platform/database/lease.js';
import { WebhookDeliveriesStore } from '../../../src/events/webhooks/log/deliveries.store.js';
import type { Database } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { insertRow } from '../valid-rows.js';

const testDatabase = useTestDatabase();
let database: Database;
let client: pg.Client;
beforeAll(async () => {
  database = testDatabase.open();
  client = await testDatabase.connect();
});

const insertEndpoint = async (values: Readonly<Record<string, unknown>> = {}) =>
  (await insertRow<{ id: string }>(client, 'webhook_endpoints', values)).id;

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
    const id = await insertDelivery(endpoint, subject);
    await insertRow(client, 'webhook_subjects', { endpoint_id: endpoint, subject, due_at: at });
    expect(await next(id)).toEqual(shown);
  });
});

describe('a disabled endpoint', () => {
  it('is due for nobody and gets no deliveries; an enabled one does', async () => {
    const disabled = await insertEndpoint({ disabled_at: 'now', disabled_reason: 'requested' });
    const enabled = await insertEndpoint();
    for (const id of [disabled, enabled]) await insertDelivery(id, 'a subject');
    const due = (await database.query<{ id: string }>(FIND_DUE, [['']])).map(({ id }) => id);
    expect([due.includes(enabled), due.includes(disabled)]).toEqual([true, false]);
    const queue = new DeliveryQueue(database);
    const leases = new Leases(database, ENDPOINT_LEASES, {
      leaseMs: 30_000,
      backoff: { firstMs: 1, mostMs: 1 },
    });
    const takenOf = async (id: string) => {
      let taken = 0;
      await leases.runUnderLease(id, new AbortController().signal, async ({ token }) => {
        taken = (await queue.take(id, token, [], 10)).deliveries.length;
        return 0;
      });
      return taken;
    };
    expect([(await takenOf(enabled)) > 0, await takenOf(disabled)]).toEqual([true, 0]);
    expect((await queue.take(enabled, '00000000-0000-4000-8000-000000000000', [], 10)).deliveries).toEqual(
      [],
    );
  });
});
