import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { WebhookAttemptsStore } from '../../../src/events/webhooks/send/attempts.store.js';
import { WebhookSender } from '../../../src/events/webhooks/send/sender.service.js';
import { Database } from '../../../src/platform/database/database.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { appendOnline } from '../../db/events/fixture.js';
import { isLong } from '../../faults/support/promise.js';
import { announce, makeEndpoint, type MadeEndpoint } from '../../faults/support/webhooks.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { startWebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import {
  arrivals,
  outOfOrder,
  startWebhookSink,
  type SinkRules,
  type WebhookSink,
} from '../../setup/receivers/webhook-sink.js';

const HOUR_MS = 3_600_000;
/** The number of deliveries that wait for an earlier delivery of their subject. */
const WAITING = isLong ? 100_000 : 5_000;

let service: TestApp;
let sink: WebhookSink;
let database: Database;
let endpoint: MadeEndpoint;
beforeAll(async () => {
  sink = await startWebhookSink();
});
afterEach(() => service.close());
afterAll(() => sink.stop());

async function start(rules: SinkRules, overrides: Partial<Environment> = {}): Promise<void> {
  service = await startTestApp({
    LOG_LEVEL: 'error',
    WEBHOOK_RETRY_SCHEDULE_MS: [HOUR_MS],
    ...overrides,
  });
  database = service.app.get(Database);
  await sink.behave({ '/hook': rules });
  endpoint = await makeEndpoint(TestClient.of(service), `${sink.url}/hook`);
}

interface Row {
  readonly status: string;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly last_answer: string | null;
}
const deliveries = () => database.query<Row>('SELECT * FROM webhook_deliveries ORDER BY position');
const endpointRow = async () => {
  const sql = 'SELECT * FROM webhook_endpoints WHERE id = $1';
  return (await database.query<Record<string, unknown>>(sql, [endpoint.id]))[0]!;
};
const waitForAttempts = (times: number) =>
  waitFor(`${times} attempts are written`, async () => {
    const rows = await deliveries();
    return rows.reduce((sum, { attempts }) => sum + attempts, 0) >= times && rows;
  });

describe('a webhook', () => {
  it('is a CloudEvent in structured mode, with our user agent', async () => {
    await start({ keepsHeaders: true });
    await announce(database, 1, 1);
    await waitFor('it has arrived', async () => (await sink.taken('/hook')) === 1);
    const { headers, type } = (await sink.received())[0]!;
    expect(type).toBe('pv.session.online.v1');
    expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8');
    expect(headers['user-agent']).toMatch(/^pv-onboarding\/\d+\.\d+\.\d+$/);
    await waitFor('it is delivered', async () => (await deliveries())[0]?.status === 'delivered');
    expect(await endpointRow()).toMatchObject({ failures: 0, failing_since: null });
  });

  it('that fails waits for its retry, as do later ones of its subject', async () => {
    await start({ fail: 1, answer: 'no such tenant\u0000 ' });
    await announce(database, 1, 2);
    const [first, second] = await waitFor('both are written', async () => {
      const rows = await waitForAttempts(1);
      return rows.length === 2 && rows;
    });
    expect(first).toMatchObject({ status: 'pending', last_status: 500, last_error: 'responded with 500' });
    expect(first!.last_answer).toBe('no such tenant');
    expect(second).toMatchObject({ status: 'pending', attempts: 0 });
  });

  it('that waits for its retry is sent, in order, once another arrives after the outage', async () => {
    await start({ fail: 1 }, { WEBHOOK_RETRY_SCHEDULE_MS: [20, HOUR_MS] });
    await announce(database, 1, 3);
    await waitForAttempts(2);
    await sink.behave({});
    await announce(database, 1, 1);
    await waitFor('everything has arrived', async () => (await sink.taken('/hook')) === 4);
    expect(outOfOrder(arrivals(await sink.received(), '/hook'))).toEqual([]);
  });

  it('that is refused is sent once more before its time, however many others arrive, and keeps its retries', async () => {
    const refused = randomUUID();
    const receiver = await startWebhookReceiver();
    receiver.answer = ({ body }) => ({ status: body.includes(refused) ? 500 : 204 });
    await start({});
    const { id } = await makeEndpoint(TestClient.of(service), receiver.url);
    const attempts = () => receiver.received.filter(({ body }) => body.includes(refused)).length;
    const retryOf = async () => {
      const [row] = await database.query<{ attempts: number; at: Date; due: Date }>(
        `SELECT attempts, next_attempt_at AS at, due_at AS due FROM webhook_deliveries JOIN webhook_subjects USING (endpoint_id, subject)
         WHERE endpoint_id = $1 AND subject = $2 AND attempts > 0 ORDER BY position LIMIT 1`,
        [id, refused],
      );
      return row;
    };
    await appendOnline(database, refused, 'first');
    await appendOnline(database, refused, 'second');
    const scheduled = await waitFor('the first attempt is written', retryOf);
    for (let others = 1; others <= 5; others++) {
      await announce(database, 1, 1);
      await waitFor('another arrives', async () => receiver.received.length - attempts() === others);
      await waitFor('the refused one waits after it was sent once more', async () => {
        const retry = await retryOf();
        return retry?.attempts === 2 && retry.due.getTime() === scheduled.at.getTime();
      });
    }
    expect(await retryOf()).toEqual({ ...scheduled, attempts: 2 });
    expect(attempts()).toBe(2);
    // A test by a person makes the delivery due, even if it was already sent early.
    await TestClient.of(service).call('POST', `/webhook-endpoints/${id}/test`);
    await waitFor('it is sent once more', () => attempts() === 3);
    await receiver.close();
  });

  it('is given up after the whole schedule, and the next of its subject is sent', async () => {
    await start({ fail: 1 }, { WEBHOOK_RETRY_SCHEDULE_MS: [20, 20] });
    await announce(database, 1, 2);
    const rows = await waitFor('both are given up', async () => {
      const all = await deliveries();
      return all.length === 2 && all.every(({ status }) => status === 'failed') && all;
    });
    expect(rows.map(({ attempts }) => attempts)).toEqual([3, 3]);
    expect((await endpointRow())['disabled_at']).toBeNull();
  });

  it('arrives at an endpoint that was disabled and enabled again while an attempt was in flight', async () => {
    await start({ hang: 1 });
    service.app.get(WebhookSender).deadlineMs = 3_000;
    const found = jest.spyOn(service.app.get(WebhookAttemptsStore), 'findEndpoint');
    const client = TestClient.of(service);
    const enable = (enabled: boolean) =>
      client.call('PATCH', `/webhook-endpoints/${endpoint.id}`, { enabled });
    await announce(database, 1, 2);
    await waitFor('an attempt is in flight', async () => (await sink.received()).length === 1);
    await enable(false);
    await waitFor('it is known to be disabled', async () => {
      const results = await Promise.all(found.mock.results.map(({ value }) => value as Promise<unknown>));
      return results.includes(null);
    });
    await enable(true);
    await sink.behave({ '/hook': {} });
    await announce(database, 1, 1);
    await waitFor('another subject arrives', async () => (await sink.taken('/hook')) >= 1);
  });

  it('waits for as long as the receiver requests', async () => {
    await start({ fail: 1, status: 429, answerHeaders: { 'retry-after': '30' } });
    await announce(database, 1, 1);
    await waitForAttempts(1);
    await announce(database, 3, 1);
    const ms = await waitFor('the endpoint is released', async () => {
      const [row] = await database.query<{ ms: number }>(
        `SELECT extract(epoch FROM quiet_until - clock_timestamp())::float8 * 1000 AS ms FROM webhook_endpoints WHERE lease_until IS NULL`,
      );
      return row?.ms;
    });
    expect(ms).toBeGreaterThan(15_000);
    expect(ms).toBeLessThan(31_000);
    expect(await sink.received()).toHaveLength(1);
  });

  it('to an endpoint that responds with 410 is the last, which is announced; pending ones stay pending', async () => {
    await start({ fail: 1, status: 410 });
    await appendOnline(database, randomUUID(), 'first', 'second');
    await waitFor('it is disabled', async () => (await endpointRow())['disabled_reason'] === 'gone');
    const events = await database.query<{ subject: string; data: unknown }>(
      `SELECT subject, data FROM domain_events WHERE name = 'webhook_endpoint.disabled'`,
    );
    expect(events).toEqual([
      { subject: endpoint.id, data: { endpointId: endpoint.id, reason: 'gone', since: expect.any(String) } },
    ]);
    const audit = await database.query(
      `SELECT actor, target FROM audit_log WHERE action = 'webhook_endpoint.disabled'`,
    );
    expect(audit).toEqual([{ actor: 'webhooks', target: endpoint.id }]);
    await announce(database, 1, 1);
    await waitFor('the lease has ended', async () => (await endpointRow())['lease_token'] === null);
    expect((await deliveries()).map(({ status }) => status)).toEqual(['pending', 'pending']);
    expect(await sink.received()).toHaveLength(1);
  });

  it('to an endpoint that has failed for days is the last, which is announced', async () => {
    await start({ fail: 1 });
    await database.query(
      `UPDATE webhook_endpoints SET failures = 30, failing_since = clock_timestamp() - interval '5 days'`,
    );
    await announce(database, 1, 1);
    await waitFor('it is disabled', async () => (await endpointRow())['disabled_reason'] === 'failing');
    expect((await deliveries())[0]).toMatchObject({ status: 'pending', attempts: 1 });
  });

  it('goes to a failing endpoint one at a time; once one arrives, all do', async () => {
    await start({ fail: 1 });
    await announce(database, 30, 1);
    await waitFor('it is failing', async () => ((await endpointRow())['failures'] as number) >= 10);
    const before = (await sink.received()).length;
    expect(before).toBeLessThan(30);
    await sink.behave({});
    await waitFor('everything has arrived', async () => (await sink.taken('/hook')) === 30);
    await waitFor('it is well', async () => (await endpointRow())['failures'] === 0);
  });

  it('stores no response about a user who has been erased meanwhile', async () => {
    await start({ fail: 1, answer: 'customer-1 is unknown' });
    const sender = service.app.get(WebhookSender);
    const { send } = sender;
    jest.spyOn(sender, 'send').mockImplementationOnce(async (...given) => {
      const outcome = await send.apply(sender, given);
      await database.query(`UPDATE domain_events SET data = data || '{"tenantReference": null}'`);
      return outcome;
    });
    await appendOnline(database, randomUUID(), 'test');
    const [row] = await waitForAttempts(1);
    expect(row).toMatchObject({ last_status: 500, last_answer: null });
  });

  it(`is claimed at once despite ${WAITING} that wait for an earlier one of their subject`, async () => {
    await start({});
    await database.query(`UPDATE webhook_endpoints SET read_to = ${WAITING}`);
    await database.query(
      `INSERT INTO domain_events (id, sequence, name, subject, data)
       SELECT gen_random_uuid(), n, 'session.expired', 'blocked', '{}' FROM generate_series(1, ${WAITING}) AS n`,
    );
    await database.query(
      `WITH queued AS (
         INSERT INTO webhook_subjects (endpoint_id, subject, due_at) VALUES ($1, 'blocked', clock_timestamp() + interval '1 hour')
       )
       INSERT INTO webhook_deliveries (endpoint_id, position, subject, attempts)
       SELECT $1, position, subject, CASE sequence WHEN 1 THEN 1 ELSE 0 END
       FROM domain_events WHERE subject = 'blocked' ORDER BY position`,
      [endpoint.id],
    );
    await database.query('ANALYZE webhook_deliveries, webhook_subjects, domain_events');
    await announce(database, 20, 1);
    await waitFor('the others have arrived', async () => (await sink.taken('/hook')) === 20);
    const blocked = await database.query(
      `SELECT status, count(*)::int AS count, sum(attempts)::int AS attempts FROM webhook_deliveries
       WHERE subject = 'blocked' GROUP BY status`,
    );
    expect(blocked).toEqual([{ status: 'pending', count: WAITING, attempts: 1 }]);
    await waitFor('the others are done', async () => {
      const queued = await database.query<{ subject: string }>('SELECT subject FROM webhook_subjects');
      return queued.length === 1 && queued[0]!.subject === 'blocked';
    });
  });
});
