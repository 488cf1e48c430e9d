import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { WebhookSender } from '../../../src/events/webhooks/send/sender.service.js';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { arrivals, startWebhookSink, type WebhookSink } from '../../setup/webhook-sink.js';
import { caught, promise } from '../support/promise.js';
import { announce, makeEndpoint } from '../support/webhooks.js';

jest.setTimeout(120_000);

const LIVE = ['/one', '/two', '/three'];
const BURSTS = 40;
const SESSIONS = 4;
const PAUSE_MS = 50;
const LATE_MS = 1_000;

let service: TestApp;
let sink: WebhookSink;
beforeEach(async () => {
  sink = await startWebhookSink();
});
afterEach(async () => {
  await service.close();
  await sink.stop();
});

/** How long after its commit each event arrived at the endpoints that answer, beside one that never does; in ascending order. */
async function measure(
  bursts: number,
  prepare: (app: NestFastifyApplication) => void = () => {},
): Promise<number[]> {
  service = await startTestApp({ LOG_LEVEL: 'error' }, { prepare });
  const client = TestClient.of(service);
  await sink.behave({ '/dead': { hang: 1 } });
  for (const path of ['/dead', ...LIVE]) await makeEndpoint(client, `${sink.url}${path}`);
  const database = service.app.get(Database);
  for (let burst = 0; burst < bursts; burst++) {
    await announce(database, SESSIONS, 1);
    await sleep(PAUSE_MS);
  }
  const count = bursts * SESSIONS;
  for (const path of LIVE)
    await waitFor(`${path} has had everything`, async () => (await sink.taken(path)) === count, 60_000);
  const received = await sink.received();
  const events = await database.query<{ id: string; time: Date }>('SELECT id, time FROM domain_events');
  const committed = new Map(events.map(({ id, time }) => [id, time.getTime()]));
  return LIVE.flatMap((path) => arrivals(received, path))
    .map(({ id, at }) => at - committed.get(id)!)
    .sort((a, b) => a - b);
}

const p95 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.95)]!;

describe('R30: one dead endpoint delays no other', () => {
  it('has every event reach the others soon', async () => {
    const latencies = await measure(BURSTS);
    promise('R30', {
      figure: `p95 of ${latencies.length} deliveries beside an endpoint that hangs: ${Math.round(p95(latencies))} ms`,
      bound: `${LATE_MS} ms`,
    });
    expect(p95(latencies)).toBeLessThan(LATE_MS);
  });

  it('turns red when all endpoints share one queue', async () => {
    const latencies = await measure(5, (app) => {
      const sender = app.get(WebhookSender);
      sender.deadlineMs = 300;
      const sendOver = sender.sendOver.bind(sender);
      let queue: Promise<unknown> = Promise.resolve();
      sender.sendOver = (...message) => {
        const sent = queue.then(() => sendOver(...message));
        queue = sent;
        return sent;
      };
    });
    expect(p95(latencies)).toBeGreaterThan(LATE_MS);
    caught('R30', 'a queue that all endpoints share');
  });
});
