import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  createClient,
  followEvents,
  items,
  NotOnlineError,
  pages,
  ProblemError,
  verifyWebhook,
  waitForOnline,
  WebhookVerificationError,
  type Client,
  type EventOf,
  type OnboardingEvent,
} from '../../clients/typescript/src/index.js';
import { startTcpProxy } from '../faults/support/tcp-proxy.js';
import { closeAfterEach } from '../setup/close-after-each.js';
import { startWebhookReceiver } from '../setup/receivers/webhook-receiver.js';
import { startSandbox, type TestSandbox } from '../setup/sandbox.js';
import { startServiceProcess } from '../setup/service-process.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { ADMIN_KEY } from '../setup/test-environment.js';
import type { TestProcess } from '../setup/test-process.js';
import { waitFor } from '../setup/wait-for.js';

jest.setTimeout(120_000);

const inUpperCase = (headers: object) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), String(value)]));

const UNKNOWN_ID = randomUUID();
let eans = 871_685_910_000_000_000n;

describe('the TypeScript client', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let service: TestProcess;
  let client: Client;
  const closing = closeAfterEach();

  beforeAll(async () => {
    [database, sandbox] = await Promise.all([createTestDatabase(), startSandbox()]);
    service = await startServiceProcess({ ...sandbox.environment, DATABASE_URL: database.url });
    client = createClient({ baseUrl: service.url, apiKey: ADMIN_KEY });
  });
  afterAll(async () => {
    await service.stop();
    await sandbox.stop();
    await database.drop();
  });

  async function register(tenantReference: string = randomUUID(), metadata = {}) {
    const ean = String((eans += 10n));
    const { data } = await client.POST('/api/v1/users', {
      body: { tenantReference, gridLocations: [{ ean }], metadata },
    });
    if ('status' in data) throw new Error(`the registration is ${data.status}`);
    return data;
  }
  async function start() {
    const { gridLocations } = await register();
    const path = { id: gridLocations[0]!.id };
    const { data } = await client.POST('/api/v1/onboarding/pv/{id}', { params: { path }, body: {} });
    return data;
  }
  const bringOnline = (id: string) => sandbox.control.complete(id, { inverters: 1, onlineAfterMs: 0 });

  describe('a call', () => {
    it('returns the body and the response', async () => {
      const user = await register('called');
      const path = { userId: user.id };
      const { data, response } = await client.GET('/api/v1/users/{userId}', { params: { path } });
      expect(data).toEqual(user);
      expect(response.status).toBe(200);
    });

    it('throws what went wrong', async () => {
      const params = { path: { userId: UNKNOWN_ID } };
      const unknown = client.GET('/api/v1/users/{userId}', { params });
      await expect(unknown).rejects.toBeInstanceOf(ProblemError);
      await expect(unknown).rejects.toMatchObject({ code: 'not_found', status: 404, errors: [] });

      const invalid = client.POST('/api/v1/users', {
        body: { tenantReference: 'invalid', gridLocations: [{ ean: '1' }] },
      });
      const errors = [{ field: 'gridLocations[0].ean', message: expect.any(String) }];
      await expect(invalid).rejects.toMatchObject({
        code: 'invalid_request',
        requestId: expect.any(String),
        errors,
      });
    });

    it('says when to try again', async () => {
      const busy = createClient({
        baseUrl: service.url,
        apiKey: ADMIN_KEY,
        fetch: async () =>
          Response.json(
            { code: 'replica_busy', status: 503, detail: 'busy' },
            { status: 503, headers: { 'content-type': 'application/problem+json', 'retry-after': '7' } },
          ),
      });
      const refused = busy.GET('/api/v1/status');
      await expect(refused).rejects.toMatchObject({ code: 'replica_busy', retryAfterSeconds: 7 });
    });

    it('throws a ProblemError for an error of a proxy too', async () => {
      const proxy = await startWebhookReceiver();
      closing.push(proxy.close);
      proxy.answer = () => ({ status: 502, body: '<html>' });
      const call = createClient({ baseUrl: proxy.url, apiKey: 'any' }).GET('/api/v1/status');
      await expect(call).rejects.toMatchObject({ code: 'unexpected_response', status: 502 });
    });
  });

  it('reads lists over all pages, and filters by metadata', async () => {
    const campaign = randomUUID();
    const users = [];
    for (const number of [1, 2, 3]) users.push(await register(`${campaign}-${number}`, { campaign }));
    const query = { limit: 2, metadata: { 'metadata.campaign': campaign } };
    const sizes = [];
    for await (const page of pages(client, '/api/v1/users', query)) sizes.push(page.length);
    expect(sizes).toEqual([2, 1]);
    const listed = [];
    for await (const { id } of items(client, '/api/v1/users', query)) listed.push(id);
    expect(listed.sort()).toEqual(users.map(({ id }) => id).sort());
  });

  describe('waitForOnline', () => {
    it('returns the session once it is online', async () => {
      const { id } = await start();
      const waiting = waitForOnline(client, id, { timeoutMs: 20_000 });
      await bringOnline(id);
      expect(await waiting).toMatchObject({ id, state: 'online', inverters: [{ missingSince: null }] });
    });

    it('has the remote service read as often as wanted', async () => {
      const { id } = await start();
      const queries: string[] = [];
      const fetchNoting = (request: Request) => {
        queries.push(new URL(request.url).search);
        return fetch(request);
      };
      const watcher = createClient({ baseUrl: service.url, apiKey: ADMIN_KEY, fetch: fetchNoting });
      const waiting = waitForOnline(watcher, id, { maxAgeSeconds: 1 });
      await waitFor('a third read', () => queries.length > 2);
      await bringOnline(id);
      expect((await waiting).state).toBe('online');
      const query = '?wait=1&from=awaiting_owner&maxAge=1&stale=allow';
      expect(queries.slice(0, 3)).toEqual(['', query, query]);
    });

    it('goes on through an outage', async () => {
      const { id } = await start();
      const proxy = await startTcpProxy(service.url);
      closing.push(proxy.close);
      const waiting = waitForOnline(createClient({ baseUrl: proxy.url, apiKey: ADMIN_KEY }), id);
      await waitFor('a read that waits', () => proxy.begun('wait=') > 0);
      await proxy.refuse();
      await bringOnline(id);
      await proxy.accept();
      expect((await waiting).state).toBe('online');
    });

    it('ends when the time is over, with the session as it is', async () => {
      const { id } = await start();
      const beganAt = performance.now();
      const waiting = waitForOnline(client, id, { timeoutMs: 700 });
      await expect(waiting).rejects.toBeInstanceOf(NotOnlineError);
      await expect(waiting).rejects.toMatchObject({ session: { id, state: 'awaiting_owner' } });
      expect(performance.now() - beganAt).toBeLessThan(10_000);
    });

    it('ends when the signal is aborted, and when the session is not known', async () => {
      const { id } = await start();
      const leave = new AbortController();
      const waiting = waitForOnline(client, id, { signal: leave.signal });
      leave.abort(new Error('left'));
      await expect(waiting).rejects.toThrow('left');
      await expect(waitForOnline(client, UNKNOWN_ID)).rejects.toMatchObject({ code: 'not_found' });
    });
  });

  describe('followEvents', () => {
    it('delivers each event once and in order, through breaks, until the signal', async () => {
      const proxy = await startTcpProxy(service.url);
      closing.push(proxy.close);
      const stop = new AbortController();
      const followed: EventOf<'pv.user.registered.v1'>[] = [];
      const following = (async () => {
        const events = followEvents(createClient({ baseUrl: proxy.url, apiKey: ADMIN_KEY }), {
          types: ['pv.user.registered.v1'],
          signal: stop.signal,
        });
        for await (const event of events) followed.push(event);
      })();
      const isFollowed = (id: string) =>
        waitFor(`the event of ${id}`, () => followed.some(({ data }) => data.userId === id));
      await waitFor('the stream', () => proxy.begun('/events/stream') === 1);
      const ids: string[] = [];
      await waitFor('an event', async () => {
        ids.push((await register()).id);
        return followed.length > 0;
      });

      for (const connections of [2, 3]) {
        await proxy.refuse();
        ids.push((await register()).id, (await register()).id);
        await proxy.accept();
        await isFollowed(ids.at(-1)!);
        expect(proxy.begun('/events/stream')).toBe(connections);
      }
      stop.abort();
      await following;
      const firstFollowed = ids.indexOf(followed[0]!.data.userId);
      expect(followed.map(({ data }) => data.userId)).toEqual(ids.slice(firstFollowed));
    });

    it('starts after a given event', async () => {
      const [first, second] = [await register(), await register()];
      const { data } = await client.GET('/api/v1/events', { params: { query: { limit: 200 } } });
      const after = data.items.find(({ subject }) => subject === first.id)!.sequence;
      for await (const event of followEvents(client, { after })) {
        expect(event.subject).toBe(second.id);
        break;
      }
    });

    it('ends with the problem when the key is refused', async () => {
      const stranger = createClient({ baseUrl: service.url, apiKey: 'unknown' });
      await expect(followEvents(stranger).next()).rejects.toMatchObject({
        code: 'unauthenticated',
        status: 401,
      });
    });
  });

  describe('verifyWebhook', () => {
    it('returns the event that one of the secrets signed, during a rotation too', async () => {
      const receiver = await startWebhookReceiver();
      closing.push(receiver.close);
      const { data: endpoint } = await client.POST('/api/v1/webhook-endpoints', {
        body: { url: receiver.url, types: ['user.registered'] },
      });
      const params = { path: { id: endpoint.id } };
      closing.push(() => client.DELETE('/api/v1/webhook-endpoints/{id}', { params }));
      const { data: rotated } = await client.POST('/api/v1/webhook-endpoints/{id}/rotate-secret', {
        params,
        body: { overlapSeconds: 60 },
      });
      const { id } = await register();
      await waitFor('the webhook', () => receiver.received.length > 0);
      const { headers, body } = receiver.received[0]!;
      const other = `whsec_${Buffer.alloc(32, 'another').toString('base64')}`;

      const verified: OnboardingEvent[] = [
        verifyWebhook(endpoint.secret, headers, body),
        verifyWebhook([other, rotated.secret], headers, Buffer.from(body)),
        verifyWebhook(rotated.secret, new Headers(headers as Record<string, string>), body),
        verifyWebhook(rotated.secret, inUpperCase(headers), body),
      ];
      for (const event of verified)
        expect(event).toMatchObject({ type: 'pv.user.registered.v1', subject: id });
      for (const refused of [
        () => verifyWebhook([other], headers, body),
        () => verifyWebhook(endpoint.secret, headers, body.replace(id, UNKNOWN_ID)),
        () => verifyWebhook(endpoint.secret, {}, body),
      ])
        expect(refused).toThrow(WebhookVerificationError);
      expect(() => verifyWebhook([], headers, body)).toThrow('at least one secret');
    });
  });
});
