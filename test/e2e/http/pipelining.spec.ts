import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { HTTP_LIMITS } from '../../../src/platform/http/http-limits.js';
import { waitFor } from '../../setup/wait-for.js';
import { startHttpFixture } from './http-fixture.js';

const LIMITS = { ...HTTP_LIMITS, checkMs: 50, idleMs: 20_000 };

let app: NestFastifyApplication;
let url: URL;
const sockets: Socket[] = [];

beforeAll(async () => {
  const fixture = await startHttpFixture(LIMITS);
  app = fixture.app;
  url = new URL(fixture.url);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => app.close());

interface Connection {
  readonly socket: Socket;
  text(): string;
  ids(): string[];
  readonly closed: Promise<unknown>;
}

async function open(): Promise<Connection> {
  const socket = connect(Number(url.port), url.hostname);
  sockets.push(socket);
  let text = '';
  socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
  socket.on('error', () => {});
  // `once(socket, 'close')` would reject if the server resets the connection.
  const closed = new Promise((resolve) => void socket.on('close', resolve));
  await once(socket, 'connect');
  return {
    socket,
    text: () => text,
    ids: () => [...text.matchAll(/^x-request-id: (\S+)\r$/gim)].map(([, id = '']) => id),
    closed,
  };
}

const get = (id: string, path = '/api/v1/things') =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\nx-request-id: ${id}\r\n\r\n`;

function post(id: string, body: string, isChunked = false): string {
  const head = `POST /api/v1/things HTTP/1.1\r\nhost: x\r\nx-request-id: ${id}\r\ncontent-type: application/json\r\n`;
  return isChunked
    ? `${head}transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    : `${head}content-length: ${body.length}\r\n\r\n${body}`;
}

/** Requests without a body, with a content-length, chunked, with empty lines in the body, invalid, and for an unknown path. */
const KINDS = [
  (id: string) => get(id),
  (id: string) => post(id, `{"items":[{"name":"${id}"}]}`),
  (id: string) => post(id, `{"items":[{"name":"${id}"}]}`, true),
  (id: string) => post(id, `{\r\n\r\n\r\n\r\n"items":[{"name":"${id}"}]}`),
  (id: string) => post(id, '{"items":'),
  (id: string) => get(id, '/nothing'),
];

describe('requests that are pipelined', () => {
  it('get their responses in order, however they arrive', async () => {
    for (const [count, partBytes] of [
      [16, 1_000_000],
      [16, 1_000],
      [16, 37],
      [12, 1],
    ] as const) {
      const expected = Array.from({ length: count }, (_, index) => `r${index}`);
      const sent = expected.map((id, index) => KINDS[index % KINDS.length]!(id)).join('');
      const { socket, ids, text } = await open();
      socket.setNoDelay();
      for (let at = 0; at < sent.length; at += partBytes) socket.write(sent.slice(at, at + partBytes));
      await waitFor('all responses', () => ids().length >= expected.length);
      expect(ids()).toEqual(expected);
      const names = [...text().matchAll(/"items":\[\{"name":"(r\d+)"/g)].map(([, name]) => name);
      expect(names).toEqual(expected.filter((_id, index) => [1, 2, 3].includes(index % KINDS.length)));
      socket.destroy();
    }
  });

  it('wait for the response to the previous request', async () => {
    const { socket, ids } = await open();
    socket.write(get('held', '/api/v1/things/never') + get('behind'));
    const other = await open();
    other.socket.write(get('elsewhere'));
    await waitFor('another connection to be served', () => other.ids().length === 1);
    expect(ids()).toEqual([]);
  });

  it('close their connection if there are too many', async () => {
    const { socket, ids, closed } = await open();
    socket.write(get('held', '/api/v1/things/never') + get('behind').repeat(LIMITS.pipelinedRequests));
    await closed;
    expect(ids()).toEqual([]);
  });
});

describe('a body that is refused', () => {
  const bodyOf = (megabytes: number) => 'x'.repeat(megabytes * 1024 * 1024);

  it.each([5, 7])(
    'of %i MB: the client reads its 413, and the connection stays usable',
    async (megabytes) => {
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const response = await fetch(new URL('/api/v1/things', url), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: bodyOf(megabytes),
        });
        expect(response.status).toBe(413);
        expect(await response.json()).toMatchObject({ code: 'body_too_large' });
      }
      for (const isChunked of [false, true]) {
        const { socket, ids, text } = await open();
        socket.write(post('large', bodyOf(megabytes), isChunked) + get('next'));
        await waitFor('both responses', () => ids().length === 2);
        expect(text()).toMatch(/^HTTP\/1\.1 413 .*HTTP\/1\.1 200 /s);
      }
    },
  );
});

describe('a request that Node handles itself by default', () => {
  it('needs no Host in HTTP/1.0, and may expect 100-continue', async () => {
    const old = await open();
    old.socket.write('GET /api/v1/things HTTP/1.0\r\n\r\n');
    await old.closed;
    expect(old.text()).toMatch(/^HTTP\/1\.1 200 /);
    const { socket, text } = await open();
    const [head = '', body = ''] = post('expecting', '{"items":[{"name":"a"}]}').split('\r\n\r\n');
    socket.write(`${head}\r\nexpect: 100-continue\r\n\r\n`);
    await waitFor('a 100', () => text().startsWith('HTTP/1.1 100 '));
    socket.write(body);
    await waitFor('a 201', () => text().includes('HTTP/1.1 201 '));
  });

  it('for an upgrade is served as an ordinary request, and so is the next one', async () => {
    const { socket, ids } = await open();
    const upgrade = 'host: x\r\nconnection: upgrade\r\nupgrade: websocket';
    for (const id of ['first', 'second']) {
      socket.write(get(id).replace('host: x', upgrade));
      await waitFor('its response', () => ids().at(-1) === id);
    }
  });
});
