import { afterEach, expect, it, jest } from '@jest/globals';
import { WebhookDrain } from '../../../src/events/webhooks/deliver/drain.js';
import { WebhookSender } from '../../../src/events/webhooks/send/sender.service.js';
import { Database } from '../../../src/platform/database/database.js';
import { Connections } from '../../../src/platform/http-client/connections.js';
import { announce, makeEndpoint } from '../../faults/support/webhooks.js';
import { TestClient } from '../../setup/client.js';
import { startWebhookSink } from '../../setup/receivers/webhook-sink.js';
import { startTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { closeAfterEach } from '../../setup/close-after-each.js';

const closing = closeAfterEach();
afterEach(() => {
  jest.restoreAllMocks();
});

async function start(rules: object) {
  const sink = await startWebhookSink();
  await sink.behave({ '/hook': rules });
  const service = await startTestApp();
  closing.push(() => sink.stop(), service.close);
  return { service, sink, url: `${sink.url}/hook` };
}

it('a single attempt leaves no connection open', async () => {
  const { service, url } = await start({});
  const taken = jest.spyOn(Connections.prototype, 'take');
  const message = { id: 'an id', timestamp: new Date(), body: '{}' };
  const outcome = await service.app
    .get(WebhookSender)
    .send({ url, headers: {}, secrets: ['whsec_c2VjcmV0'] }, message);
  expect(outcome.kind).toBe('delivered');
  const clients = taken.mock.results.map(({ value }) => (value as ReturnType<Connections['take']>).client);
  expect(clients.map(({ destroyed }) => destroyed)).toEqual([true]);
});

it('new deliveries wake the job of their endpoint that waits for others', async () => {
  const { service, sink, url } = await start({ hang: 1 });
  const woken = jest.spyOn(WebhookDrain.prototype, 'wake');
  await makeEndpoint(TestClient.of(service), url);
  await announce(service.app.get(Database), 1, 1);
  await waitFor('an attempt is in flight', async () => (await sink.received()).length > 0);
  woken.mockClear();
  await announce(service.app.get(Database), 1, 1);
  await waitFor('the job is woken', () => woken.mock.calls.length > 0);
});
