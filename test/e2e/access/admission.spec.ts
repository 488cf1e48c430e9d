import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';

import { ApiKeysStore, newApiKey } from '../../../src/access/api-keys.store.js';
import { RateLimit } from '../../../src/access/rate-limit.js';
import { Database } from '../../../src/platform/database/database.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';

const PATH = '/api/v1/users?limit=1';
const FAILURES_A_MINUTE = 20;
const MS_PER_FAILURE = 3_000;
const KEY_REQUESTS_PER_SECOND = 2;
const KEY_BURST = 10 * KEY_REQUESTS_PER_SECOND;

let service: TestApp;
/** The clock of the rate limits. Only tests advance it, so a slow machine does not change the results. */
let now = 0;
let lookUps: jest.SpiedFunction<ApiKeysStore['findByHash']>;

beforeAll(async () => {
  service = await startTestApp({
    TRUSTED_PROXIES: ['127.0.0.1'],
    PUBLIC_URL: 'https://pv.example/',
    API_MAX_REQUESTS_PER_SECOND: KEY_REQUESTS_PER_SECOND,
  });
  lookUps = jest.spyOn(service.app.get(ApiKeysStore), 'findByHash');
  const { take } = RateLimit.prototype;
  jest.spyOn(RateLimit.prototype, 'take').mockImplementation(function (this: RateLimit, subject) {
    return take.call(this, subject, now);
  });
});
afterAll(async () => {
  jest.restoreAllMocks();
  await service.close();
});

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

async function createKey(): Promise<string> {
  const { key } = await service.app
    .get(Database)
    .transaction((tx) => service.app.get(ApiKeysStore).create(tx, 'an app', ['users:read'], 'test'));
  return key;
}

async function failUntilRefused(from: string): Promise<void> {
  for (let i = 0; i < FAILURES_A_MINUTE; i++) expect(await statusOf({ key: newApiKey(), from })).toBe(401);
}

describe('requests without a valid key, from one address', () => {
  it('are refused after 20 in a minute, without asking the database, until time has passed', async () => {
    const from = newAddress();
    await failUntilRefused(from);
    lookUps.mockClear();
    const refused = await ask(PATH, { key: newApiKey(), from });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe(String(MS_PER_FAILURE / 1_000));
    expect(refused.headers.get('ratelimit')).toBe('"invalid-key";r=0;t=60');
    expect(refused.headers.get('ratelimit-policy')).toBe('"invalid-key";q=20;w=60');
    expect(await refused.json()).toMatchObject({ code: 'too_many_requests', status: 429 });
    for (const key of [undefined, 'nonsense', newApiKey()])
      expect(await statusOf({ from, ...(key && { key }) })).toBe(429);
    expect(lookUps).not.toHaveBeenCalled();
    now += MS_PER_FAILURE;
    expect(await statusOf({ key: newApiKey(), from })).toBe(401);
    expect(await statusOf({ key: newApiKey(), from })).toBe(429);
  });

  it('count whatever is wrong with them', async () => {
    const from = newAddress();
    for (let i = 0; i < FAILURES_A_MINUTE; i++) expect(await statusOf({ from })).toBe(401);
    expect(await statusOf({ from })).toBe(429);
  });

  it('count before they are looked up: 300 at once make 20 queries', async () => {
    const from = newAddress();
    lookUps.mockClear();
    const statuses = await Promise.all(
      Array.from({ length: 300 }, () => statusOf({ key: newApiKey(), from })),
    );
    expect(statuses.filter((status) => status === 401)).toHaveLength(FAILURES_A_MINUTE);
    expect(statuses.filter((status) => status === 429)).toHaveLength(300 - FAILURES_A_MINUTE);
    expect(lookUps).toHaveBeenCalledTimes(FAILURES_A_MINUTE);
  });

  it('count for the IPv6 network, within which a client takes any address', async () => {
    const network = `2001:db8:${(++addresses).toString(16)}`;
    for (let i = 0; i < FAILURES_A_MINUTE; i++) await statusOf({ from: `${network}::${i + 1}` });
    expect(await statusOf({ from: `${network}::ffff` })).toBe(429);
  });

  it('do not count against other addresses, nor against keys that were valid here before', async () => {
    const from = newAddress();
    const key = await createKey();
    expect(await statusOf({ key })).toBe(200);
    await failUntilRefused(from);
    expect(await statusOf({ key, from })).toBe(200);
    expect(await statusOf({ key: service.adminKey, from })).toBe(200);
    expect(await statusOf({ key: newApiKey() })).toBe(401);
    const unseen = await createKey();
    expect(await statusOf({ key: unseen, from })).toBe(429);
    expect(await statusOf({ key: unseen })).toBe(200);
    expect(await statusOf({ key: unseen, from })).toBe(200);
  });

  it('are none where the database is away, or where an app makes its first requests all at once', async () => {
    const from = newAddress();
    lookUps.mockRejectedValue(new Error('timeout exceeded when trying to connect'));
    for (let i = 0; i < 2 * FAILURES_A_MINUTE; i++)
      expect(await statusOf({ key: newApiKey(), from })).toBe(503);
    lookUps.mockRestore();
    lookUps = jest.spyOn(service.app.get(ApiKeysStore), 'findByHash');
    const key = await createKey();
    const statuses = await Promise.all(Array.from({ length: KEY_BURST }, () => statusOf({ key, from })));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await statusOf({ key: newApiKey(), from })).toBe(401);
  });
});

describe('the address of a client', () => {
  it('is that of its socket unless the proxy before us is trusted', async () => {
    const { DATABASE_URL, SCS_BASE_URL } = service.environment;
    const direct = await startTestApp({ DATABASE_URL, SCS_BASE_URL });
    try {
      const statuses: number[] = [];
      for (let i = 0; i <= FAILURES_A_MINUTE; i++) statuses.push(await statusOf({ at: direct.url }));
      expect(statuses.at(-1)).toBe(429);
    } finally {
      await direct.close();
    }
  });

  it('is the last that no trusted proxy has added, so that what a client puts in front counts for nothing', async () => {
    const from = newAddress();
    for (let i = 0; i < FAILURES_A_MINUTE; i++) await statusOf({ from: `${newAddress()}, ${from}` });
    expect(await statusOf({ from: `192.0.2.1, ${from}` })).toBe(429);
  });
});

describe('the requests of one key', () => {
  it('are refused above its rate, with when to ask again, and those of others are not', async () => {
    const key = await createKey();
    const answers = await Promise.all(Array.from({ length: 3 * KEY_BURST }, () => ask(PATH, { key })));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(KEY_BURST);
    expect(refused).toHaveLength(2 * KEY_BURST);
    expect(refused[0]!.headers.get('retry-after')).toBe('1');
    expect(refused[0]!.headers.get('ratelimit')).toBe('"default";r=0;t=10');
    for (const { headers } of answers) expect(headers.get('ratelimit-policy')).toBe('"default";q=20;w=10');
    expect(await refused[0]!.json()).toMatchObject({
      code: 'too_many_requests',
      detail: `A key may make ${KEY_REQUESTS_PER_SECOND} requests a second`,
    });
    expect(await statusOf({ key: await createKey() })).toBe(200);
    now += 1_000;
    for (let i = 0; i < KEY_REQUESTS_PER_SECOND; i++) expect(await statusOf({ key })).toBe(200);
    expect(await statusOf({ key })).toBe(429);
  });
});

describe('LOG_REQUESTS', () => {
  it('logs each response, without ids in its path and without its query', async () => {
    const { DATABASE_URL, SCS_BASE_URL } = service.environment;
    const logged = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    const logging = await startTestApp({ DATABASE_URL, SCS_BASE_URL, LOG_REQUESTS: true });
    try {
      const { headers } = await ask('/api/v1/users/4711?of=jane', { at: logging.url, key: service.adminKey });
      await ask('/nothing/jane', { at: logging.url });
      await ask(PATH, { at: service.url, key: service.adminKey });
      const lines = logged.mock.calls
        .map(([line]) => line as unknown)
        .filter((line) => typeof line === 'object');
      expect(lines).toEqual([
        {
          message: 'GET /api/v1/users/:userId 400',
          method: 'GET',
          route: '/api/v1/users/:userId',
          status: 400,
          durationMs: expect.any(Number),
          keyId: 'environment',
          requestId: headers.get('x-request-id'),
        },
        expect.objectContaining({ message: 'GET none 404' }),
      ]);
      expect(lines[1]).not.toHaveProperty('keyId');
    } finally {
      logged.mockRestore();
      await logging.close();
    }
  });
});

describe('a worker', () => {
  it('answers nothing of the API, however the path is spelled, and asks nobody about a key', async () => {
    const { DATABASE_URL, SCS_BASE_URL } = service.environment;
    const worker = await startTestApp({ DATABASE_URL, SCS_BASE_URL, ROLE: 'worker' });
    const lookUpsOfWorker = jest.spyOn(worker.app.get(ApiKeysStore), 'findByHash');
    try {
      for (const path of [PATH, '/%61pi/v1/users'])
        expect((await ask(path, { at: worker.url, key: newApiKey() })).status).toBe(404);
      expect((await ask('/health/live', { at: worker.url })).status).toBe(200);
      expect(lookUpsOfWorker).not.toHaveBeenCalled();
    } finally {
      await worker.close();
    }
  });
});

describe('a request without a key', () => {
  /** Sends the headers of a POST without its body, and returns the response. */
  async function answerToHead(path: string): Promise<string> {
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

  it('is answered before its body has come', async () => {
    expect(await answerToHead('/api/v1/users')).toMatch(/^HTTP\/1\.1 401 /);
    expect(await answerToHead('/api/v1/nothing')).toMatch(/^HTTP\/1\.1 404 /);
    expect(await answerToHead('/health/live')).toMatch(/^HTTP\/1\.1 405 /);
  });

  it.each(['HEAD', 'GET'])('is refused as %s, and however its path is spelled', async (method) => {
    for (const path of [PATH, '/api/v1/%75sers', '/%61pi/v1/users'])
      expect([path, (await ask(path, { method })).status]).toEqual([path, 401]);
  });
});
