import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Authentication } from '../../../src/access/authentication.service.js';
import { TenantTokens } from '../../../src/auth/tenant-tokens.service.js';
import { PassThroughStore } from '../../../src/pass-through/pass-through.store.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';
import { type PassedService, startPassedService } from './pass-through.fixture.js';

const MB = 1024 * 1024;

let remote: PassedService;
let service: TestApp;
let admin: TestClient;
let app: TestClient;

beforeAll(async () => {
  remote = await startPassedService();
  service = await startTestApp({
    ...remote.environment,
    ROLE: 'api',
    SCS_TIMEOUT_MS: 20_000,
    SCS_PASS_THROUGH:
      'GET users/*/data; POST inverters/*/curtailments; PUT inverters/*/limit; GET inverters/*/data;',
  });
  admin = TestClient.of(service);
  ({ app } = await createKey(admin, 'remote:call'));
});
afterAll(async () => {
  await service?.close();
  await remote.close();
});
afterEach(() => void jest.restoreAllMocks());
beforeEach(() => {
  remote.calls.length = 0;
  remote.begun = 0;
  remote.aborted = 0;
  remote.readsBodies = true;
  remote.isValid = (token) => token === remote.tokens.at(-1);
  remote.respond = (_request, response) =>
    void response.setHeader('content-type', 'application/json').end('{}');
});

const sql = <Row>(text: string, values?: unknown[]) => service.database.query<Row>(text, values);

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
afterAll(() => agent.destroy());

/** Sends a request whose path is not changed on its way, as fetch would. */
function send(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  by: Agent | false = agent,
): ClientRequest {
  const { hostname, port } = new URL(service.url);
  return httpRequest({
    ...{ hostname, port, method, path: `/api/v1/scs/${path}` },
    headers: { authorization: `Bearer ${app.key}`, ...headers },
    agent: by,
  });
}

const responseTo = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => request.on('response', resolve).on('error', reject).end());

/** Sends a request of any type. */
async function exchange(method: string, path: string, body?: string) {
  const headers = { authorization: `Bearer ${app.key}` };
  const response = await fetch(`${service.url}/api/v1/scs/${path}`, {
    method,
    headers,
    ...(body && { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function statusOf(method: string, path: string): Promise<number> {
  const response = await responseTo(send(method, path));
  response.resume();
  return response.statusCode!;
}

describe('a call that is passed on', () => {
  it('is sent with our credentials and the headers that are allowed, and its response comes through as it is', async () => {
    const sent = {
      ...{ accept: 'text/csv', 'accept-language': 'nl', 'content-language': 'fr', prefer: 'wait=1' },
      ...{ 'if-match': '"2"', 'if-none-match': '"0"' },
    };
    const passed = {
      ...{ etag: '"1"', 'content-language': 'de', 'content-disposition': 'attachment', 'retry-after': '1' },
      ...{ 'last-modified': 'Tue, 01 Dec 2026 10:00:00 GMT', 'content-encoding': 'identity' },
    };
    const numbers = '{"kwh":12345678901234567890.123456789012345678,"ean":541448820044186577}';
    remote.respond = (_request, response) =>
      void response
        .writeHead(200, {
          'content-type': 'application/json; x=1',
          ...passed,
          'set-cookie': 'a=1',
          server: 'x',
        })
        .end(numbers);
    const { status, text, headers } = await app.call('GET', '/scs/users/u-1/data?from=a%20b&n=1', undefined, {
      ...{ cookie: 'a=1', 'x-forwarded-for': '10.0.0.1', apikey: 'mine', ...sent },
      'x-request-id': 'my-request',
    });
    expect([status, text]).toEqual([200, numbers]);
    expect(Object.fromEntries(headers)).toMatchObject({
      ...{ 'content-type': 'application/json; x=1', ...passed, 'x-request-id': 'my-request' },
    });
    expect(['set-cookie', 'server'].filter((name) => headers.has(name))).toEqual([]);
    const [call] = remote.calls;
    expect(call).toMatchObject({ method: 'GET', path: '/api/v1/ssa/users/u-1/data?from=a%20b&n=1' });
    expect(call!.headers).toEqual({
      ...{ ...sent, 'accept-encoding': 'identity' },
      ...{ apikey: service.environment.SCS_API_KEY, authorization: `Bearer ${remote.tokens.at(-1)}` },
      ...{ 'user-agent': 'pv-onboarding', connection: 'keep-alive', host: expect.any(String) },
    });
  });

  it('has its body as it was sent, of any type', async () => {
    remote.respond = (request, response, body) =>
      void response.writeHead(201, { 'content-type': request.headers['content-type']! }).end(body);
    const body = '{"kw": 1.0, "kw": 2.50}';
    for (const type of ['application/json', 'text/csv', 'application/x-www-form-urlencoded']) {
      const { status, text, headers } = await app.call('POST', '/scs/inverters/i_1/curtailments', body, {
        'content-type': type,
      });
      expect([status, text, headers.get('content-type')]).toEqual([201, body, type]);
    }
  });

  it.each([400, 403, 404, 409, 500, 503])('passes a %i on as it is', async (status) => {
    remote.respond = (_request, response) =>
      void response.writeHead(status, { 'content-type': 'text/plain' }).end('because');
    const answer = await exchange('GET', 'users/u-1/data');
    expect([answer.status, answer.text, answer.headers.get('x-request-id')]).toEqual([
      status,
      'because',
      expect.any(String),
    ]);
  });

  it('needs the scope remote:call', async () => {
    const { app: other } = await createKey(admin, 'users:read', 'onboarding:write');
    expect(await other.call('GET', '/scs/users/u-1/data')).toMatchObject({ status: 403 });
  });

  it('is audited by method, pattern and key', async () => {
    await app.call('POST', '/scs/inverters/secret-id/curtailments', 'secret body');
    const [entry] = await sql<object>('SELECT * FROM audit_log ORDER BY id DESC LIMIT 1');
    expect(entry).toMatchObject({
      action: 'remote.called',
      target: 'POST inverters/*/curtailments',
      details: {},
    });
    expect(JSON.stringify(entry)).not.toContain('secret');
  });

  it('is a 404 if it is not allowed, however it is written', async () => {
    const paths = [
      ...['users', 'users/u-1', 'users/u-1/data/', 'users//data', 'users/u-1/data/more', 'Users/u-1/data'],
      ...['users/../data', 'users/./data', 'users/a.b/data', 'users/u%2D1/data', 'users/a%2Fb/data'],
      ...[
        'users/%2e%2e/data',
        'users/*/data',
        'users/a;b/data',
        'users/a@b/data',
        'users/é/data',
        'oauth/token',
      ],
    ];
    const statuses = await Promise.all(
      paths.map((path) => statusOf('GET', encodeURI(path).replace(/%25/g, '%'))),
    );
    expect(statuses).toEqual(paths.map(() => 404));
    const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
    expect(await Promise.all(methods.map((method) => statusOf(method, 'users/u-1/data')))).toEqual(
      methods.map(() => 404),
    );
    expect(remote.begun).toBe(0);
  });

  it('is a 404 if it is about somebody who was erased', async () => {
    const id = randomUUID();
    await sql(
      `INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata, erased_at)
         VALUES ($1, NULL, '', '', '', '', '{}', now())`,
      [id],
    );
    const forms = [id, id.toUpperCase(), id.replaceAll('-', '')];
    for (const form of forms)
      expect([form, await statusOf('GET', `users/${form}/data`)]).toEqual([form, 404]);
    expect(await statusOf('GET', `users/u-1/data?user=${id}`)).toBe(404);
    const post = send('POST', `inverters/i/curtailments?user=${id}`, { 'transfer-encoding': 'chunked' });
    post.write(Buffer.alloc(MB));
    const response = await responseTo(post);
    response.resume();
    expect([response.statusCode, remote.begun]).toEqual([404, 0]);
    // The connection serves the next request, although the rest of the body was not read.
    expect(await statusOf('GET', `users/${randomUUID()}/data`)).toBe(200);
  });
});

describe('the access token of a call that is passed on', () => {
  it('is renewed once after a 401, and the call is sent again if it has no body', async () => {
    await app.call('GET', '/scs/users/u-1/data');
    const before = remote.tokens.length;
    remote.isValid = (token) => token === remote.tokens[before];
    expect((await app.call('GET', '/scs/users/u-1/data')).status).toBe(200);
    expect(remote.tokens.length).toBe(before + 1);
    expect(remote.calls.length).toBe(3);
  });

  it('is renewed for the next call if this one has a body', async () => {
    await app.call('GET', '/scs/users/u-1/data');
    const before = remote.tokens.length;
    remote.isValid = (token) => token === remote.tokens[before];
    const post = () => app.call('POST', '/scs/inverters/i/curtailments', '{}');
    const { status, body, headers } = await post();
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'remote_unavailable', '1']);
    expect((await waitForStatus(post, 200)).status).toBe(200);
    expect(remote.calls.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  it('is not the fault of the caller if it is refused again', async () => {
    remote.isValid = () => false;
    const { status, body } = await app.call('GET', '/scs/users/u-1/data');
    expect([status, body.code]).toEqual([502, 'remote_credentials_rejected']);
    remote.isValid = () => true;
    await service.app.get(TenantTokens).probe();
    await waitForStatus(() => app.call('GET', '/scs/users/u-1/data'), 200);
  });
});

const waitForStatus = async (call: () => ReturnType<TestClient['call']>, status: number) => {
  let answer = await call();
  await waitFor(`a response with ${status}`, async () => {
    if (answer.status !== status) answer = await call();
    return answer.status === status;
  });
  return answer;
};

describe('a call whose response is lost', () => {
  it.each(['GET', 'POST'])('is a 502 that says so, and was sent once: %s', async (method) => {
    remote.respond = (request) => void request.socket.destroy();
    const path = method === 'GET' ? 'users/u-1/data' : 'inverters/i/curtailments';
    const { status, body } = await app.call(method, `/scs/${path}`, method === 'GET' ? undefined : '{}');
    expect([status, body.code]).toEqual([502, 'remote_response_lost']);
    expect(body.detail).toContain('sent once');
    expect(remote.calls).toHaveLength(1);
  });

  it('never ends as if it were whole', async () => {
    remote.respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('[1,2', () => response.destroy());
    };
    await expect(app.call('GET', '/scs/users/u-1/data')).rejects.toThrow();
  });
});

describe('a body beyond 10 MB', () => {
  it.each(['with', 'without'])('of a response %s a length never ends as if it were whole', async (length) => {
    remote.respond = (_request, response) => {
      if (length === 'with') response.setHeader('content-length', 11 * MB);
      response.write(randomBytes(11 * MB));
      response.end();
    };
    const answer = app.call('GET', '/scs/users/u-1/data').then(
      ({ status }) => status,
      () => 'reset',
    );
    expect(await answer).toBe(length === 'with' ? 502 : 'reset');
  });

  it('of a request with a length is refused before it is sent', async () => {
    const { status, body } = await app.call('POST', '/scs/inverters/i/curtailments', 'x'.repeat(11 * MB));
    expect([status, body.code, remote.begun]).toEqual([413, 'body_too_large', 0]);
  });

  it('of a request without a length is never complete', async () => {
    const request = send('POST', 'inverters/i/curtailments', { 'transfer-encoding': 'chunked' });
    request.write(Buffer.alloc(10 * MB));
    request.write(Buffer.alloc(MB));
    const response = await responseTo(request);
    response.resume();
    expect(response.statusCode).toBe(413);
    await waitFor('the call to end', () => remote.aborted === 1);
    expect(remote.calls).toEqual([]);
    // The connection serves the next request, although the rest of the body was not read.
    expect(await statusOf('GET', 'users/u-1/data')).toBe(200);
  });

  it('is the limit: 10 MB are passed on both ways', async () => {
    remote.respond = (_request, response, body) => void response.end(body);
    const sent = 'x'.repeat(10 * MB);
    const { status, text } = await exchange('POST', 'inverters/i/curtailments', sent);
    expect([status, text === sent]).toEqual([200, true]);
  });
});

describe('a caller', () => {
  it('who leaves ends the call', async () => {
    remote.respond = () => {};
    const request = send('GET', 'users/u-1/data');
    request.on('error', () => {}).end();
    await waitFor('the call', () => remote.begun === 1);
    request.destroy();
    await waitFor('the call to end', () => remote.aborted === 1);
  });

  it('who has left before the call begins is not waited for: nothing is sent', async () => {
    const authentication = service.app.get(Authentication);
    const authenticate = authentication.authenticate.bind(authentication);
    const connected = once(service.app.getHttpServer(), 'connection') as Promise<[Socket]>;
    const request = send('GET', 'users/u-0/data', {}, false);
    const authenticating = jest.spyOn(authentication, 'authenticate');
    authenticating.mockImplementationOnce(async (key) => {
      const [socket] = await connected;
      request.destroy();
      await once(socket, 'close');
      return authenticate(key);
    });
    const admitted = jest.spyOn(service.app.get(PassThroughStore), 'admit');
    request.on('error', () => {}).end();
    await waitFor('the call', () => admitted.mock.results.length === 1);
    expect(await statusOf('GET', 'users/u-1/data')).toBe(200);
    expect(remote.calls.map(({ path }) => path)).toEqual(['/api/v1/ssa/users/u-1/data']);
  });

  it('who leaves amid the response ends the call', async () => {
    remote.respond = (_request, response) => void response.write('[1,');
    const request = send('GET', 'users/u-1/data');
    const response = await responseTo(request);
    response.on('error', () => {}).destroy();
    await waitFor('the call to end', () => remote.aborted === 1);
  });

  it('whose key is revoked while the body arrives changes nothing', async () => {
    const { id, key } = await createKey(admin, 'remote:call');
    const headers = { authorization: `Bearer ${key}`, 'content-length': '10', expect: '100-continue' };
    const request = send('POST', 'inverters/i/curtailments', headers);
    await new Promise((resolve) => {
      request.once('continue', () => resolve(request.write('12345')));
      request.flushHeaders();
    });
    await admin.call('DELETE', `/api-keys/${id}`);
    request.write('67890');
    const response = await responseTo(request);
    response.resume();
    expect([response.statusCode, remote.begun]).toEqual([401, 0]);
  });

  it('whose key is revoked amid the call learns nothing more', async () => {
    remote.respond = () => {};
    const { id, app: other } = await createKey(admin, 'remote:call');
    const answer = other.call('GET', '/scs/users/u-1/data');
    await waitFor('the call', () => remote.begun === 1);
    await admin.call('DELETE', `/api-keys/${id}`);
    expect((await answer).status).toBe(401);
    // The call was ended, not left to its deadline.
    const { lastError } = service.app.get(Remote).status().operations.pass_through;
    expect(String(lastError)).not.toContain('no whole response');
  });
});

it('has an operation of its own in the status and in the metrics', async () => {
  await app.call('GET', '/scs/users/u-1/data');
  const { body } = await admin.call<{ remote: { operations: Record<string, { health: string }> } }>(
    'GET',
    '/status',
  );
  expect(body.remote.operations.pass_through?.health).toBeDefined();
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  expect(metrics).toMatch(/pv_onboarding_remote_calls_total\{operation="pass_through",outcome="done"\} \d/);
});

// Comes last, because no further call is sent.
it('a wait that the service requests holds for all calls that are passed on', async () => {
  remote.respond = (_request, response) => void response.writeHead(429, { 'retry-after': '600' }).end();
  expect(await statusOf('GET', 'users/u-1/data')).toBe(429);
  expect(await app.call('GET', '/scs/users/u-1/data')).toMatchObject({ status: 503 });
  expect(remote.calls).toHaveLength(1);
});
