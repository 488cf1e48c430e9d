import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSandbox } from '../../../sandbox/server.js';
import { authorisedClientOf, startRemoteSession } from '../../setup/sandbox/sandbox-client.js';
import { startSandboxProcess, type TestSandbox } from '../../setup/sandbox/sandbox.js';

let sandbox: TestSandbox;
let startUrl: string;
beforeAll(async () => {
  sandbox = await startSandboxProcess({ SANDBOX_ALLOWED_HOSTS: 'sandbox, Scs.Test' });
  ({ startUrl } = await startRemoteSession(await authorisedClientOf(sandbox)));
});
afterAll(() => sandbox.stop());

/** Uses node:http, because fetch overwrites the Host header. */
function statusOf(path: string, host: string, method = 'GET'): Promise<number> {
  const { hostname, port } = new URL(sandbox.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers: { host, apikey: 'wrong' } });
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}

describe('the sandbox', () => {
  it('serves its pages, its control API and the remote interface by its own names', async () => {
    const flow = new URL(startUrl).pathname;
    for (const name of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]', 'LOCALHOST', 'sandbox', 'scs.test']) {
      const host = `${name}:${new URL(sandbox.url).port}`;
      expect([host, await statusOf('/', host)]).toEqual([host, 200]);
      expect(await statusOf('/', name)).toBe(200);
      expect(await statusOf('/sandbox/users', host)).toBe(200);
      expect(await statusOf(flow, host)).toBe(200);
      expect(await statusOf('/api/v1/ssa', host)).toBe(401);
    }
  });

  it.each([
    'attacker.example',
    'localhost.attacker.example',
    '127.0.0.1.attacker.example',
    'attacker.example:4010',
    'localhost.',
    '10.0.0.1',
    '[::2]',
    '[::1].attacker.example',
    'localhost:1:2',
    'user@localhost',
  ])('refuses %j as Host on every path', async (host) => {
    const paths = [
      '/',
      '/sandbox/users',
      '/sandbox/ledger',
      new URL(startUrl).pathname,
      '/api/v1/ssa',
      '/nothing',
    ];
    for (const path of paths) expect([path, await statusOf(path, host)]).toEqual([path, 403]);
    expect(await statusOf('/sandbox/reset', host, 'POST')).toBe(403);
  });
});

describe('the sandbox, called from another machine', () => {
  const CREDENTIALS = { apiKey: 'key', clientId: 'client', clientSecret: 'secret' };
  const ELSEWHERE = { remoteAddress: '172.18.0.1', headers: { host: 'localhost:4010' } };

  it('serves neither its control API nor its index page', async () => {
    const { app } = createSandbox(CREDENTIALS, [], null);
    for (const url of ['/', '/sandbox/users'])
      expect((await app.inject({ ...ELSEWHERE, url })).statusCode).toBe(403);
  });

  it('serves both with a public URL, but no page of another site', async () => {
    const { app } = createSandbox(CREDENTIALS, [], 'http://localhost:4010');
    for (const url of ['/', '/sandbox/users']) {
      expect((await app.inject({ ...ELSEWHERE, url })).statusCode).toBe(200);
      const headers = { ...ELSEWHERE.headers, origin: 'https://elsewhere.example' };
      expect((await app.inject({ ...ELSEWHERE, url, headers })).statusCode).toBe(403);
    }
  });
});
