import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  createClient,
  followEvents,
  items,
  pages,
  ProblemError,
  verifyWebhook,
  waitForOnline,
  WebhookVerificationError,
  type Client,
  type EventOf,
  type OnboardingEvent,
  type RetryOptions,
} from '../../clients/typescript/src/index.js';
import { startTcpProxy } from '../faults/support/network/tcp-proxy.js';
import { closeAfterEach } from '../setup/close-after-each.js';
import { newValidEan } from '../setup/ean.js';
import { startWebhookReceiver } from '../setup/receivers/webhook-receiver.js';
import { startSandbox, type TestSandbox } from '../setup/sandbox.js';
import { startServiceProcess } from '../setup/service-process.js';
import { createTestDatabase, type TestDatabase } from '../setup/database/test-database.js';
import { ADMIN_KEY } from '../setup/test-environment.js';
import type { TestProcess } from '../setup/test-process.js';
import { waitFor } from '../setup/wait-for.js';

const inUpperCase = (headers: object) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), String(value)]));

type BeginOptions = RetryOptions & { readonly signal?: AbortSignal };

const UNKNOWN_ID = randomUUID();

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
    const ean = newValidEan();
    const { data } = await client.POST('/api/v1/users', {
      body: { tenantReference, gridLocations: [{ ean }], metadata },
    });
    if (data.object === 'registration') throw new Error(`the registration is ${data.status}`);
    return data;
  }
  async function start() {
    const { gridLocations } = await register();
    const path = { id: gridLocations[0]!.id };
    const { data } = await client.POST('/api/v1/onboarding/pv/{id}', { params: { path }, body: {} });
    return data;
  }
  const bringOnline = (id: string) => sandbox.control.complete(id, { inverters: 1, onlineAfterMs: 0 });

  it('refuses a baseUrl without http:// or https://', () => {
    for (const baseUrl of ['localhost:3000', 'htp://localhost'])
      expect(() => createClient({ baseUrl, apiKey: ADMIN_KEY })).toThrow('must begin with http://');
  });

  describe('a call', () => {
    it('returns the body and the response', async () => {
      const { warnings, ...user } = await register('called');
      expect(warnings).toEqual([]);
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
  });

  it('sends no key if it has none, as in the console', async () => {
    const sent: Request[] = [];
    const withoutKey = createClient({
      baseUrl: service.url,
      fetch: (request) => (sent.push(request), fetch(request)),
    });
    await expect(withoutKey.GET('/api/v1/status')).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(sent[0]!.headers.has('authorization')).toBe(false);
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

    it('continues through an outage', async () => {
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

    it('ends with the state as soon as the web flow is over', async () => {
      const { id } = await start();
      const states: string[] = [];
      const waiting = waitForOnline(client, id, { onProgress: ({ state }) => states.push(state) });
      await waitFor('the first state', () => states.length === 1);
      await sandbox.control.expire(id);
      await expect(waiting).rejects.toMatchObject({
        name: 'NotOnlineError',
        state: 'expired',
        session: { id, state: 'expired', closedAt: null },
      });
      expect(states).toEqual(['awaiting_owner', 'expired']);
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
      const waitForEvent = (id: string) =>
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
        await waitForEvent(ids.at(-1)!);
        expect(proxy.begun('/events/stream')).toBe(connections);
      }
      stop.abort();
      await following;
      const firstFollowed = ids.indexOf(followed[0]!.data.userId);
      expect(followed.map(({ data }) => data.userId)).toEqual(ids.slice(firstFollowed));
    });

    it('disconnects when the iteration ends, also after a garbage collection', async () => {
      setFlagsFromString('--expose-gc');
      const collectGarbage = runInNewContext('gc') as () => void;
      await register();
      const events = followEvents(client, { after: '0' });
      await events.next();
      for (let times = 0; times < 3; times++) {
        await setImmediate();
        collectGarbage();
      }
      await events.return();
      await waitFor('the end of all streams', async () => {
        const { data: status } = await client.GET('/api/v1/status');
        return status.outbox.readers.streams.open === 0;
      });
    });
  });

  describe.each([
    {
      name: 'waitForOnline',
      begin: (from: Client, options: BeginOptions) => waitForOnline(from, UNKNOWN_ID, options),
    },
    {
      name: 'followEvents',
      begin: (from: Client, options: BeginOptions) =>
        followEvents(from, { after: '9'.repeat(18), ...options }).next(),
    },
  ])('$name, while the service cannot be reached,', ({ begin }) => {
    it('reports each error and retries until the service responds', async () => {
      const proxy = await startTcpProxy(service.url);
      closing.push(proxy.close);
      await proxy.refuse();
      const errors: unknown[] = [];
      const begun = begin(createClient({ baseUrl: proxy.url, apiKey: ADMIN_KEY }), {
        onRetry: (error) => errors.push(error),
      });
      await waitFor('two errors', () => errors.length === 2);
      await proxy.accept();
      await expect(begun).rejects.toBeInstanceOf(ProblemError);
      for (const error of errors) expect(error).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    });

    it('sends the request again if nothing comes for 45 seconds', async () => {
      let requests = 0;
      const silent = createServer(() => requests++).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      closing.push(() => silent.close().closeAllConnections());
      jest.useFakeTimers({
        doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'],
      });
      closing.push(() => jest.useRealTimers());
      const errors: unknown[] = [];
      const stop = new AbortController();
      const { port } = silent.address() as AddressInfo;
      const begun = begin(createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: ADMIN_KEY }), {
        onRetry: (error) => errors.push(error),
        signal: stop.signal,
      });
      await waitFor('the request', () => requests === 1);
      jest.advanceTimersByTime(45_000);
      await waitFor('the error', () => errors.length === 1);
      expect(String(errors[0])).toContain('45000 ms');
      jest.advanceTimersByTime(1_250);
      await waitFor('the next request', () => requests === 2);
      stop.abort();
      await Promise.allSettled([begun]);
    });
  });

  it('reports a stream that falls silent, even if its body does not follow the signal', async () => {
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
    closing.push(() => jest.useRealTimers());
    const headers = { 'content-type': 'text/event-stream' };
    const silent = createClient({
      baseUrl: 'http://127.0.0.1',
      apiKey: ADMIN_KEY,
      fetch: async () => new Response(new ReadableStream(), { headers }),
    });
    const stop = new AbortController();
    const onRetry = jest.fn(() => stop.abort());
    const end = jest.fn();
    void followEvents(silent, { onRetry, signal: stop.signal }).next().then(end);
    await waitFor('the end', () => {
      jest.advanceTimersByTime(45_000);
      return end.mock.calls.length > 0;
    });
    expect(String(onRetry.mock.calls.flat())).toContain('45000 ms');
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
      const ids: string[] = [];
      // A worker reads the secrets of an endpoint again every second.
      const { headers, body } = await waitFor('a webhook that both secrets sign', async () => {
        ids.push((await register()).id);
        return receiver.received.find((each) => / /.test(String(each.headers['webhook-signature'])));
      });
      const other = `whsec_${Buffer.alloc(32, 'another').toString('base64')}`;

      const verified: OnboardingEvent[] = [
        verifyWebhook(endpoint.secret, headers, body),
        verifyWebhook([other, rotated.secret], headers, Buffer.from(body)),
        verifyWebhook(rotated.secret, new Headers(headers as Record<string, string>), body),
        verifyWebhook(rotated.secret, inUpperCase(headers), body),
      ];
      for (const event of verified)
        expect([event.type, ids.includes(event.subject)]).toEqual(['pv.user.registered.v1', true]);
      for (const refused of [
        () => verifyWebhook([other], headers, body),
        () => verifyWebhook(endpoint.secret, headers, body.replace(verified[0]!.subject, UNKNOWN_ID)),
        () => verifyWebhook(endpoint.secret, {}, body),
      ])
        expect(refused).toThrow(WebhookVerificationError);
      expect(() => verifyWebhook([], headers, body)).toThrow('at least one secret');
    });
  });
});
