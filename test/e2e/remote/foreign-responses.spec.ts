import { describe, expect, it } from '@jest/globals';
import type { Remote } from '../../../src/remote/remote.service.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { CREDENTIALS, readSession, registerUser, reply, startRawServer, startRemote } from './fixture.js';

const closing = closeAfterEach();

async function serving(response: Buffer): Promise<Remote> {
  const server = await startRawServer((socket) => socket.write(response));
  const remote = startRemote({ SCS_BASE_URL: server.url });
  closing.push(server.close, () => remote.onApplicationShutdown());
  return remote;
}

const TOKEN = 'QmFzZTY0LWNhbmFyeS1vZi1hLWxvbmctdG9rZW4tNDI';
const PAGE = `<!doctype html>
  <title>Access denied</title> ${CREDENTIALS.SCS_CLIENT_SECRET} ${TOKEN} anna@canary.example 871234567890123456
  https://flow.example/pv-onboarding/canary ${'Contact the administrator. '.repeat(50)}`;

describe('a 200 of something in front of the remote service', () => {
  it('degrades the operation and shows its status, its content type and its first characters without secrets', async () => {
    const remote = await serving(reply(200, PAGE, { 'content-type': 'text/html; charset=utf-8' }));
    await remote.send(readSession);
    const { read_session: shown } = remote.status().operations;
    expect(shown).toMatchObject({ health: 'degraded', lastSuccessAt: null });
    expect(shown.lastError).toMatch(
      /^unreadable: status 200, text\/html; charset=utf-8: <!doctype html> <title>Access denied<\/title> /,
    );
    expect(shown.lastError).not.toMatch(/canary|QmFz|871234567890123456/);
    expect(shown.lastError!.length).toBeLessThan(300);
  });

  it('opens the breaker after five in a row, so that no further registration has an unknown outcome', async () => {
    const remote = await serving(reply(200, PAGE, { 'content-type': 'text/html' }));
    for (let nth = 0; nth < 5; nth++) await remote.send(registerUser);
    expect(await remote.send(registerUser)).toMatchObject({ kind: 'not_sent', reason: 'breaker_open' });
    expect(remote.status().operations.register_user).toMatchObject({
      health: 'unavailable',
      breaker: 'open',
    });
  });

  it.each([
    ['an empty body', reply(200, ''), 'unreadable: status 200, application/json: an empty body'],
    [
      'no content',
      Buffer.from('HTTP/1.1 204 X\r\n\r\n'),
      'unreadable: status 204, no content type: an empty body',
    ],
    ['an array', reply(200, '[1]'), 'unreadable: status 200, application/json: [1]'],
    ['a redirect', reply(302, '', { location: '/login' }), 'status 302'],
  ])('counts as a failure too if it is %s', async (_, response, lastError) => {
    const remote = await serving(response);
    await remote.send(readSession);
    const { read_session: shown } = remote.status().operations;
    expect(shown).toMatchObject({ health: 'degraded', lastSuccessAt: null, lastError });
  });
});
