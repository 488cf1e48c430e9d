import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { PROBLEMS } from '../../../src/platform/problem/problem.js';
import { readPage } from '../../docs/pages.js';
import { startHttpFixture, thrown } from './http-fixture.js';

let app: NestFastifyApplication;
let url: string;

beforeAll(async () => {
  ({ app, url } = await startHttpFixture());
});

afterAll(() => app.close());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url + path, init);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

const post = (path: string, body: RequestInit['body'], headers: Record<string, string> = JSON_TYPE) =>
  ask(`/api/v1/things${path}`, { method: 'POST', body, headers });

const get = (path: string, headers: Record<string, string> = {}) => ask(`/api/v1/things${path}`, { headers });

function expectProblem(answer: Answer, code: keyof typeof PROBLEMS): void {
  expect(answer.body).toMatchObject({
    code,
    status: PROBLEMS[code].status,
    title: PROBLEMS[code].title,
    type: `/problems/${code}`,
  });
  expect(answer.status).toBe(PROBLEMS[code].status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(answer.body['requestId']).toBe(answer.headers.get('x-request-id'));
}

function sendRaw(bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.end(bytes));
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

describe('R39: a bad body is a clear 4xx', () => {
  const valid = '{"items":[{"name":"a"}]}';

  it.each<[string, string | Uint8Array, string]>([
    ['nesting 2,000 deep', '['.repeat(2_000) + ']'.repeat(2_000), 'Nesting deeper than 64 at position 64'],
    [
      '1,001 names in an object',
      `{"a":[{${Array.from({ length: 1_001 }, (_, nth) => `"n${nth}":1`).join(',')}}]}`,
      'More than 1000 names in an object at position 8904',
    ],
    [
      '5,001 elements and names',
      `{"items":[${'{"a":1},'.repeat(2_499)}{},{"a":1}]}`,
      'More than 5000 names and elements, in "items", at position 20005',
    ],
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 'The body is not valid UTF-8'],
    ['an overlong form of "/"', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), 'The body is not valid UTF-8'],
  ])('%s', async (_, body, detail) => {
    const answer = await post('', body);
    expectProblem(answer, 'invalid_json');
    expect(answer.body['detail']).toBe(detail);
  });

  it.each<[string, string, string, string]>([
    ['nothing', '', 'items', 'is required'],
    ['a text for a list', '{"items":"a"}', 'items', 'must be an array'],
    ['an unknown property', '{"items":[{"name":"a"}],"colour":1}', 'colour', 'is not known here'],
    [
      'an unknown property of an item',
      '{"items":[{"name":"a","colour":1}]}',
      'items[0].colour',
      'is not known here',
    ],
    ['__proto__', '{"items":[{"name":"a"}],"__proto__":{}}', '__proto__', 'is a name that is not allowed'],
    [
      'constructor deep in free-form data',
      '{"items":[{"name":"a"}],"metadata":{"a":[{"constructor":1}]}}',
      'metadata.a[0].constructor',
      'is a name that is not allowed',
    ],
    ...['toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'].flatMap(
      (name): [string, string, string, string][] => [
        [name, `{"items":[],"${name}":{}}`, name, 'is not known here'],
        [
          `${name} of an item`,
          `{"items":[{"name":"a","${name}":1}]}`,
          `items[0].${name}`,
          'is not known here',
        ],
      ],
    ),
    [
      'a list of too many',
      `{"items":[${'{},'.repeat(100)}{}]}`,
      'items',
      'must contain no more than 100 elements',
    ],
    [
      'NUL in a string',
      '{"items":[{"name":"a\\u0000"}]}',
      'items[0].name',
      'must not contain the character U+0000',
    ],
    [
      'NUL in a name',
      '{"items":[{"name":"a"}],"metadata":{"a\\u0000":1}}',
      'metadata',
      'must not contain the character U+0000',
    ],
    [
      'half a surrogate pair',
      '{"items":[{"name":"\\ud83d"}]}',
      'items[0].name',
      'must not contain half of a surrogate pair',
    ],
    ['an item that is null', '{"items":[null]}', 'items[0]', 'must be a JSON object'],
    ['an item that is a number', '{"items":[5]}', 'items[0]', 'must be a JSON object'],
    ['a number for a string', '{"items":[{"name":5}]}', 'items[0].name', 'must be a string'],
    [
      'a long number for a string',
      '{"items":[{"name":123456789012345678}]}',
      'items[0].name',
      'must be a string',
    ],
  ])('%s is refused by name', async (_, body, field, message) => {
    const answer = await post('', body);
    expectProblem(answer, 'invalid_request');
    expect(answer.body['errors']).toEqual([{ field, message }]);
    expect(answer.body['detail']).toContain(field);
  });

  it.each(['[]', '5', '"text"', 'null', 'true', '123456789012345678'])(
    '%s is not an object',
    async (body) => {
      const answer = await post('', body);
      expectProblem(answer, 'invalid_request');
      expect(answer.body['errors']).toEqual([{ field: 'body', message: 'must be a JSON object' }]);
    },
  );

  it('lists at most 100 of 1,000 errors', async () => {
    const answer = await post(
      '/optional',
      JSON.stringify(Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`p${i}`, 1]))),
    );
    expectProblem(answer, 'invalid_request');
    expect(answer.body['errors']).toHaveLength(100);
    expect(answer.body['detail']).toMatch(/and 997 more$/);
  });

  it('repeats no long name for each of its errors', async () => {
    const answer = await post('', `{"${'x'.repeat(100_000)}":[${'"\\u0000",'.repeat(200)}1]}`);
    expectProblem(answer, 'invalid_request');
    expect(answer.body['errors']).toHaveLength(100);
    expect(JSON.stringify(answer.body).length).toBeLessThan(100_000);
  });

  it.each([
    ['text/plain'],
    ['application/xml'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/jsonx'],
    ['application/json; charset=iso-8859-1'],
    ['application/json; charset="utf-16"'],
    ['nonsense'],
  ])('content-type: %s is a 415, of any length', async (type) => {
    for (const body of [valid, valid.padEnd(5_000)])
      expectProblem(await post('', body, { 'content-type': type }), 'unsupported_media_type');
  });

  it.each(['gzip', 'x-gzip', 'deflate', 'br', 'identity, gzip'])(
    'content-encoding: %s is a 415, whatever the body is',
    async (encoding) => {
      const headers = { ...JSON_TYPE, 'content-encoding': encoding };
      for (const body of [valid, gzipSync(valid)]) {
        const answer = await post('', body, headers);
        expectProblem(answer, 'unsupported_media_type');
        expect(answer.headers.get('accept-encoding')).toBe('identity');
      }
    },
  );

  it('a byte order mark, as Windows programs send it, changes nothing', async () => {
    expect((await post('', `\ufeff${valid}`)).status).toBe(201);
    expectProblem(await post('', '\ufeff'), 'invalid_json');
  });

  it('content-encoding: identity changes nothing', async () => {
    const headers = { ...JSON_TYPE, 'content-encoding': 'Identity' };
    expect((await post('', valid, headers)).status).toBe(201);
  });

  it('a body over 256 kB is a 413, with or without Content-Length', async () => {
    const body = JSON.stringify({ items: [{ name: 'x'.repeat(256 * 1024) }] });
    expectProblem(await post('', body), 'body_too_large');
    const stream = new Blob([body]).stream();
    const answer = await ask('/api/v1/things', {
      method: 'POST',
      headers: JSON_TYPE,
      body: stream,
      duplex: 'half',
    });
    expectProblem(answer, 'body_too_large');
  });

  it('accepts an empty body where none is needed, and leaves numbers and names unchanged', async () => {
    expect((await post('/optional', '')).body).toEqual({ amount: null });
    expect((await ask('/api/v1/things/optional', { method: 'POST' })).body).toEqual({ amount: null });
    const { body } = await post(
      '',
      '{"items":[{"name":"a","number":541448820044186577}],"metadata":{"valueOf":{"toString":1}}}',
    );
    expect(body).toEqual({
      items: [{ name: 'a', number: '541448820044186577' }],
      metadata: { valueOf: { toString: 1 } },
    });
  });

  it('an integer that a double would round is refused', async () => {
    const answer = await post('/optional', '{"amount":9007199254740993}');
    expect(answer.body['errors']).toEqual([{ field: 'amount', message: 'must be an integer number' }]);
  });
});

describe('R39: a bad query or path is a clear 4xx', () => {
  it.each([
    ['limit=0', 'limit', 'must not be less than 1'],
    ['limit=201', 'limit', 'must not be greater than 200'],
    ['limit=-1', 'limit', 'must not be less than 1'],
    ['limit=ten', 'limit', 'must be an integer number'],
    ['limit=1.5', 'limit', 'must be an integer number'],
    ['limit=1e2', 'limit', 'must be an integer number'],
    ['limit=0x10', 'limit', 'must be an integer number'],
    ['limit=', 'limit', 'must be an integer number'],
    ['limit=99999999999999999999', 'limit', 'must be an integer number'],
    ['limit=5&limit=6', 'limit', 'must be given once'],
    ['state=a&state=a', 'state', 'must be given once'],
    ['limit[]=5', 'limit[]', 'is not known here'],
    ['colour=red', 'colour', 'is not known here'],
    ['__proto__=1', '__proto__', 'is a name that is not allowed'],
    ['constructor=1', 'constructor', 'is a name that is not allowed'],
    ['toString=1', 'toString', 'is not known here'],
    ['hasOwnProperty=', 'hasOwnProperty', 'is not known here'],
    ['state=a%E9b', 'state', 'must be percent-encoded UTF-8'],
    ['limit=5&st%FCate=a%20b', 'st%FCate', 'must be percent-encoded UTF-8'],
    ['state=100%', 'state', 'must be percent-encoded UTF-8'],
    ['state=%00', 'state', 'must not contain the character U+0000'],
    ...[
      '',
      'nonsense',
      'bnVsbA',
      'WyJhIl0',
      'WyIxIl0',
      'WyJvdGhlcnMiLCIxIl0',
      'WyIxIiwiMiJd',
      'A'.repeat(5_000),
    ].map((cursor) => [`cursor=${cursor}`, 'cursor', 'must be the `next` of a page of this list']),
  ])('?%s', async (query, field, message) => {
    const answer = await get(`?${query}`);
    expectProblem(answer, 'invalid_request');
    expect(answer.body['errors']).toEqual([{ field, message }]);
  });

  it.each(['/%', '/%zz', '/%ff', `/${'x'.repeat(1_500)}`])(
    'the malformed path %s is refused',
    async (path) => {
      const { status, headers, body } = await get(path);
      expect(status).toBe(400);
      expect(body['code']).toBe('invalid_request');
      expect(headers.get('x-request-id')).toBe(body['requestId']);
    },
  );

  it('an unknown path is a 404; an unsupported method is a 405 that names the supported ones', async () => {
    expectProblem(await ask('/nothing'), 'not_found');
    expectProblem(await ask('/problems/not_found/'), 'not_found');
    for (const name of ['toString', 'constructor', '__proto__'])
      expectProblem(await ask(`/problems/${name}`), 'not_found');
    expectProblem(await ask('/api/v1/things/optional/more'), 'not_found');
    const answer = await ask('/api/v1/things', { method: 'DELETE' });
    expectProblem(answer, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
  });
});

describe('input that is not HTTP', () => {
  it.each([
    ['nonsense', 'nonsense\r\n\r\n', 400],
    ['a header without a colon', 'GET / HTTP/1.1\r\nhost x\r\n\r\n', 400],
    [
      '40 kB of headers',
      `GET / HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${'x'.repeat(40_000)}\r\n\r\n`,
      431,
    ],
  ])('(%s) gets a problem', async (_, bytes, status) => {
    const answer = await sendRaw(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ status });
  });

  it('(a body that ends before its Content-Length) does not affect later requests', async () => {
    await sendRaw(
      'POST /api/v1/things HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"items"',
    );
    expect((await get('')).status).toBe(200);
  });
});

describe('a thrown error', () => {
  const fail = async (error: unknown): Promise<Answer> => {
    thrown.error = error;
    return post('/throw', '');
  };

  it.each<[string, object]>([
    ['starting', Object.assign(new Error('the database system is starting up'), { code: '57P03' })],
    ['too many connections', Object.assign(new Error('sorry'), { code: '53300' })],
    ['broken', Object.assign(new Error('broken'), { code: '08006' })],
    ['read-only after a failover', Object.assign(new Error('read-only'), { code: '25006' })],
  ])('of the database (%s) is a 503 with Retry-After', async (_, error) => {
    const answer = await fail(error);
    expectProblem(answer, 'database_unavailable');
    expect(answer.headers.get('retry-after')).toBe('5');
  });

  it.each<[string, unknown]>([
    ['an error', new Error('secret text')],
    ['a unique violation', Object.assign(new Error('secret text'), { code: '23505' })],
    ['a string', 'secret text'],
    ['undefined', undefined],
  ])('that is a bug (%s) is a 500 without details', async (_, error) => {
    const answer = await fail(error);
    expectProblem(answer, 'internal_error');
    expect(JSON.stringify(answer.body)).not.toContain('secret');
  });
});

describe('headers', () => {
  it('returns a usable X-Request-Id, and makes one otherwise', async () => {
    expect((await get('', { 'x-request-id': 'abc-123' })).headers.get('x-request-id')).toBe('abc-123');
    for (const unusable of ['', 'with space', 'x'.repeat(129), 'é']) {
      expect((await get('', { 'x-request-id': unusable })).headers.get('x-request-id')).toMatch(
        /^[0-9a-f-]{36}$/,
      );
    }
  });

  it('forbids caching, sniffing, framing and referrers, and does not name the server software', async () => {
    for (const { headers } of [
      await get(''),
      await ask('/nothing'),
      await post('', '{'),
      await get('/%zz'),
    ]) {
      const found = Object.fromEntries(headers);
      expect(found).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
      });
      expect(found).not.toHaveProperty('server');
      expect(found).not.toHaveProperty('x-powered-by');
    }
  });
});

describe('metrics', () => {
  it('count requests by the pattern of their route, never by their path', async () => {
    await get('/3f0c6a5e-1111-4222-8333-444455556666');
    await ask('/secret-path');
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toContain(
      'pv_onboarding_http_requests_total{method="GET",route="/api/v1/things/:thingId",status="200"} ',
    );
    expect(text).toContain(
      'pv_onboarding_http_request_duration_seconds_count{method="GET",route="/api/v1/things/:thingId",status_class="2xx"} ',
    );
    expect(text).toContain('route="none",status="404"');
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).not.toMatch(/3f0c6a5e|secret-path/);
  });
});

/** Returns the rows of the first table whose header has `column`, without the padding. */
function rowsOf(page: string, column: string): string[] {
  const lines = page.split('\n');
  const header = lines.findIndex((line) => line.startsWith('|') && line.includes(`| ${column} `));
  const end = lines.findIndex((line, index) => index > header && !line.startsWith('|'));
  return lines.slice(header + 2, end).map((line) => line.replace(/ +\|/g, ' |'));
}

describe('problems', () => {
  it('are all in docs/api.md, word for word, with what calling code does', async () => {
    const rows = rowsOf(await readPage('docs/api.md'), 'when it occurs, and what to do').map((row) =>
      row.split('|').map((cell) => cell.trim()),
    );
    expect(rows).toEqual(
      Object.entries(PROBLEMS).map(([code, { status, meaning }]) => [
        '',
        `\`${code}\``,
        String(status),
        meaning,
        ...Array<unknown>(3).fill(expect.stringMatching(/./)),
        '',
      ]),
    );
  });
});
