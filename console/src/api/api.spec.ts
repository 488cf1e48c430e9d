import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Remedy } from './client.js';

const ORIGIN = 'https://console.example';
const page = Object.assign(new EventTarget(), { hidden: false, querySelector: () => null });
Object.assign(globalThis, { window: { location: { origin: ORIGIN } }, document: page });

const send = jest.fn<(request: Request | string, init?: RequestInit) => Promise<Response>>();
const json = (status: number, body: unknown = {}) =>
  Promise.resolve(status === 204 ? new Response(null, { status }) : Response.json(body, { status }));

let api: typeof import('./client.js');
let lists: typeof import('./lists.js');
let live: typeof import('./live.js');
let signIn: typeof import('./sign-in.js');
beforeAll(async () => {
  globalThis.fetch = send as typeof fetch;
  // The modules read the address of the page when they are loaded.
  [api, lists, live, signIn] = await Promise.all([
    import('./client.js'),
    import('./lists.js'),
    import('./live.js'),
    import('./sign-in.js'),
  ]);
});

const signedOut = jest.fn();
const streamOpened = jest.fn();
beforeEach(() => {
  jest.clearAllMocks();
  Object.assign(api.listener, { signedOut, streamOpened });
});

describe('a call of the console', () => {
  it.each([
    [200, '/api/v1/status', [0, 0]],
    [401, '/api/v1/status', [1, 0]],
    [403, '/api/v1/status', [0, 0]],
    [200, '/api/v1/events/stream', [0, 1]],
    [401, '/api/v1/events/stream', [1, 0]],
    [503, '/api/v1/events/stream', [0, 0]],
  ] as const)('that gets %i from %s signs out and opens the stream: %j', async (status, path, told) => {
    send.mockReturnValueOnce(json(status));
    await api.client.GET(path).catch(() => {});
    expect([signedOut.mock.calls.length, streamOpened.mock.calls.length]).toEqual(told);
    const [request] = send.mock.lastCall as [Request];
    expect([request.url, request.headers.get('x-console')]).toEqual([ORIGIN + path, '1']);
  });

  it('that creates something has one key until it is answered', async () => {
    const keys: string[] = [];
    const create = (what: object, fails = false) =>
      api
        .once(what, (header) => {
          keys.push(header['Idempotency-Key']);
          return fails ? Promise.reject(new Error('lost')) : Promise.resolve({ data: 'made' });
        })
        .catch(({ message }: Error) => message);
    expect(await create({ ids: ['a'] }, true)).toBe('lost');
    expect(await Promise.all([create({ ids: ['a'] }), create({ ids: ['a'] })])).toEqual(['made', 'made']);
    await create({ ids: ['a'] });
    await create({ ids: ['b'] });
    const [first, second, third, later, other] = keys;
    expect([second, third]).toEqual([first, first]);
    expect(new Set([first, later, other]).size).toBe(3);
  });

  it.each([
    ['POST', null, ''],
    ['PATCH', { brand: 'acme' }, '{"brand":"acme"}'],
  ])('that is a remedy has its method and body: %s %j', async (method, body, sent) => {
    send.mockReturnValueOnce(json(200, { id: 'a' }));
    expect(await api.callRemedy({ method, path: '/api/v1/x', body } as Remedy)).toEqual({ id: 'a' });
    const [request] = send.mock.lastCall as [Request];
    expect([request.method, request.url, await request.text()]).toEqual([method, `${ORIGIN}/api/v1/x`, sent]);
  });
});

it.each([
  [1, ['a'], true],
  [2, ['a', 'b'], false],
  [3, ['a', 'b'], false],
])('at most %i of two pages are %j, a part: %s', async (most, items, isPart) => {
  send.mockImplementation((request) => {
    const { searchParams } = new URL((request as Request).url);
    expect([searchParams.get('limit'), searchParams.get('campaignId')]).toEqual(['200', 'a']);
    return searchParams.has('cursor')
      ? json(200, { items: ['b'], next: null })
      : json(200, { items: ['a'], next: 'c' });
  });
  expect(await lists.readUpTo(most, '/api/v1/invitations', { campaignId: 'a' })).toEqual({ items, isPart });
});

describe('the live events', () => {
  const changed = jest.fn();
  const queries = { invalidateQueries: changed } as never;
  const stream = (text: string) => Promise.resolve(new Response(text));
  const event = (type: string) => `id: 1\nretry: 1\ndata: ${JSON.stringify({ type })}\n\n`;

  it('make what they change be read again, once for several, and all that was read before they came', async () => {
    let readBefore: number | undefined;
    send
      .mockReturnValueOnce(stream(event('pv.campaign.finished.v1') + event('pv.campaign.finished.v1')))
      .mockImplementationOnce(() => {
        readBefore = changed.mock.calls.length;
        return Promise.reject(new TypeError('lost'));
      })
      .mockReturnValueOnce(stream(event('pv.remote.recovered.v1')))
      .mockImplementation(
        (request) =>
          new Promise((_, reject) => {
            (request as Request).signal.addEventListener('abort', reject);
          }),
      );
    const stop = live.follow(queries);
    while (changed.mock.calls.length < 5) await sleep(10);
    expect(changed.mock.calls.map(([of]) => of)).toEqual([
      undefined,
      undefined,
      { queryKey: ['campaigns'] },
      { queryKey: ['status'] },
      { queryKey: ['drift'] },
    ]);
    expect(readBefore).toBe(1);
    stop();
  });

  it('make nothing be read again after the sign-out', async () => {
    jest.useFakeTimers();
    send.mockReturnValueOnce(stream(event('pv.campaign.finished.v1'))).mockReturnValue(json(503));
    const stop = live.follow(queries);
    await jest.advanceTimersByTimeAsync(400);
    stop();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(changed.mock.calls).toEqual([[]]);
    jest.useRealTimers();
  });

  it('are followed only while the page is visible', () => {
    const signals: AbortSignal[] = [];
    send.mockImplementation((request) => {
      const { signal } = request as Request;
      signals.push(signal);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', reject);
      });
    });
    const turn = (hidden: boolean) => {
      page.hidden = hidden;
      page.dispatchEvent(new Event('visibilitychange'));
      return signals.map(({ aborted }) => aborted);
    };
    page.hidden = true;
    const stop = live.follow(queries);
    expect([turn(true), turn(false), turn(true), turn(false)]).toEqual([[], [false], [true], [true, false]]);
    stop();
    expect(turn(false)).toEqual([true, true]);
  });
});

describe('the session of the console', () => {
  const who = { actor: 'console:key:1', name: 'anna', scopes: [], expiresAt: '', signIn: 'key' };

  it.each([
    [200, who, { kind: 'in', who }],
    [401, { signIn: 'oidc' }, { kind: 'out', signIn: 'oidc' }],
    [401, {}, { kind: 'out', signIn: 'key' }],
    [503, {}, 503],
  ])('is, after %i %j, %j', async (status, body, entry) => {
    send.mockReturnValueOnce(json(status, body));
    expect(await signIn.readEntry().catch(({ status }: { status: number }) => status)).toEqual(entry);
  });

  it('is called by the name of its key, or administrator', () =>
    expect(['anna', 'environment'].map((name) => signIn.nameOf({ ...who, name, signIn: 'key' }))).toEqual([
      'anna',
      'administrator',
    ]));

  it.each([
    [[204, 200], null],
    [[204, 401], 'has not kept'],
    [[401], 'does not know this key'],
    [[429], 'Too many'],
    [[503], 503],
  ])('that begins by a key says after %j %s', async (statuses, says) => {
    for (const status of statuses) send.mockReturnValueOnce(json(status));
    const said = await signIn.signInByKey('k').catch(({ status }: { status: number }) => status);
    if (typeof says === 'string') expect(said).toContain(says);
    else expect(said).toBe(says);
    const [path, { method, body, headers }] = send.mock.calls[0] as [string, RequestInit];
    expect([path, method, body, headers]).toEqual([
      ...['/console/session', 'POST', '{"key":"k"}'],
      { 'x-console': '1', 'content-type': 'application/json' },
    ]);
  });
});
