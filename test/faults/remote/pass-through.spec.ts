import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PassThrough } from '../../../src/pass-through/pass-through.service.js';
import { PASSED_METHODS } from '../../../src/platform/env/pass-through.rules.js';
import { createKey } from '../../e2e/keys.js';
import { type PassedService, startPassedService } from '../../e2e/remote/pass-through.fixture.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { isLong, itAtLength, promise } from '../support/promise.js';

jest.setTimeout(600_000);

const MB = 1024 * 1024;
const GROWTH_MB = 64;
/** At which bytes of a response the connection is cut, besides the first and the last. */
const STEP = isLong ? 1 : 41;
const PATH = 'things/a/b';

let remote: PassedService;
let service: TestApp;
let key: string;

beforeAll(async () => {
  remote = await startPassedService();
  const allowed = PASSED_METHODS.map((method) => `${method} things/*/*`).join('; ');
  service = await startTestApp({ ...remote.environment, ROLE: 'api', SCS_PASS_THROUGH: allowed });
  ({ key } = await createKey(TestClient.of(service), 'remote:call'));
});
afterAll(async () => {
  await service.close();
  await remote.close();
});
beforeEach(() => {
  remote.calls.length = 0;
  remote.begun = 0;
  remote.readsBodies = true;
  remote.isValid = (token) => token === remote.tokens.at(-1);
});
afterEach(() => void jest.restoreAllMocks());

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: number;
  /** Whether the response ended as HTTP says, so that the caller takes it for whole. */
  readonly isWhole: boolean;
}

type Parts = Iterable<Buffer> | AsyncIterable<Buffer>;

/** Sends a request. Resolves with its response, however it ended; status 0 if there was none. */
function send(method: string, parts: Parts = [], headers: Record<string, string> = {}): Promise<Answer> {
  const { hostname, port } = new URL(service.url);
  const path = `/api/v1/scs/${PATH}`;
  const request = httpRequest({ hostname, port, method, path, agent: false });
  for (const [name, value] of Object.entries({ authorization: `Bearer ${key}`, ...headers }))
    request.setHeader(name, value);
  const answered = new Promise<Answer>((resolve) => {
    let answer: Answer = { status: 0, headers: {}, bytes: 0, isWhole: false };
    request.on('error', () => resolve(answer));
    request.on('response', (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('error', () => {});
      response.on('close', () => {
        answer = {
          status: response.statusCode!,
          headers: response.headers,
          bytes,
          isWhole: response.complete,
        };
        resolve(answer);
      });
    });
  });
  let isOver = false;
  void answered.then(() => (isOver = true));
  void (async () => {
    for await (const part of parts) {
      if (isOver || request.destroyed) return;
      if (!request.write(part))
        await Promise.race([answered, new Promise((drained) => request.once('drain', drained))]);
    }
    request.end();
  })();
  return answered;
}

const CALLER_SECRETS = {
  cookie: 'pvo_console=canary-cookie',
  'proxy-authorization': 'Basic canary-proxy',
  apikey: 'canary-own-api-key',
  'x-api-key': 'canary-x-api-key',
  'x-forwarded-for': 'canary-network',
  forwarded: 'for=canary-forwarded',
  'x-http-method-override': 'canary-method',
  'x-original-url': 'canary-url',
  referer: 'https://canary-referer.example',
  traceparent: '00-ca0000000000000000000000000000a1-ca000000000000a2-01',
  'idempotency-key': 'canary-idempotency',
};

/** Sends each method with secrets in its headers, to a service whose response has ours in its own. Returns those that got through. */
async function leaks(): Promise<string[]> {
  const found: string[] = [];
  for (const method of PASSED_METHODS) {
    const ours = [service.environment.SCS_API_KEY, service.environment.SCS_CLIENT_SECRET];
    remote.respond = (request, response) => {
      const token = request.headers.authorization!.replace('Bearer ', '');
      ours.push(token);
      for (const name of [
        'x-debug',
        'location',
        'x-request-headers',
        'etag',
        'content-disposition',
        'content-language',
      ])
        response.setHeader(name, `"${token}" ${ours[0]}`);
      response.setHeader('set-cookie', ['session=canary-of-service', 'b=canary-of-service']);
      response.setHeader('www-authenticate', 'canary-of-service');
      response.end('{}');
    };
    const { status, headers } = await send(method, [], CALLER_SECRETS);
    const received = JSON.stringify(remote.calls.at(-1)?.headers);
    const returned = JSON.stringify(headers);
    const theirs = [...Object.values(CALLER_SECRETS), key];
    found.push(...(status === 200 ? [] : [`${method}: ${status}`]));
    found.push(
      ...theirs.filter((secret) => received.includes(secret)).map((secret) => `${method} sent ${secret}`),
    );
    for (const secret of [...ours, 'canary-of-service'])
      if (returned.includes(secret)) found.push(`${method} returned ${secret}`);
  }
  return found;
}

describe('R86: pass-through gives nothing away', () => {
  it('of either side to the other, by any header and method', async () => {
    const found = await leaks();
    promise('R86', { figure: `${found.length} secrets by headers`, bound: '0' });
    expect(found).toEqual([]);
  });

  it('and sends nothing twice, wherever the response breaks, nor ends a part as if it were whole', async () => {
    const body = JSON.stringify({ kwh: '1'.repeat(200) });
    const responses = [
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ];
    const wrong: string[] = [];
    let cuts = 0;
    for (const text of responses)
      for (
        let length = 0;
        length < text.length;
        length += length < 2 || length > text.length - 3 ? 1 : STEP
      ) {
        remote.respond = (request) => {
          request.socket.write(text.slice(0, length), () => request.socket.destroy());
        };
        const before = remote.calls.length;
        const answer = await send('POST', [Buffer.from('{"kw":1}')], { 'content-type': 'application/json' });
        const sent = remote.calls.length - before;
        cuts++;
        const isLost = answer.status === 502 || (answer.status === 200 && !answer.isWhole);
        if (sent > 1 || (sent === 1 && !isLost) || (sent === 0 && answer.status !== 503))
          wrong.push(`after ${length} bytes: sent ${sent}, ${answer.status}`);
        // Five losses in a row would open the breaker, which sends nothing.
        if (cuts % 4 === 0) {
          remote.respond = (_request, response) => void response.end('{}');
          await waitFor('a call to be served', async () => (await send('GET')).status === 200);
        }
      }
    promise('R86', { figure: `${wrong.length} of ${cuts} losses sent twice or taken for whole`, bound: '0' });
    expect(wrong).toEqual([]);
  });

  it('and sends no body twice if the token is refused while it arrives', async () => {
    remote.respond = (_request, response) => void response.end('{}');
    await send('GET');
    const before = remote.tokens.length;
    remote.readsBodies = false;
    remote.isValid = (token) => token === remote.tokens[before];
    const parts = Array.from({ length: 40 }, () => randomBytes(MB / 8));
    const { status, headers } = await send('POST', parts);
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(remote.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
    await waitFor('the new token to be used', async () => (await send('GET')).status === 200);
    expect(remote.tokens.length).toBe(before + 1);
  });

  it('and holds nothing of 100 MB each way', async () => {
    const part = randomBytes(MB);
    remote.respond = (_request, response) => {
      let left = 100;
      const write = (): void => {
        while (left-- > 0 && !response.destroyed)
          if (!response.write(part)) return void response.once('drain', write);
        if (!response.destroyed) response.end();
      };
      write();
    };
    const held = () => process.memoryUsage().arrayBuffers / MB;
    const before = held();
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, held() - before)), 5);
    const down = await send('GET');
    const up = await send(
      'POST',
      Array.from({ length: 100 }, () => part),
    );
    clearInterval(watch);
    promise('R86', { figure: `${Math.round(most)} MB more`, bound: `${GROWTH_MB} MB` });
    expect(down).toMatchObject({ status: 200, isWhole: false });
    expect(down.bytes).toBeLessThanOrEqual(10 * MB);
    expect([413, 0]).toContain(up.status);
    expect(remote.calls.filter(({ method }) => method === 'POST')).toEqual([]);
    if (isLong) expect(most).toBeLessThan(GROWTH_MB);
  });

  itAtLength('turns red when headers are passed as they are', async () => {
    const asTheyAre = (headers: object): Record<string, string> => {
      const ofConnection = [
        'host',
        'connection',
        'transfer-encoding',
        'content-length',
        'content-type',
        'expect',
      ];
      const kept = Object.entries(headers).filter(([name]) => !ofConnection.includes(name));
      return Object.fromEntries(kept);
    };
    jest.spyOn(PassThrough.prototype, 'requestHeaders').mockImplementation(asTheyAre);
    jest.spyOn(PassThrough.prototype, 'responseHeaders').mockImplementation(asTheyAre);
    expect(await leaks()).not.toEqual([]);
  });
});
