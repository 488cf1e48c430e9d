import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { WebhookSender } from '../../../src/webhooks/send/sender.service.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { arrivals, startWebhookSink, type WebhookSink } from '../../setup/receivers/webhook-sink.js';
import { inTime, isLong, itAtLength, measureUntil, promise } from '../support/promise.js';
import { ANNOUNCED, announce, makeEndpoint } from '../support/webhooks.js';

const LIVE = ['/one', '/two', '/three'];
const BURSTS = isLong ? 40 : 8;
const SESSIONS = 4;
const PAUSE_MS = 200;
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

/** Starts the service with three healthy endpoints, and one that never responds. */
async function start(prepare: (app: NestFastifyApplication) => void = () => {}): Promise<void> {
  service = await startTestApp({ LOG_LEVEL: 'error' }, { prepare });
  await sink.behave({ '/dead': { hang: 1 } });
  for (const path of ['/dead', ...LIVE])
    await makeEndpoint(TestClient.of(service), `${sink.url}${path}`, ANNOUNCED);
}

/** Returns the sorted delays from event to arrival at the healthy endpoints. */
async function measure(bursts: number): Promise<number[]> {
  const database = service.database;
  const before = await sink.taken(LIVE[0]!);
  for (let burst = 0; burst < bursts; burst++) {
    await announce(database, SESSIONS, 1);
    await sleep(PAUSE_MS);
  }
  const count = before + bursts * SESSIONS;
  for (const path of LIVE)
    await waitFor(`${path} has had everything`, async () => (await sink.taken(path)) >= count);
  const received = await sink.received();
  const events = await database.query<{ id: string; time: Date }>('SELECT id, time FROM domain_events');
  const committed = new Map(events.map(({ id, time }) => [id, time.getTime()]));
  return LIVE.flatMap((path) => arrivals(received, path).slice(before))
    .map(({ id, at }) => at - committed.get(id)!)
    .sort((a, b) => a - b);
}

const p95 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.95)]!;

describe('R30: one dead endpoint delays no other', () => {
  it('has every event reach the others soon', async () => {
    await start();
    const latencies = await measureUntil(
      (delays) => p95(delays) < LATE_MS,
      () => measure(BURSTS),
    );
    promise('R30', {
      figure: `p95 of ${latencies.length} deliveries beside an endpoint that hangs: ${Math.round(p95(latencies))} ms`,
      bound: `${LATE_MS} ms`,
    });
    expect(p95(latencies)).toBeLessThan(inTime(LATE_MS));
  });

  itAtLength('turns red when all endpoints share one queue', async () => {
    await start((app) => {
      const sender = app.get(WebhookSender);
      sender.deadlineMs = 300;
      const send = sender.send.bind(sender);
      let queue: Promise<unknown> = Promise.resolve();
      let dead = 0;
      sender.send = async (...message) => {
        if (message[0].url.endsWith('/dead')) dead++;
        // Waits until the dead endpoint has requests in flight. They last longer than LATE_MS.
        else await waitFor('messages to the dead endpoint', () => dead >= SESSIONS);
        const sent = queue.then(() => send(...message));
        queue = sent;
        return sent;
      };
    });
    const latencies = await measure(3);
    expect(p95(latencies)).toBeGreaterThan(LATE_MS);
  });
});
