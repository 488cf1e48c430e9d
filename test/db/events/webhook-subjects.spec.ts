import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrate } from '../../../src/platform/database/migrations/migrate.js';
import { readMigrations } from '../../../src/platform/database/migrations/script.js';
import { migrateTo } from '../../faults/support/migrations.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { insertRow } from '../valid-rows.js';

const MIGRATION = '20261122010000_webhook_subjects';

let database: TestDatabase;
let client: pg.Client;
beforeEach(async () => {
  database = await createTestDatabase('empty');
  await migrateTo(database.url, (await readMigrations()).indexOf(MIGRATION));
  client = await database.connect();
});
afterEach(() => database.drop());

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 22, 12, minutes));

async function insertEndpoint(values: Record<string, unknown> = {}): Promise<string> {
  return (await insertRow<{ id: string }>(client, 'webhook_endpoints', values)).id;
}

async function insertDelivery(endpoint_id: string, subject: string, values: object): Promise<void> {
  const { position } = await insertRow<{ position: string }>(client, 'domain_events', { subject });
  await insertRow(client, 'webhook_deliveries', { endpoint_id, position, subject, ...values });
}

describe('the pending deliveries of the previous release', () => {
  it('are queued by subject, due with the first delivery of the subject, also for a disabled endpoint', async () => {
    const enabled = await insertEndpoint();
    const disabled = await insertEndpoint({ disabled_at: 'now', disabled_reason: 'requested' });
    const retry = { attempts: 2, next_attempt_at: at(30) };
    await insertDelivery(enabled, 'new', { next_attempt_at: at(1) });
    await insertDelivery(enabled, 'retried', { status: 'delivered', attempts: 1, next_attempt_at: null });
    await insertDelivery(enabled, 'retried', retry);
    // Two later deliveries. The older release has postponed only the first of them until the retry.
    await insertDelivery(enabled, 'retried', { next_attempt_at: at(30) });
    await insertDelivery(enabled, 'retried', { next_attempt_at: at(2) });
    await insertDelivery(enabled, 'done', { status: 'delivered', attempts: 1, next_attempt_at: null });
    await insertDelivery(enabled, 'failed', { status: 'failed', attempts: 10, next_attempt_at: null });
    await insertDelivery(disabled, 'retried', { attempts: 1, next_attempt_at: at(5) });

    await migrate(database.url);

    const { rows: queued } = await client.query(
      'SELECT endpoint_id, subject, due_at FROM webhook_subjects ORDER BY due_at',
    );
    expect(queued).toEqual([
      { endpoint_id: enabled, subject: 'new', due_at: at(1) },
      { endpoint_id: disabled, subject: 'retried', due_at: at(5) },
      { endpoint_id: enabled, subject: 'retried', due_at: at(30) },
    ]);
    const { rows: shown } = await client.query(
      `SELECT next_attempt_at FROM admin.webhook_deliveries
       WHERE endpoint_id = $1 AND subject = 'retried' ORDER BY position`,
      [enabled],
    );
    expect(shown.map((row: { next_attempt_at: Date | null }) => row.next_attempt_at)).toEqual([
      null,
      at(30),
      null,
      null,
    ]);
  });
});
