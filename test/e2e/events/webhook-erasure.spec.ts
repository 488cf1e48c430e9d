import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { placesOf } from '../../../src/events/webhooks/send/endpoint-health.rules.js';
import { DeliveryQueue } from '../../../src/events/deliver/queue.store.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

/** More users than an endpoint has deliveries in flight. */
const USERS = 30;
const closing = closeAfterEach();
let service: TestApp;
let client: TestClient;

beforeEach(async () => {
  service = await startTestApp();
  closing.push(service.close);
  client = TestClient.of(service);
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(
    () => server.closeAllConnections(),
    () => void server.close(),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
  let waiting: Awaited<ReturnType<typeof take>>['deliveries'] = [];
  jest.spyOn(store, 'take').mockImplementation(async (id, token, claimed, limit) => {
    if (waiting.length === 0) waiting = (await take(id, token, claimed, USERS)).deliveries;
    return { deliveries: waiting.splice(0, limit), isThereMore: waiting.length > 0 };
  });
}

/** Erases a user whose delivery waits to be sent. Returns how often the user's reference is sent afterwards. */
async function countSentAfterErasure(): Promise<number> {
  const receiver = await startHeldReceiver();
  const { body } = await client.call<{ id: string }>('POST', '/webhook-endpoints', { url: receiver.url });
  const enable = (enabled: boolean) => client.call('PATCH', `/webhook-endpoints/${body.id}`, { enabled });
  // Makes all deliveries due at once: the endpoint is enabled only after all events exist.
  await enable(false);
  const references = Array.from({ length: USERS }, (_, nth) => `customer-${nth}.`);
  for (const reference of references) await client.locate(reference);
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

  it('would carry it, if deliveries were claimed before there is a place for them', async () => {
    claimEarly();
    expect(await countSentAfterErasure()).toBe(1);
  });
});
