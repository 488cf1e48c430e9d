import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { sendOutcomeOf } from '../../../src/webhooks/send/response.rules.js';
import { signedHeaders } from '../../../src/webhooks/send/signature.js';
import { WebhookSender } from '../../../src/webhooks/send/sender.service.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import {
  arrivals,
  outOfOrder,
  startWebhookSink,
  type SinkRules,
  type WebhookSink,
} from '../../setup/receivers/webhook-sink.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { ANNOUNCED, announce, makeEndpoint } from '../support/webhooks.js';

const SESSIONS = isLong ? 125 : 20;
const EVENTS_EACH = 8;
const FAULTS = { fail: 0.2, hang: 0.05, reset: 0.02 };
/** The timeout of a request to the receiver, instead of 15 s. */
const DEADLINE_MS = 500;

let service: TestApp;
let sink: WebhookSink;
afterEach(async () => {
  await service.close();
  await sink.stop();
});

async function deliver(
  { sessions, faults }: { sessions: number; faults: SinkRules },
  prepare: (app: NestFastifyApplication) => void = () => {},
) {
  sink = await startWebhookSink();
  service = await startTestApp(
    {
      LOG_LEVEL: 'error',
      // Enough attempts for a receiver that stands still for half a minute.
      WEBHOOK_RETRY_SCHEDULE_MS: Array.from({ length: 100 }, () => 100),
      // Enough connections for the transactions of all sessions, which append their events at the same time.
      DATABASE_POOL_SIZE: sessions + 10,
    },
    {
      prepare: (app) => {
        app.get(WebhookSender).deadlineMs = DEADLINE_MS;
        prepare(app);
      },
    },
  );
  const endpoint = await makeEndpoint(TestClient.of(service), `${sink.url}/hook`, ANNOUNCED);
  await sink.behave({ '/hook': { ...faults, secret: endpoint.secret } });
  const count = await announce(service.database, sessions, EVENTS_EACH);
  await waitFor('every event has arrived', async () => (await sink.taken('/hook')) >= count, 90_000);
  const received = await sink.received();
  return { count, received, arrived: arrivals(received, '/hook') };
}

describe('R29: webhooks arrive', () => {
  it('at a receiver that often fails, hangs or cuts the connection: all, in order, with signatures of the received bytes', async () => {
    const { count, received, arrived } = await deliver({ sessions: SESSIONS, faults: FAULTS });
    const wrong = received.filter(({ verified }) => !verified);
    const disordered = outOfOrder(arrived);
    promise('R29', {
      figure:
        `${arrived.length} of ${count} events arrived in ${received.length} attempts, ` +
        `${wrong.length} not verified, ${disordered.length} out of order`,
      bound: 'all, 0 not verified, 0 out of order',
    });
    expect(wrong).toEqual([]);
    expect(disordered).toEqual([]);
    expect(received.length).toBeGreaterThan(count);
    expect(new Set(received.map(({ id }) => id)).size).toBe(count);
  });

  itAtLength('turns red when the body is serialised again after it was signed', async () => {
    const { received } = await deliver({ sessions: 2, faults: {} }, (app) => {
      // Serialises the body again, as some HTTP clients do. The JSON has the same meaning but other bytes.
      app.get(WebhookSender).send = async ({ url, secrets }, message) => {
        const body = JSON.stringify(JSON.parse(message.body), null, 1);
        const response = await fetch(url, { method: 'POST', headers: signedHeaders(message, secrets), body });
        return sendOutcomeOf(response.status, undefined, undefined, new Date());
      };
    });
    expect(received.some(({ verified }) => !verified)).toBe(true);
  });
});
