import type { Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HeldRequests } from '../../../src/platform/http/held-requests.js';
import type { Scope } from '../../../src/access/scopes.js';
import { TestClient } from '../../setup/client.js';
import { openStream, type StreamAnswer } from '../../setup/receivers/event-stream.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { itAtLength, promise } from '../support/promise.js';
import { sendUnread, type UnreadRequests } from '../support/input/unread-requests.js';
import { createKey } from '../../e2e/keys.js';

const CEILING = 60;
const SHARE = 20;
const PIPELINING_CONNECTIONS = 4;
const REQUESTS_EACH = 1_450;

let service: TestApp;
let held: HeldRequests;
let greedyKey: string;
let otherKey: string;
let sessionId: string;
const leaving: (() => void)[] = [];

const scopes: Scope[] = ['events:read', 'onboarding:read'];

beforeEach(async () => {
  // No poller runs, so no session changes and no wait ends by itself.
  service = await startTestApp({ ROLE: 'api' });
  held = service.app.get(HeldRequests);
  jest.replaceProperty(held, 'ceiling', CEILING);
  const client = TestClient.of(service);
  greedyKey = (await createKey(client, ...scopes)).key;
  otherKey = (await createKey(client, ...scopes)).key;
  sessionId = (await client.startNew()).id;
});
afterEach(async () => {
  for (const leave of leaving.splice(0)) leave();
  // The server may not notice that a client with pipelined requests has closed its connection, so the test closes all connections.
  const server: Server = service.app.getHttpServer();
  server.closeAllConnections();
  await waitFor('nothing to be held', () => heldCount() === 0);
  jest.restoreAllMocks();
  await service.close();
});

const heldCount = (): number => held.count('stream') + held.count('wait');

async function stream(key: string): Promise<StreamAnswer> {
  const opened = await openStream(service.url, { key });
  leaving.push(opened.leave);
  return opened;
}

/** Starts a waiting read. The result has no `status` until the response arrives. */
function startWait(key: string): { status?: number } {
  const answer: { status?: number } = {};
  const ending = new AbortController();
  leaving.push(() => ending.abort());
  const path = `/api/v1/onboarding/pv/${sessionId}?wait=60`;
  fetch(service.url + path, { signal: ending.signal, headers: { authorization: `Bearer ${key}` } }).then(
    ({ status }) => (answer.status = status),
    () => {},
  );
  return answer;
}

async function pipeline(path: string): Promise<UnreadRequests> {
  const request = `GET /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${greedyKey}\r\n\r\n`;
  const sent = await sendUnread(service.url, PIPELINING_CONNECTIONS / 2, request.repeat(REQUESTS_EACH));
  leaving.push(sent.leave);
  return sent;
}

async function takeAllPlaces(): Promise<StreamAnswer[]> {
  for (let count = 0; count < CEILING / 2; count += 1) startWait(greedyKey);
  return Promise.all(Array.from({ length: CEILING / 2 }, () => stream(greedyKey)));
}

async function expectOthersServed(): Promise<void> {
  const before = heldCount();
  expect((await stream(otherKey)).status).toBe(200);
  const waiting = startWait(otherKey);
  await waitFor('the other key to hold two', () => heldCount() === before + 2);
  expect(waiting.status).toBeUndefined();
}

describe('R63: one key cannot take all places', () => {
  it('with streams and waits that it pipelines: each connection holds one', async () => {
    await pipeline('/events/stream');
    await pipeline(`/onboarding/pv/${sessionId}?wait=60`);
    await waitFor('one of each connection', () => heldCount() === PIPELINING_CONNECTIONS);
    await expectOthersServed();
    expect(heldCount()).toBe(PIPELINING_CONNECTIONS + 2);
  });

  it('with a connection for each request: beyond a third of the places it gets a 429, and others are served', async () => {
    const streams = await takeAllPlaces();
    await waitFor('its share to be held', () => heldCount() === SHARE);
    const refused = streams.filter(({ status }) => status !== 200);
    for (const answer of refused) {
      expect(await answer.ended).toBe('complete');
      expect(answer.status).toBe(429);
      expect(answer.headers['retry-after']).toBe('5');
      expect(JSON.parse(answer.text())).toMatchObject({ code: 'too_many_requests' });
    }
    await expectOthersServed();
    promise('R63', {
      figure: `${heldCount() - 2} of ${CEILING} places for ${CEILING} requests of one key, others served`,
      bound: `${CEILING / 3}`,
    });
    expect(heldCount() - 2).toBe(SHARE);
  });

  itAtLength('turns red when only one ceiling applies to all keys', async () => {
    jest.spyOn(held, 'share', 'get').mockReturnValue(CEILING);
    await takeAllPlaces();
    await waitFor('all places to be held', () => heldCount() === CEILING);
    await expect(expectOthersServed()).rejects.toThrow('503');
  });
});
