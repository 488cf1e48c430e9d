import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DeliveryQueue } from '../../../src/delivery/queue.store.js';
import { newestSequence } from '../../../src/events/sequence.sql.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { WebhookAttemptsStore } from '../../../src/webhooks/send/attempts.store.js';
import { placesOf } from '../../../src/webhooks/send/endpoint-health.rules.js';
import { WebhookSender } from '../../../src/webhooks/send/sender.service.js';
import { appendOnline } from '../../db/events/fixture.js';
import { isLong, itAtLength } from '../../faults/support/promise.js';
import { announce, makeEndpoint, type MadeEndpoint } from '../../faults/support/webhooks.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { TestClient } from '../../setup/client.js';
import { databaseTime, shiftClock } from '../../setup/shifted-clock.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { startWebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import {
  arrivals,
  outOfOrder,
  startWebhookSink,
  type SinkRules,
  type WebhookSink,
} from '../../setup/receivers/webhook-sink.js';
import { endServer, listen } from '../../setup/receivers/servers.js';

const HOUR_MS = 3_600_000;
/** How many deliveries wait for an earlier one. */
const WAITING = isLong ? 100_000 : 5_000;
/** More than one endpoint gets at the same time. */
const USERS = 30;

const service = useTestApp();
const client = TestClient.of(service);
const closing = closeAfterEach();
let sink: WebhookSink;
let endpoint: MadeEndpoint;
/** The path of the test's endpoint at the sink. */
let path: string;

beforeAll(async () => {
  sink = await startWebhookSink();
});
afterAll(() => sink.stop());
afterEach(() => void jest.restoreAllMocks());

/** Creates an endpoint, which the test's end deletes. */
async function make(url: string): Promise<MadeEndpoint> {
  const made = await makeEndpoint(client, url);
  closing.push(() => client.call('DELETE', `/webhook-endpoints/${made.id}`));
  return made;
}

async function start(rules: SinkRules, retryScheduleMs: readonly number[] = [HOUR_MS]): Promise<void> {
  const schedule = service.environment.WEBHOOK_RETRY_SCHEDULE_MS;
  schedule.splice(0, schedule.length, ...retryScheduleMs);
  path = `/${randomUUID()}`;
  await behave(rules);
  endpoint = await make(`${sink.url}${path}`);
}

const behave = (rules: SinkRules) => sink.behave({ [path]: rules });
const received = async () => (await sink.received()).filter((each) => each.path === path);
const taken = () => sink.taken(path);

interface Row {
  readonly status: string;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly last_answer: string | null;
}
const deliveries = () =>
  service.database.query<Row>('SELECT * FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY position', [
    endpoint.id,
  ]);
const endpointRow = async () => {
  const sql = 'SELECT * FROM webhook_endpoints WHERE id = $1';
  return (await service.database.query<Record<string, unknown>>(sql, [endpoint.id]))[0]!;
};
const waitForAttempts = (times: number) =>
  waitFor(`${times} attempts are written`, async () => {
    const rows = await deliveries();
    return rows.reduce((sum, { attempts }) => sum + attempts, 0) >= times && rows;
  });

describe('a webhook', () => {
  it('is a CloudEvent in structured mode, with our user agent', async () => {
    await start({ keepsHeaders: true });
    await announce(service.database, 1, 1);
    await waitFor('it has arrived', async () => (await taken()) >= 1);
    const { headers, type } = (await received())[0]!;
    expect(type).toBe('pv.session.online.v1');
    expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8');
    expect(headers['user-agent']).toMatch(/^pv-onboarding\/\d+\.\d+\.\d+$/);
    await waitFor('it is delivered', async () => (await deliveries())[0]?.status === 'delivered');
    expect(await endpointRow()).toMatchObject({
      failures: 0,
      failing_since: null,
      last_delivered_at: expect.any(Date),
    });
  });

  it("has the time of the service.database, whatever the process's clock says", async () => {
    await start({ keepsHeaders: true });
    shiftClock(10 * 60_000);
    await announce(service.database, 1, 1);
    await waitFor('it has arrived', async () => (await taken()) >= 1);
    jest.useRealTimers();
    const { headers } = (await received())[0]!;
    const ms = Number(headers['webhook-timestamp']) * 1_000 - (await databaseTime(service.database));
    expect(Math.abs(ms)).toBeLessThan(60_000);
  });

  it('that requests a wait by a date of its own clock waits for as long', async () => {
    const dates = { date: 'Fri, 20 Nov 2026 10:00:00 GMT', 'retry-after': 'Fri, 20 Nov 2026 10:00:30 GMT' };
    await start({ fail: 1, status: 503, answerHeaders: dates });
    await announce(service.database, 1, 1);
    await waitForAttempts(1);
    const [row] = await service.database.query<{ ms: number }>(
      `SELECT extract(epoch FROM quiet_until - clock_timestamp())::float8 * 1000 AS ms FROM webhook_endpoints WHERE id = $1`,
      [endpoint.id],
    );
    expect(row!.ms).toBeGreaterThan(1_000);
    expect(row!.ms).toBeLessThan(31_000);
  });

  it('that fails waits for its retry, as do later ones of its subject', async () => {
    await start({ fail: 1, answer: 'no such tenant\u0000 ' });
    await announce(service.database, 1, 2);
    const [first, second] = await waitFor('both are written', async () => {
      const rows = await waitForAttempts(1);
      return rows.length === 2 && rows;
    });
    expect(first).toMatchObject({ status: 'pending', last_status: 500, last_error: 'responded with 500' });
    expect(first!.last_answer).toBe('no such tenant');
    expect(second).toMatchObject({ status: 'pending', attempts: 0 });
    expect(await endpointRow()).toMatchObject({ last_delivered_at: null });
  });

  it('whose attempt the database refuses to store delays no other, and is postponed', async () => {
    const queue = service.app.get(DeliveryQueue);
    const { patienceMs } = queue;
    closing.push(async () => void (queue.patienceMs = patienceMs));
    queue.patienceMs = 100;
    const subject = randomUUID();
    closing.push(() => service.database.query('DROP FUNCTION IF EXISTS refuse CASCADE'));
    await service.database.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a damaged row'; END $$;
      CREATE TRIGGER refuses BEFORE UPDATE ON webhook_deliveries FOR EACH ROW
        WHEN (new.subject = '${subject}') EXECUTE FUNCTION refuse()`);
    await start({});
    await Promise.all([appendOnline(service.database, subject, '1'), announce(service.database, 3, 2)]);
    const readPostponed = () =>
      service.database.query<{ isLater: boolean }>(
        `SELECT due_at > clock_timestamp() + interval '4 minutes' AS "isLater" FROM webhook_subjects WHERE endpoint_id = $1`,
        [endpoint.id],
      );
    await waitFor('the others are stored, and it is postponed', async () => {
      const rows = await deliveries();
      const [queued, ...more] = await readPostponed();
      return (
        rows.filter(({ status }) => status === 'delivered').length === 6 &&
        queued?.isLater &&
        more.length === 0
      );
    });
    expect(await received()).toHaveLength(7);
    await service.database.query('DROP FUNCTION refuse CASCADE');
    await service.database.query(
      `UPDATE webhook_subjects SET due_at = clock_timestamp() - interval '1 ms' WHERE endpoint_id = $1`,
      [endpoint.id],
    );
    await announce(service.database, 1, 1);
    await waitFor('it is stored', async () => {
      const rows = await deliveries();
      return rows.length === 8 && rows.every(({ status }) => status === 'delivered');
    });
    expect(await received()).toHaveLength(9);
  });

  it('that waits for its retry is sent, in order, once another arrives after the outage', async () => {
    await start({ fail: 1 }, [20, HOUR_MS]);
    await announce(service.database, 1, 3);
    await waitForAttempts(2);
    await behave({});
    await announce(service.database, 1, 1);
    await waitFor('everything has arrived', async () => (await taken()) >= 4);
    expect(outOfOrder(arrivals(await received(), path))).toEqual([]);
  });

  it('that is refused is sent once more before its time, however many others arrive, and keeps its retries', async () => {
    const refused = randomUUID();
    const receiver = await startWebhookReceiver();
    closing.push(receiver.close);
    receiver.answer = ({ body }) => ({ status: body.includes(refused) ? 500 : 204 });
    await start({});
    const { id } = await make(receiver.url);
    const attempts = () => receiver.received.filter(({ body }) => body.includes(refused)).length;
    const retryOf = async () => {
      const [row] = await service.database.query<{ attempts: number; at: Date; due: Date }>(
        `SELECT attempts, next_attempt_at AS at, due_at AS due FROM webhook_deliveries JOIN webhook_subjects USING (endpoint_id, subject)
         WHERE endpoint_id = $1 AND subject = $2 AND attempts > 0 ORDER BY position LIMIT 1`,
        [id, refused],
      );
      return row;
    };
    await appendOnline(service.database, refused, 'first');
    await appendOnline(service.database, refused, 'second');
    const scheduled = await waitFor('the first attempt is written', retryOf);
    for (let others = 1; others <= 5; others++) {
      await announce(service.database, 1, 1);
      await waitFor('another arrives', async () => receiver.received.length - attempts() === others);
      await waitFor('the refused one waits after it was sent once more', async () => {
        const retry = await retryOf();
        return retry?.attempts === 2 && retry.due.getTime() === scheduled.at.getTime();
      });
    }
    expect(await retryOf()).toEqual({ ...scheduled, attempts: 2 });
    expect(attempts()).toBe(2);
    // A test by a person makes the delivery due, even if it was already sent early.
    await client.call('POST', `/webhook-endpoints/${id}/test`);
    await waitFor('it is sent once more', () => attempts() === 3);
  });

  it('keeps each attempt with its answer, the latest first: the last one and at most 20 before', async () => {
    await start({ fail: 1, answer: 'not yet' });
    await announce(service.database, 1, 1);
    await waitForAttempts(1);
    await service.database.query(
      `UPDATE webhook_deliveries SET previous_attempts = (
         SELECT jsonb_agg(jsonb_build_object('attemptedAt', now(), 'status', NULL, 'error', 'reset', 'answer', NULL))
         FROM generate_series(1, 20)
       ) WHERE endpoint_id = $1 RETURNING id`,
      [endpoint.id],
    );
    const [delivery] = await client.list<{ id: string }>(`/webhook-deliveries?endpointId=${endpoint.id}`);
    await behave({ answer: 'thanks' });
    await client.call('POST', `/webhook-deliveries/${delivery!.id}/redeliver`);
    const { body } = await waitFor('it is delivered', async () => {
      const read = await client.call<{ status: string }>('GET', `/webhook-deliveries/${delivery!.id}`);
      return read.body.status === 'delivered' && read;
    });
    const attemptedAt = expect.stringMatching(/T.*Z$/);
    const reset = { attemptedAt, status: null, error: 'reset', answer: null };
    const first = { attemptedAt, status: 500, error: 'responded with 500', answer: 'not yet' };
    const previousAttempts = [first, ...Array.from({ length: 19 }, () => reset)];
    expect(body).toMatchObject({ attempts: 1, lastStatus: 204, previousAttempts });
  });

  it('is given up after the whole schedule, and the next of its subject is sent', async () => {
    const attempts = async (outcome: string) => {
      const text = await service.app.get(Metrics).read();
      return Number(
        text.split(`pv_onboarding_webhook_attempts_total{outcome="${outcome}"} `)[1]?.split('\n')[0] ?? 0,
      );
    };
    const counted = () => Promise.all(['delivered', 'failed', 'given_up'].map(attempts));
    const [delivered, failed, givenUp] = await counted();
    await start({ fail: 1 }, [20, 20]);
    await announce(service.database, 1, 2);
    const rows = await waitFor('both are given up', async () => {
      const all = await deliveries();
      return all.length === 2 && all.every(({ status }) => status === 'failed') && all;
    });
    expect(rows.map(({ attempts }) => attempts)).toEqual([3, 3]);
    expect(await counted()).toEqual([delivered, failed! + 4, givenUp! + 2]);
    expect((await endpointRow())['disabled_at']).toBeNull();
  });

  it('arrives at an endpoint that was disabled and enabled again while an attempt was in flight', async () => {
    await start({ hang: 1 });
    jest.replaceProperty(service.app.get(WebhookSender), 'deadlineMs', 3_000);
    const found = jest.spyOn(service.app.get(WebhookAttemptsStore), 'findEndpoint');
    const enable = (enabled: boolean) =>
      client.call('PATCH', `/webhook-endpoints/${endpoint.id}`, { enabled });
    await announce(service.database, 1, 2);
    await waitFor('an attempt is in flight', async () => (await received()).length === 1);
    await enable(false);
    await waitFor('it is known to be disabled', async () => {
      const ofThis = found.mock.results.filter((_, nth) => found.mock.calls[nth]![0] === endpoint.id);
      const results = await Promise.all(ofThis.map(({ value }) => value as Promise<unknown>));
      return results.includes(null);
    });
    await enable(true);
    await behave({});
    await announce(service.database, 1, 1);
    await waitFor('another subject arrives', async () => (await taken()) >= 1);
  });

  it('waits for as long as the receiver requests', async () => {
    await start({ fail: 1, status: 429, answerHeaders: { 'retry-after': '30' } });
    await announce(service.database, 1, 1);
    await waitForAttempts(1);
    await announce(service.database, 3, 1);
    const ms = await waitFor('the endpoint is released', async () => {
      const [row] = await service.database.query<{ ms: number }>(
        `SELECT extract(epoch FROM quiet_until - clock_timestamp())::float8 * 1000 AS ms FROM webhook_endpoints WHERE lease_until IS NULL AND id = $1`,
        [endpoint.id],
      );
      return row?.ms;
    });
    expect(ms).toBeGreaterThan(15_000);
    expect(ms).toBeLessThan(31_000);
    expect(await received()).toHaveLength(1);
  });

  it('to an endpoint that responds with 410 is the last, which is announced; pending ones stay pending', async () => {
    await start({ fail: 1, status: 410 });
    await appendOnline(service.database, randomUUID(), 'first', 'second');
    await waitFor('it is disabled', async () => (await endpointRow())['disabled_reason'] === 'gone');
    const events = await service.database.query<{ subject: string; data: unknown }>(
      `SELECT subject, data FROM domain_events WHERE name = 'webhook_endpoint.disabled' AND subject = $1`,
      [endpoint.id],
    );
    expect(events).toEqual([
      { subject: endpoint.id, data: { endpointId: endpoint.id, reason: 'gone', since: expect.any(String) } },
    ]);
    const audit = await service.database.query(
      `SELECT actor FROM audit_log WHERE action = 'webhook_endpoint.disabled' AND target = $1`,
      [endpoint.id],
    );
    expect(audit).toEqual([{ actor: 'webhooks' }]);
    await announce(service.database, 1, 1);
    await waitFor('the lease has ended', async () => (await endpointRow())['lease_token'] === null);
    expect((await deliveries()).map(({ status }) => status)).toEqual(['pending', 'pending']);
    expect(await received()).toHaveLength(1);
  });

  it('to an endpoint that has failed for days is the last, which is announced', async () => {
    await start({ fail: 1 });
    await service.database.query(
      `UPDATE webhook_endpoints SET failures = 30, failing_since = clock_timestamp() - interval '5 days' WHERE id = $1`,
      [endpoint.id],
    );
    await announce(service.database, 1, 1);
    await waitFor('it is disabled', async () => (await endpointRow())['disabled_reason'] === 'failing');
    expect((await deliveries())[0]).toMatchObject({ status: 'pending', attempts: 1 });
  });

  it('goes to a failing endpoint one at a time; once one arrives, all do', async () => {
    await start({ fail: 1 });
    await announce(service.database, 30, 1);
    await waitFor('it is failing', async () => ((await endpointRow())['failures'] as number) >= 10);
    const before = (await received()).length;
    expect(before).toBeLessThan(30);
    await behave({});
    // The event that the endpoint was stalled may be one more.
    await waitFor('everything has arrived', async () => (await taken()) >= 30);
    await waitFor('it is well', async () => (await endpointRow())['failures'] === 0);
  });

  it('stores no response about a user who has been erased meanwhile', async () => {
    await start({ fail: 1, answer: 'customer-1 is unknown' });
    const sender = service.app.get(WebhookSender);
    const { send } = sender;
    const subject = randomUUID();
    jest.spyOn(sender, 'send').mockImplementationOnce(async (...given) => {
      const outcome = await send.apply(sender, given);
      await service.database.query(
        `UPDATE domain_events SET data = data || '{"tenantReference": null}' WHERE subject = $1`,
        [subject],
      );
      return outcome;
    });
    await appendOnline(service.database, subject, 'test');
    const [row] = await waitForAttempts(1);
    expect(row).toMatchObject({ last_status: 500, last_answer: null });
  });

  it(`is claimed at once despite ${WAITING} that wait for an earlier one of their subject`, async () => {
    await start({});
    const newest = await newestSequence(service.database);
    await service.database.query(
      `UPDATE webhook_endpoints SET read_to = $2::bigint + ${WAITING} WHERE id = $1`,
      [endpoint.id, newest],
    );
    await service.database.query(
      `INSERT INTO domain_events (id, sequence, name, subject, data)
       SELECT gen_random_uuid(), $1::bigint + n, 'session.expired', 'blocked', '{}' FROM generate_series(1, ${WAITING}) AS n`,
      [newest],
    );
    await service.database.query(
      `WITH queued AS (
         INSERT INTO webhook_subjects (endpoint_id, subject, due_at) VALUES ($1, 'blocked', clock_timestamp() + interval '1 hour')
       )
       INSERT INTO webhook_deliveries (endpoint_id, position, subject, attempts)
       SELECT $1, position, subject, CASE sequence WHEN $2::bigint + 1 THEN 1 ELSE 0 END
       FROM domain_events WHERE subject = 'blocked' ORDER BY position`,
      [endpoint.id, newest],
    );
    await service.database.query('ANALYZE webhook_deliveries, webhook_subjects, domain_events');
    await announce(service.database, 20, 1);
    await waitFor('the others have arrived', async () => (await taken()) >= 20);
    const blocked = await service.database.query(
      `SELECT status, count(*)::int AS count, sum(attempts)::int AS attempts FROM webhook_deliveries
       WHERE subject = 'blocked' GROUP BY status`,
    );
    expect(blocked).toEqual([{ status: 'pending', count: WAITING, attempts: 1 }]);
    await waitFor('the others are done', async () => {
      const queued = await service.database.query<{ subject: string }>(
        'SELECT subject FROM webhook_subjects WHERE endpoint_id = $1',
        [endpoint.id],
      );
      return queued.length === 1 && queued[0]!.subject === 'blocked';
    });
  });
});

/** Starts a receiver that responds to no request until `release`. */
async function startHeldReceiver() {
  const bodies: string[] = [];
  const held: ServerResponse[] = [];
  let isReleased = false;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += String(chunk)));
    request.on('end', () => {
      bodies.push(body);
      if (isReleased) response.writeHead(204).end();
      else held.push(response);
    });
  });
  closing.push(() => endServer(server));
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    bodies,
    release: () => {
      isReleased = true;
      for (const response of held) response.writeHead(204).end();
    },
  };
}

/** Makes the service claim deliveries before they can be sent. */
function claimEarly(): void {
  const store = service.app.get(DeliveryQueue);
  const take = store.take.bind(store);
  const claimedEarly = new Map<string, Awaited<ReturnType<typeof take>>['deliveries']>();
  jest.spyOn(store, 'take').mockImplementation(async (id, token, claimed, limit) => {
    const waiting = claimedEarly.get(id) ?? [];
    if (waiting.length === 0) waiting.push(...(await take(id, token, claimed, USERS)).deliveries);
    claimedEarly.set(id, waiting);
    return { deliveries: waiting.splice(0, limit), isThereMore: waiting.length > 0 };
  });
}

/** Erases a user whose delivery waits to be sent. Returns how often the user's reference is sent afterwards. */
async function countSentAfterErasure(): Promise<number> {
  const receiver = await startHeldReceiver();
  const { id } = await make(receiver.url);
  const enable = (enabled: boolean) => client.call('PATCH', `/webhook-endpoints/${id}`, { enabled });
  // Makes all deliveries due at once: the endpoint is enabled only after all events exist.
  await enable(false);
  const references = Array.from({ length: USERS }, (_, nth) => `${randomUUID()}-${nth}.`);
  await Promise.all(references.map((reference) => client.locate(reference)));
  expect((await enable(true)).status).toBe(200);
  const places = placesOf({ failures: 0 });
  await waitFor('every place is taken', () => receiver.bodies.length === places);
  const isSent = (reference: string) => receiver.bodies.filter((body) => body.includes(reference)).length;
  const waiting = references.findLast((reference) => isSent(reference) === 0)!;
  const users = await client.call<{ items: { id: string }[] }>('GET', `/users?tenantReference=${waiting}`);
  const { status } = await client.call('DELETE', `/users/${users.body.items[0]!.id}`);
  expect(status).toBe(200);
  receiver.release();
  // Each user has one event. The erased user has a second one, user.erased.
  await waitFor('everything is sent', () => receiver.bodies.length === USERS + 1);
  return isSent(waiting);
}

describe('a webhook after the erasure of its user', () => {
  it('does not carry the reference, although its delivery was due before', async () => {
    expect(await countSentAfterErasure()).toBe(0);
  });

  itAtLength('turns red when deliveries are claimed before there is a place for them', async () => {
    claimEarly();
    expect(await countSentAfterErasure()).toBe(1);
  });
});
