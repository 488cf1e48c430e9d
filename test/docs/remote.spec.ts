import { describe, expect, it } from '@jest/globals';
import { AuthorisedRemote } from '../../src/auth/authorised-remote.service.js';
import type { Grant } from '../../src/auth/bearer-tokens.js';
import type { TenantTokens } from '../../src/auth/tenant-tokens.service.js';
import { readSession, reply, startRawServer, startRemote } from '../e2e/remote/fixture.js';
import { ExchangedUserTokens } from './remote.example.js';
import { closeAfterEach } from '../setup/close-after-each.js';
import { readPage as read } from './readme.js';

const closing = closeAfterEach();

describe('docs/remote.md', () => {
  it('quotes the example that is compiled with the code', async () => {
    const quoted = /<!-- test\/docs\/remote\.example\.ts -->\s+```ts\n(.*?)```/s.exec(
      await read('docs/remote.md'),
    )?.[1];
    const example = (await read('test/docs/remote.example.ts'))
      .replaceAll('../../src/auth/', './')
      .replaceAll('../../src/', '../');
    expect(quoted).toBe(example);
  });

  it('shows a strategy that gives each user a token, and another one after a 401', async () => {
    let issued = 0;
    const refused = new Set<string>();
    const server = await startRawServer((socket, { path, headers }) => {
      const token = headers.authorization ?? '';
      if (path.endsWith('/token')) {
        socket.write(
          reply(200, JSON.stringify({ access_token: `${path.split('/')[5]}-${++issued}`, expires_in: 3600 })),
        );
      } else socket.write(reply(refused.has(token) ? 401 : 200, '{}'));
    });
    const remote = startRemote({ SCS_BASE_URL: server.url });
    closing.push(server.close, () => remote.onApplicationShutdown());
    const grant: Grant = { kind: 'token', token: 'tenant', generation: 1, grantedAt: 0 };
    const tenantTokens = { current: async () => grant, accept: async () => {} } as unknown as TenantTokens;
    const authorised = new AuthorisedRemote(
      remote,
      tenantTokens,
      new ExchangedUserTokens(remote, tenantTokens),
    );

    await Promise.all(Array.from({ length: 10 }, () => authorised.send(readSession, 'user', 'anna')));
    await authorised.send(readSession, 'user', 'bert');
    expect(issued).toBe(2);
    refused.add('Bearer anna-1');
    expect(await authorised.send(readSession, 'user', 'anna')).toMatchObject({ response: { status: 200 } });

    const sent = server.requests.map(
      ({ path, headers }) => `${path.split('/').at(-1)?.slice(0, 5)} ${headers.authorization}`,
    );
    expect(sent.filter((line) => line.startsWith('token'))).toEqual(Array(3).fill('token Bearer tenant'));
    expect(sent.slice(-3)).toEqual(['6f6e0 Bearer anna-1', 'token Bearer tenant', '6f6e0 Bearer anna-3']);
  });
});
