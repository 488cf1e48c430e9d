import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import axios from 'axios';
import { WebhookSender } from '../../../src/webhooks/send/sender.service.js';
import { Environment } from '../../../src/platform/env/environment.js';
import type { Outcome, RemoteResponse } from '../../../src/remote/outcome.rules.js';
import type { Remote } from '../../../src/remote/remote.service.js';
import {
  type Fields,
  readArray,
  readBoolean,
  readObject,
  readUuid,
} from '../../../src/remote/wire/read-field.js';
import { outcomeOf, UnreadableResponse } from '../../../src/remote/wire/read-response.js';
import { watchLoop } from '../../faults/support/evidence/loop-watch.js';
import { inTime, itAtLength, measureUntil, promise } from '../../faults/support/promise.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { waitFor } from '../../setup/wait-for.js';
import {
  CREDENTIALS,
  type RawServer,
  readSession,
  registerUser,
  reply,
  startRawServer,
  startRemote,
} from './fixture.js';

const closing = closeAfterEach();

/** The longest time for which reading a response may block the event loop. */
const BLOCKED_MS = 150;
const ID = '6f6e0a4e-7f7c-4b6f-9d0b-0e6f8f4b8f10';
const GOOD = JSON.stringify({ sessionId: ID, finished: false, inverters: [] });

function read(response: RemoteResponse): { id: string; finished: boolean; inverters: number } {
  const fields: Fields = readObject(response.body);
  const id = readUuid(fields, 'sessionId');
  if (id !== ID) throw new UnreadableResponse('about another session');
  return { id, finished: readBoolean(fields, 'finished'), inverters: readArray(fields, 'inverters').length };
}

const HOSTILE: Record<string, Buffer> = {
  '50 MB': reply(200, Buffer.alloc(50 * 1024 * 1024, ' ')),
  'a gzip bomb of 50 MB': reply(200, gzipSync(Buffer.alloc(50 * 1024 * 1024)), {
    'content-encoding': 'gzip',
  }),
  'depth 50,000': reply(200, '['.repeat(50_000) + ']'.repeat(50_000)),
  'depth 50,000 within a field': reply(200, `{"sessionId":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`),
  'HTML with status 200': reply(200, '<!doctype html><title>Maintenance</title>', {
    'content-type': 'text/html',
  }),
  'an empty body': reply(200, ''),
  'no body at all': Buffer.from('HTTP/1.1 204 No Content\r\n\r\n'),
  null: reply(200, 'null'),
  'an array': reply(200, '[]'),
  'an empty string': reply(200, '""'),
  'NUL bytes': reply(200, '\0\0\0\0'),
  'half of a surrogate pair': reply(200, '{"sessionId":"\\ud800","finished":true,"inverters":[]}'),
  'another session': reply(200, GOOD.replace(ID, ID.replace('6', '7'))),
  'bytes that are not UTF-8': reply(200, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x22])),
  'wrong types': reply(200, '{"sessionId":7,"finished":"false","inverters":{}}'),
  'a name twice': reply(200, GOOD.replace('{', '{"finished":true,')),
  'inherited names': reply(200, '{"__proto__":{"finished":true},"constructor":1}'),
};

describe('R23: a hostile response is contained', () => {
  let mostMb = 0;
  let longestMs = 0;

  afterAll(() =>
    promise('R23', {
      figure: `${Math.round(mostMb)} MB more and ${Math.round(longestMs)} ms without a break at most, 0 crashes, ${Object.keys(HOSTILE).length} hostile responses`,
      bound: `64 MB, ${BLOCKED_MS} ms, 0`,
    }),
  );

  async function serve(): Promise<Remote> {
    const server = await startRawServer((socket, { path }) => {
      const name = decodeURIComponent(path.slice(1));
      const hostile = HOSTILE[name];
      if (hostile) socket.write(hostile);
      else socket.write(name === 'bom' ? reply(200, `\ufeff${GOOD}`) : reply(200, GOOD));
    });
    const remote = startRemote({ SCS_BASE_URL: server.url });
    closing.push(server.close, () => remote.onApplicationShutdown());
    return remote;
  }

  async function get(remote: Remote, name: string): Promise<Outcome<unknown>> {
    const sent = await remote.send({ ...readSession, path: `/${encodeURIComponent(name)}` });
    const loop = watchLoop();
    const outcome = outcomeOf(sent, read);
    const blockedMs = loop.end();
    longestMs = Math.max(longestMs, blockedMs);
    expect(blockedMs).toBeLessThan(inTime(BLOCKED_MS));
    return outcome;
  }

  it.each(Object.keys(HOSTILE))('is unreadable, and other calls continue: %s', async (name) => {
    const remote = await serve();
    const before = process.memoryUsage().rss;
    const [hostile, ...others] = await Promise.all([
      get(remote, name),
      ...Array.from({ length: 10 }, () => get(remote, 'good')),
    ]);
    expect(hostile).toMatchObject({ kind: 'unreadable' });
    for (const other of others)
      expect(other).toEqual({ kind: 'done', value: { id: ID, finished: false, inverters: 0 } });
    const grownMb = (process.memoryUsage().rss - before) / 1024 / 1024;
    mostMb = Math.max(mostMb, grownMb);
    // Includes the memory of the test's server, which runs in this process.
    expect(grownMb).toBeLessThan(64);
  });

  itAtLength('turns red with the defaults of axios', async () => {
    const server = await startRawServer((socket) => socket.write(HOSTILE['50 MB']!));
    closing.push(server.close);
    const { data } = await axios.get<string>(server.url);
    expect(data).toHaveLength(50 * 1024 * 1024);
  });

  it('is read if it only has a byte order mark', async () => {
    expect(await get(await serve(), 'bom')).toMatchObject({ kind: 'done' });
  });

  it('with 10,000 inverters is read without blocking the event loop for long', async () => {
    const many = JSON.stringify({
      sessionId: ID,
      finished: true,
      inverters: Array.from({ length: 10_000 }, () => ({ id: ID })),
    });
    const server = await startRawServer((socket) => socket.write(reply(200, many)));
    const remote = startRemote({ SCS_BASE_URL: server.url });
    closing.push(server.close, () => remote.onApplicationShutdown());
    const sent = await remote.send(readSession);
    const loop = watchLoop();
    expect(outcomeOf(sent, read)).toMatchObject({ kind: 'done', value: { inverters: 10_000 } });
    const tookMs = loop.end();
    promise('R23', { figure: `${Math.round(tookMs)} ms for 10,000 inverters`, bound: `${BLOCKED_MS} ms` });
    expect(tookMs).toBeLessThan(inTime(BLOCKED_MS));
  });
});

describe('a foreign response', () => {
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
});

describe('informational responses', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\nx: HTTP/1.1 200 OK\r\n\r\n';

  const BEFORE: Readonly<Record<string, string>> = {
    'a 100': CONTINUE,
    'a 102': 'HTTP/1.1 102 Processing\r\n\r\n',
    'a 103 with headers': HINTS,
    'several of them': CONTINUE + HINTS + 'HTTP/1.1 199 Whatever\r\n\r\n' + CONTINUE,
    'two hundred': CONTINUE.repeat(200),
    'a 100 with bare line feeds': 'HTTP/1.1 100 Continue\n\n',
  };
  /** A body that contains the text of an informational response. */
  const BODY = JSON.stringify({ says: 'HTTP/1.1 100 Continue', then: CONTINUE });

  const WEBHOOK = { id: 'e1', timestamp: new Date(), body: '{}' };
  const SECRET = `whsec_${Buffer.alloc(32, 'of this test').toString('base64')}`;

  async function serve(respond: (socket: Socket) => void): Promise<RawServer> {
    const server = await startRawServer((socket) => {
      socket.setNoDelay(true);
      respond(socket);
    });
    closing.push(server.close);
    return server;
  }

  function remoteOf({ url }: RawServer, timeoutMs = 10_000) {
    const remote = startRemote({ SCS_BASE_URL: url, SCS_TIMEOUT_MS: timeoutMs });
    closing.push(() => remote.onApplicationShutdown());
    return remote;
  }

  /** Returns a function that sends a webhook over the same connection each time. */
  function webhooksTo({ url }: RawServer, deadlineMs = 10_000) {
    const sender = new WebhookSender(
      Object.assign(new Environment(), { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true }),
    );
    sender.deadlineMs = deadlineMs;
    closing.push(() => sender.onApplicationShutdown());
    return () => sender.send({ url: `${url}/hook`, headers: {}, secrets: [SECRET] }, WEBHOOK);
  }

  async function drip(socket: Socket, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length && !socket.destroyed; at++) {
      socket.write(bytes.subarray(at, at + 1));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  describe.each(Object.entries(BEFORE))('%s before the response', (_, before) => {
    const whole = Buffer.concat([Buffer.from(before), reply(200, BODY)]);

    it('is skipped for the remote service, and the connection is used again', async () => {
      const server = await serve((socket) => void socket.write(whole));
      const remote = remoteOf(server);
      for (let i = 0; i < 3; i++)
        expect(await remote.send(readSession)).toMatchObject({ response: { status: 200, body: BODY } });
      expect(await remote.send(registerUser)).toMatchObject({ response: { status: 200, body: BODY } });
      // Reads and POSTs use separate connections.
      expect(server.connections()).toBe(2);
    });

    it('is skipped for a webhook receiver, and the connection is used again', async () => {
      const server = await serve((socket) => void socket.write(whole));
      const send = webhooksTo(server);
      expect(await send()).toMatchObject({ kind: 'delivered', status: 200 });
      // The connection becomes free once its whole response is processed.
      await new Promise(setImmediate);
      expect(await send()).toMatchObject({ kind: 'delivered', status: 200 });
      expect(server.connections()).toBe(1);
    });
  });

  it('a handshake that never ends holds no later webhook up, and its connection is closed', async () => {
    const server = await serve(() => {});
    const send = webhooksTo({ ...server, url: server.url.replace('http:', 'https:') }, 300);
    for (let nth = 1; nth <= 2; nth++) {
      expect(await send()).toMatchObject({ kind: 'failed' });
      await waitFor('the connection is closed', () => server.open() === 0);
      expect(server.connections()).toBe(nth);
    }
  });

  describe('an informational response', () => {
    it('is skipped even if it arrives byte by byte', async () => {
      const whole = Buffer.concat([Buffer.from(CONTINUE + HINTS), reply(200, '{}')]);
      const server = await serve((socket) => void drip(socket, whole));
      expect(await remoteOf(server).send(readSession)).toMatchObject({
        response: { status: 200, body: '{}' },
      });
    });

    it.each([
      [
        'drips',
        (socket: Socket) => {
          const timer = setInterval(() => socket.write(CONTINUE), 20);
          socket.on('close', () => clearInterval(timer));
        },
      ],
      [
        'never ends its head',
        (socket: Socket) => {
          socket.write('HTTP/1.1 100 Continue\r\n');
          const timer = setInterval(() => socket.write('x: y\r\n'), 20);
          socket.on('close', () => clearInterval(timer));
        },
      ],
      [
        'comes as fast as it is read',
        (socket: Socket) => {
          const block = CONTINUE.repeat(1_000);
          const pump = () => {
            while (!socket.destroyed && socket.write(block));
          };
          socket.on('drain', pump);
          pump();
        },
      ],
    ])('without end, which %s, is aborted at the deadline', async (_, respond) => {
      const server = await serve(respond);
      const { tookMs, remote, webhook } = await measureUntil(
        (measured) => measured.tookMs < 1_300,
        async () => {
          const beganAt = performance.now();
          const send = webhooksTo(server, 1_000);
          const [remote, webhook] = await Promise.all([remoteOf(server, 1_000).send(registerUser), send()]);
          return { tookMs: performance.now() - beganAt, remote, webhook };
        },
      );
      expect(tookMs).toBeLessThan(inTime(1_300));
      expect(remote.kind).toBe('ambiguous');
      expect(webhook).toMatchObject({ kind: 'failed' });
      expect(webhook.status).toBeUndefined();
    });

    it('that switches protocols is refused, since none was requested', async () => {
      const server = await serve(
        (socket) =>
          void socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      );
      expect((await remoteOf(server).send(registerUser)).kind).toBe('ambiguous');
    });
  });
});
