import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
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
import { endServer, listen } from '../setup/receivers/servers.js';
import { startSandbox, type TestSandbox } from '../setup/sandbox/sandbox.js';
import { startServiceProcess } from '../setup/processes/service-process.js';
import { createTestDatabase, type TestDatabase } from '../setup/database/test-database.js';
import { ADMIN_KEY } from '../setup/test-environment.js';
import type { TestProcess } from '../setup/processes/test-process.js';
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
      const silent = createServer(() => requests++);
      const port = await listen(silent);
      closing.push(() => endServer(silent));
      jest.useFakeTimers({
        doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'],
      });
      closing.push(() => jest.useRealTimers());
      const errors: unknown[] = [];
      const stop = new AbortController();
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

  describe('with these responses', () => {
    type Planned = Response | Error;
    /** Calls `work` with a client that gets these responses. Returns its requests and, in seconds, its pauses. */
    async function transcriptOf(responses: Planned[], work: (client: Client) => Promise<unknown>) {
      const transcript: unknown[] = [];
      const timer = globalThis.setTimeout;
      closing.push(() => jest.restoreAllMocks());
      jest.spyOn(Math, 'random').mockReturnValue(0);
      jest.spyOn(globalThis, 'setTimeout').mockImplementation((run: () => void, ms = 0) => {
        // A longer timer is the limit of a request.
        if (ms < 1_000 || ms > 40_000) return timer(run, ms);
        transcript.push(ms / 1_000);
        return timer(run, 0);
      });
      const planned = createClient({
        baseUrl: 'http://service/path',
        fetch: async ({ url, headers }) => {
          transcript.push(url.replace(/.*[/](?=[^/]*$)/, '') + (headers.get('last-event-id') ?? ''));
          const next = responses.shift();
          if (next instanceof Response) return next;
          throw next ?? new Error('no response is planned');
        },
      });
      const result = await work(planned).catch((error: unknown) => error);
      return { transcript, result };
    }
    const problem = (status: number, more: object = {}, headers: Record<string, string> = {}) =>
      new Response(JSON.stringify({ status, code: 'a_code', detail: 'why', ...more }), {
        status,
        headers: { 'content-type': 'application/problem+json', ...headers },
      });
    const session = (state: string, closedAt: string | null = null) =>
      Response.json({ id: 'ID', state, closedAt });

    it('a problem has all that the service says', async () => {
      const about = { registrationId: 'r', userId: 'u', sessionId: 's' };
      const more = { ...about, errors: [{ field: 'f', message: 'm' }], extra: 1 };
      const { result } = await transcriptOf([problem(409, more, { 'x-request-id': 'q' })], (planned) =>
        planned.GET('/api/v1/status'),
      );
      const whole = { status: 409, code: 'a_code', detail: 'why', ...more };
      expect({ ...(result as object) }).toEqual({
        ...{ name: 'ProblemError', status: 409, code: 'a_code', detail: 'why', ...about },
        ...{ errors: more.errors, requestId: 'q', retryAfterSeconds: undefined, problem: whole },
      });
    });

    it.each<[options: object, Planned[], transcript: unknown[], end: object]>([
      [
        {},
        [
          ...[new TypeError('lost'), problem(503), problem(503, {}, { 'retry-after': '7' })],
          ...[session('awaiting_owner'), problem(429), problem(408), session('online')],
        ],
        [
          ...['ID', 1, 'ID', 2, 'ID', 7, 'ID', 'ID?wait=30&from=awaiting_owner', 1],
          ...['ID?wait=30&from=awaiting_owner', 2, 'ID?wait=30&from=awaiting_owner'],
        ],
        { state: 'online' },
      ],
      [{}, [problem(404)], ['ID'], { status: 404 }],
      [
        { maxAgeSeconds: 0 },
        [session('awaiting_owner'), session('lost')],
        ['ID', 'ID?wait=1&from=awaiting_owner&maxAge=0&stale=allow'],
        { name: 'NotOnlineError', state: 'lost' },
      ],
      [
        { maxAgeSeconds: 60 },
        [session('awaiting_owner'), session('awaiting_owner', '2026-01-01T00:00:00Z')],
        ['ID', 'ID?wait=30&from=awaiting_owner&maxAge=60&stale=allow'],
        { message: 'Session ID is awaiting_owner and no longer watched' },
      ],
      [
        { timeoutMs: 0 },
        Array.from({ length: 9 }, () => new TypeError('lost')),
        expect.arrayContaining(['ID']) as unknown as unknown[],
        { message: 'Session ID is not readable after 0 ms', session: undefined },
      ],
    ])('waits for online with %j', async (options, responses, transcript, end) => {
      const states: string[] = [];
      const onProgress = ({ state }: { state: string }) => states.push(state);
      const waited = await transcriptOf(responses, (planned) =>
        waitForOnline(planned, 'ID', { ...options, onProgress }),
      );
      expect(waited).toMatchObject({ transcript, result: end });
      expect(new Set(states).size).toBe(states.length);
    });

    it('follows events from block to block, and from the last event after a break', async () => {
      const parts = (...texts: string[]) =>
        new Response(ReadableStream.from(texts.map((text) => new TextEncoder().encode(text))) as never, {
          headers: { 'content-type': 'text/event-stream' },
        });
      const { transcript, result } = await transcriptOf(
        [
          parts(
            'retry: 5000\n\nid: 1\nda',
            'ta: {"n":1}\n\n: still here\n\nid: 2\n',
            '\nid: 3\ndata: {"n":3}',
          ),
          problem(503),
          parts('id: 4\ndata: {"n":4}\n\n'),
          problem(403),
        ],
        async (planned) => {
          const events: unknown[] = [];
          const types = ['pv.session.online.v1', 'pv.session.lost.v1'] as const;
          const filter = { after: '0', types, sessionId: 'ID' };
          const following = followEvents(planned, filter);
          await expect(
            (async () => {
              for await (const event of following) events.push(event);
            })(),
          ).rejects.toMatchObject({ status: 403 });
          return events;
        },
      );
      const asked = 'stream?after=0&types=pv.session.online.v1%2Cpv.session.lost.v1&sessionId=ID';
      expect(result).toEqual([{ n: 1 }, { n: 4 }]);
      expect(transcript).toEqual([asked, 5, `${asked}2`, 10, `${asked}2`, 5, `${asked}4`]);
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
      const ids: string[] = [];
      // A worker reads the secrets of an endpoint again every second.
      const { headers, body } = await waitFor('a webhook that both secrets sign', async () => {
        ids.push((await register()).id);
        return receiver.received.find((each) => / /.test(String(each.headers['webhook-signature'])));
      });
      const other = `whsec_${Buffer.alloc(32, 'another').toString('base64')}`;

      const verified: OnboardingEvent[] = [
        verifyWebhook(endpoint.secret, headers, body),
        verifyWebhook([other, rotated.secret], headers, new TextEncoder().encode(body)),
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
