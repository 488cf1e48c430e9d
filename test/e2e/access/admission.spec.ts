import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ApiKeysStore, newApiKey } from '../../../src/access/api-keys.store.js';
import { RateLimit } from '../../../src/access/rate-limit.js';
import { ManagedKeysStore } from '../../../src/api-keys/managed-keys.store.js';
import { RefusedRequests } from '../../../src/api-keys/refused-requests.service.js';
import { useTestApp } from '../../setup/test-app.js';
import { itAtLength } from '../../faults/support/promise.js';
import { withReplica } from '../replica.js';

const PATH = '/api/v1/users?limit=1';
const FAILURES_A_MINUTE = 300;
const MS_PER_FAILURE = 200;
const KEY_REQUESTS_PER_SECOND = 2;
const KEY_BURST = 10 * KEY_REQUESTS_PER_SECOND;

const service = useTestApp({
  ROLE: 'api',
  TRUSTED_PROXIES: ['127.0.0.1'],
  PUBLIC_URL: 'https://pv.example/',
  API_MAX_REQUESTS_PER_SECOND: KEY_REQUESTS_PER_SECOND,
});
/** The clock of the rate limits. Only tests advance it, so a slow machine does not change the results. */
let now = 0;
let keys: ManagedKeysStore;
let lookUps: jest.SpiedFunction<ApiKeysStore['find']>;

beforeEach(() => {
  keys = service.app.get(ManagedKeysStore);
  lookUps = jest.spyOn(service.app.get(ApiKeysStore), 'find');
  const { take } = RateLimit.prototype;
  jest.spyOn(RateLimit.prototype, 'take').mockImplementation(function (this: RateLimit, subject) {
    return take.call(this, subject, now);
  });
});
afterEach(() => void jest.restoreAllMocks());

it('names problems by URLs below PUBLIC_URL', async () => {
  for (const path of [PATH, '/api/v1/%zz']) {
    const { code, type } = (await (await ask(path)).json()) as { code: string; type: string };
    expect(type).toBe(`https://pv.example/problems/${code}`);
  }
});

let addresses = 0;
const newAddress = () => `2001:db8:${(++addresses).toString(16)}::1`;

interface Call {
  readonly key?: string;
  readonly from?: string;
  readonly at?: string;
  readonly method?: string;
}

const ask = (path: string, { key, from = newAddress(), at = service.url, method = 'GET' }: Call = {}) =>
  fetch(at + path, {
    method,
    headers: { 'x-forwarded-for': from, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
  });

const statusOf = async (call: Call) => (await ask(PATH, call)).status;

const createKey = (name = 'an app') =>
  service.database.transaction((tx) => keys.create(tx, name, ['users:read'], 'test'));

/** Sends an unknown key. Returns how many more failures the address may have. */
async function failuresLeft(call: Omit<Call, 'key'>): Promise<number> {
  const response = await ask(PATH, { ...call, key: newApiKey() });
  expect(response.status).toBe(401);
  return Number(/^"invalid-key";r=(\d+);/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
}

/** Makes calls with unknown keys, a few at once, so that none waits long for a connection to the database. */
async function attempt(calls: number, callOf: () => Call, atOnce = 25): Promise<number[]> {
  const statuses: number[] = [];
  while (statuses.length < calls) {
    const length = Math.min(atOnce, calls - statuses.length);
    const next = Array.from({ length }, () => statusOf({ key: newApiKey(), ...callOf() }));
    statuses.push(...(await Promise.all(next)));
  }
  return statuses;
}

describe('requests with an unknown key, from one address', () => {
  it('are refused after 300 in a minute, without a database query, until time has passed, and stop no known key', async () => {
    const [from, { key }] = [newAddress(), await createKey()];
    expect(await statusOf({ key, from })).toBe(200);
    expect(new Set(await attempt(FAILURES_A_MINUTE, () => ({ from })))).toEqual(new Set([401]));
    lookUps.mockClear();
    const refused = await ask(PATH, { key: newApiKey(), from });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toBe('"invalid-key";r=0;t=60');
    expect(refused.headers.get('ratelimit-policy')).toBe('"invalid-key";q=300;w=60');
    expect(await refused.json()).toMatchObject({ code: 'too_many_requests', status: 429 });
    expect(await statusOf({ key: newApiKey(), from })).toBe(429);
    for (const without of [undefined, 'nonsense']) expect(await statusOf({ key: without, from })).toBe(401);
    expect(lookUps).not.toHaveBeenCalled();
    // The revocation of another key makes the service look up every key again.
    const revoke = { key: service.adminKey, method: 'DELETE' };
    expect((await ask(`/api/v1/api-keys/${(await createKey()).id}`, revoke)).status).toBe(204);
    expect(await statusOf({ key, from })).toBe(200);
    now += MS_PER_FAILURE;
    expect(await statusOf({ key: newApiKey(), from })).toBe(401);
    expect(await statusOf({ key: newApiKey(), from })).toBe(429);
  });

  it('do not count if no query is needed to refuse them: a missing or malformed key is always a 401', async () => {
    const from = newAddress();
    lookUps.mockClear();
    for (const key of [undefined, 'nonsense', undefined, 'nonsense'])
      expect(await statusOf({ from, key })).toBe(401);
    expect(lookUps).not.toHaveBeenCalled();
    expect(await failuresLeft({ from })).toBe(FAILURES_A_MINUTE - 1);
  });

  itAtLength('count before they are looked up: 400 at once make 300 queries', async () => {
    const from = newAddress();
    lookUps.mockClear();
    const statuses = await attempt(400, () => ({ from }), 400);
    expect(statuses.filter((status) => status === 401)).toHaveLength(FAILURES_A_MINUTE);
    expect(statuses.filter((status) => status === 429)).toHaveLength(400 - FAILURES_A_MINUTE);
    expect(lookUps).toHaveBeenCalledTimes(FAILURES_A_MINUTE);
  });

  it('do not count if the look-up fails or finds a valid key', async () => {
    const from = newAddress();
    lookUps.mockRejectedValue(new Error('timeout exceeded when trying to connect'));
    const failed = await ask(PATH, { key: newApiKey(), from });
    expect([failed.status, failed.headers.has('ratelimit')]).toEqual([503, false]);
    expect(await attempt(5, () => ({ from }))).toEqual(Array(5).fill(503));
    lookUps.mockRestore();
    const { key } = await createKey();
    const statuses = await Promise.all(Array.from({ length: KEY_BURST }, () => statusOf({ key, from })));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await failuresLeft({ from })).toBe(FAILURES_A_MINUTE - 1);
  });
});

describe('the address of a client', () => {
  it('is that of its socket unless our proxy is trusted', async () => {
    await withReplica(service, { ROLE: 'api' }, async (direct) => {
      const left = [await failuresLeft({ at: direct.url }), await failuresLeft({ at: direct.url })];
      expect(left).toEqual([FAILURES_A_MINUTE - 1, FAILURES_A_MINUTE - 2]);
    });
  });

  it('is the last address that is not a trusted proxy: addresses that a client puts in front are ignored', async () => {
    const from = newAddress();
    const left = [
      await failuresLeft({ from: `${newAddress()}, ${from}` }),
      await failuresLeft({ from: `192.0.2.1, ${from}` }),
      await failuresLeft({ from }),
    ];
    expect(left).toEqual([1, 2, 3].map((failures) => FAILURES_A_MINUTE - failures));
  });

  it('is the same whatever port a gateway adds, and behind a second trusted proxy with a port', async () => {
    const from = newAddress();
    const forms = [from, `[${from}]`, `[${from}]:51234`, `"[${from}]:51235"`, `[${from}]:7, 127.0.0.1:443`];
    const left: number[] = [];
    for (const form of forms) left.push(await failuresLeft({ from: form }));
    expect(left).toEqual(forms.map((_, index) => FAILURES_A_MINUTE - 1 - index));
  });

  it.each(['https', 'HTTPS', 'https,http', 'HTTP , https'])(
    'may come with the protocol %s in X-Forwarded-Proto',
    async (protocol) => {
      const headers = { 'x-forwarded-for': newAddress(), 'x-forwarded-proto': protocol };
      expect((await fetch(`${service.url}/health/live`, { headers })).status).toBe(200);
    },
  );
});

describe('the requests of one key', () => {
  it('are refused above its rate, with Retry-After, and those of other keys are not', async () => {
    const { key } = await createKey();
    const responses = await Promise.all(Array.from({ length: 3 * KEY_BURST }, () => ask(PATH, { key })));
    const refused = responses.filter(({ status }) => status === 429);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(KEY_BURST);
    expect(refused).toHaveLength(2 * KEY_BURST);
    expect(refused[0]!.headers.get('retry-after')).toBe('1');
    expect(refused[0]!.headers.get('ratelimit')).toBe('"default";r=0;t=10');
    for (const { headers } of responses) expect(headers.get('ratelimit-policy')).toBe('"default";q=20;w=10');
    expect(await refused[0]!.json()).toMatchObject({
      code: 'too_many_requests',
      detail: `A key may make ${KEY_REQUESTS_PER_SECOND} requests a second`,
    });
    expect(await statusOf({ key: (await createKey()).key })).toBe(200);
    now += 1_000;
    for (let i = 0; i < KEY_REQUESTS_PER_SECOND; i++) expect(await statusOf({ key })).toBe(200);
    expect(await statusOf({ key })).toBe(429);
  });
});

describe('a worker', () => {
  it('serves nothing of the API, however the path is encoded, and looks up no key', async () => {
    await withReplica(service, { ROLE: 'worker' }, async (worker) => {
      const lookUpsOfWorker = jest.spyOn(worker.app.get(ApiKeysStore), 'find');
      for (const path of [PATH, '/%61pi/v1/users'])
        expect((await ask(path, { at: worker.url, key: newApiKey() })).status).toBe(404);
      expect((await ask('/health/live', { at: worker.url })).status).toBe(200);
      expect(lookUpsOfWorker).not.toHaveBeenCalled();
    });
  });
});

describe('a request without a key', () => {
  /** Sends the headers of a POST without its body, and returns the response. */
  async function responseToHead(path: string): Promise<string> {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    try {
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 200000\r\n\r\n`,
      );
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      return chunk.toString();
    } finally {
      socket.destroy();
    }
  }

  it('gets its response before its body has arrived', async () => {
    expect(await responseToHead('/api/v1/users')).toMatch(/^HTTP\/1\.1 401 /);
    expect(await responseToHead('/api/v1/nothing')).toMatch(/^HTTP\/1\.1 404 /);
    expect(await responseToHead('/health/live')).toMatch(/^HTTP\/1\.1 405 /);
  });

  it.each(['HEAD', 'GET'])('is refused as %s, however its path is encoded', async (method) => {
    for (const path of [PATH, '/api/v1/%75sers', '/%61pi/v1/users'])
      expect([path, (await ask(path, { method })).status]).toEqual([path, 401]);
  });
});

describe('refused requests', () => {
  const write = () => service.app.get(RefusedRequests).write();

  /** Writes the counts, and returns the key as listed. */
  async function counted(id: string) {
    await write();
    return (await keys.list({ limit: 200 })).items.find((each) => each.id === id)!;
  }

  const send = (key: string, times: number, path = '/api/v1/users') =>
    Promise.all(Array.from({ length: times }, () => ask(path, { key })));
  const FORBIDDEN = '/api/v1/events';

  let writes: jest.SpiedFunction<ManagedKeysStore['addRefusals']>;
  let warned: jest.SpiedFunction<Logger['warn']>;
  beforeEach(async () => {
    // Only the test writes: ends the task of each minute, and writes what other tests have counted.
    await service.app.get(RefusedRequests).beforeApplicationShutdown();
    await write();
    writes = jest.spyOn(keys, 'addRefusals');
    warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  });

  const linesOf = (keyId: string | undefined) =>
    warned.mock.calls
      .map(([line]) => Object(line) as Record<string, unknown>)
      .filter((line) => 'refused401' in line && line.keyId === keyId);

  it('are counted for their key by status, without a statement for each', async () => {
    const { id, key } = await createKey();
    await send(key, 3, FORBIDDEN);
    await send(key, 2 * KEY_BURST);
    // The forbidden requests count towards the rate.
    const refused429 = KEY_BURST + 3;
    const refused = { refused401: 0, refused403: 3, refused429, lastRefusedAt: expect.any(Date) };
    expect(await counted(id)).toMatchObject(refused);
    expect(writes).toHaveBeenCalledTimes(1);
  });

  it('are logged with the name and the id of the key, in a line for all that are written at once', async () => {
    const { id, key } = await createKey('a looping app');
    await send(key, 2, FORBIDDEN);
    await send(key, 4, FORBIDDEN);
    await write();
    await write();
    expect(linesOf(id)).toEqual([
      {
        message: 'requests with the key a looping app are refused',
        keyId: id,
        refused401: 0,
        refused403: 6,
        refused429: 0,
      },
    ]);
  });

  it('of unknown keys are logged together', async () => {
    for (const key of [newApiKey(), newApiKey(), 'nonsense']) await send(key, 1);
    await write();
    expect(linesOf(undefined)).toEqual([
      {
        message: 'requests with an unknown key are refused',
        refused401: 3,
        refused403: 0,
        refused429: 0,
      },
    ]);
  });

  it('are all counted, although the database failed meanwhile', async () => {
    const { id, key } = await createKey('patient');
    writes.mockRejectedValueOnce(new Error('away'));
    await send(key, 2, FORBIDDEN);
    await write();
    await send(key, 1, FORBIDDEN);
    expect(await counted(id)).toMatchObject({ refused403: 3 });
  });
});
