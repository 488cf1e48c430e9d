import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { fanOut, findBehind, resumeWebhooks } from '../../../src/events/webhooks/deliver/fan-out.sql.js';
import { WebhookDeliveriesStore } from '../../../src/events/webhooks/log/deliveries.store.js';
import type { Database } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/test-database.js';
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
  it('is behind for nobody, gets no deliveries and no job; an enabled one does', async () => {
    const disabled = await insertEndpoint({ disabled_at: 'now', disabled_reason: 'requested' });
    const enabled = await insertEndpoint();
    for (const id of [disabled, enabled]) await insertDelivery(id, 'a subject');
    const behind = await findBehind(database);
    expect([behind.includes(enabled), behind.includes(disabled)]).toEqual([true, false]);
    expect(await fanOut(database, disabled)).toEqual({ hasLock: false, written: 0 });
    expect(await fanOut(database, enabled)).toMatchObject({ hasLock: true });
    await client.query(
      'SELECT graphile_worker.remove_job(key) FROM graphile_worker.jobs WHERE key IS NOT NULL',
    );
    await resumeWebhooks(database);
    expect(await resumeWebhooks(database)).toBe(0);
    const { rows } = await client.query<{ key: string }>('SELECT key FROM graphile_worker.jobs');
    const keys = rows.map(({ key }) => key);
    expect([keys.includes(`webhook:${enabled}`), keys.includes(`webhook:${disabled}`)]).toEqual([
      true,
      false,
    ]);
  });
});
