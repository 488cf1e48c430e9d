import { afterEach, expect, it, jest } from '@jest/globals';
import { WebhookSender } from '../../../src/events/webhooks/send/sender.service.js';
import { Connections } from '../../../src/platform/http-client/connections.js';
import { startWebhookSink } from '../../setup/receivers/webhook-sink.js';
import { startTestApp } from '../../setup/test-app.js';
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
  return { service, url: `${sink.url}/hook` };
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
