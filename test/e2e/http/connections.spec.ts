import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { HTTP_LIMITS, type HttpLimits } from '../../../src/platform/http/http-limits.js';
import { inTime, measureUntil } from '../../faults/support/promise.js';
import { waitFor } from '../../setup/wait-for.js';
import { startHttpFixture } from './http-fixture.js';

/** Serves with these limits while the tests of the block run. */
function useServer(limits: HttpLimits) {
  type Fixture = Awaited<ReturnType<typeof startHttpFixture>>;
  let own: Fixture;
  let current: Fixture;
  const sockets: Socket[] = [];
  const disconnect = () => {
    for (const socket of sockets.splice(0)) socket.destroy();
  };
  beforeAll(async () => {
    current = own = await startHttpFixture(limits);
  });
  afterEach(disconnect);
  afterAll(() => own.app.close());
  return {
    url: () => current.url,
    /** Opens a connection, which ends with the test. */
    connect: async (): Promise<Socket> => {
      const { port, hostname } = new URL(current.url);
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.on('error', () => {});
      await once(socket, 'connect');
      return socket;
    },
    /** Serves with other limits until `close`. */
    replace: async (others: HttpLimits) => {
      const { app } = (current = await startHttpFixture(others));
      const close = async () => {
        disconnect();
        await app.close();
        current = own;
      };
      return { app, close };
    },
  };
}

describe('limits', () => {
  const LIMITS = {
    ...HTTP_LIMITS,
    headersMs: 400,
    requestMs: 900,
    checkMs: 50,
    idleMs: 1_500,
    connections: 4,
  };
  /** The tolerance of measured times: far shorter than the default timeouts in HTTP_LIMITS, so that a test fails if LIMITS do not apply. */
  const TOLERANCE_MS = 1_500;
  const HEAD = 'POST /api/v1/things HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

  const server = useServer(LIMITS);

  interface Ended {
    readonly response: string;
    readonly afterMs: number;
  }

  /** Sends `text` at once, then `drip` byte by byte, and waits until the server closes the connection. */
  async function sendAndWait(text: string, drip = ''): Promise<Ended> {
    const startedAt = performance.now();
    const socket = await server.connect();
    let response = '';
    socket.on('data', (chunk) => (response += chunk.toString()));
    const closed = once(socket, 'close');
    let isOpen = true;
    void closed.then(() => (isOpen = false));
    socket.write(text);
    for (const byte of drip) {
      if (!isOpen) break;
      socket.write(byte);
      await sleep(20);
    }
    await closed;
    return { response, afterMs: performance.now() - startedAt };
  }

  const sendAndWaitWithin = (mostMs: number, text: string, drip?: string): Promise<Ended> =>
    measureUntil(
      ({ afterMs }) => afterMs < mostMs,
      () => sendAndWait(text, drip),
    );

  describe('a connection is ended', () => {
    it('when the headers drip in', async () => {
      const { response, afterMs } = await sendAndWaitWithin(
        LIMITS.headersMs + TOLERANCE_MS,
        HEAD,
        `x-dripped: ${'x'.repeat(5_000)}`,
      );
      expect(response).toMatch(/^HTTP\/1\.1 408 /);
      expect(response).toContain('"code":"request_timeout"');
      expect(response.toLowerCase()).toContain('x-content-type-options: nosniff');
      expect(afterMs).toBeGreaterThanOrEqual(LIMITS.headersMs - LIMITS.checkMs);
      expect(afterMs).toBeLessThan(inTime(LIMITS.headersMs + TOLERANCE_MS));
    });

    it('when the body drips in', async () => {
      const { response, afterMs } = await sendAndWaitWithin(
        LIMITS.requestMs + TOLERANCE_MS,
        `${HEAD}content-length: 5000\r\n\r\n`,
        ' '.repeat(5_000),
      );
      expect(response).toMatch(/^HTTP\/1\.1 408 /);
      expect(afterMs).toBeGreaterThanOrEqual(LIMITS.requestMs - LIMITS.checkMs);
      expect(afterMs).toBeLessThan(inTime(LIMITS.requestMs + TOLERANCE_MS));
    });

    it('when no byte arrives', async () => {
      const { afterMs } = await sendAndWaitWithin(LIMITS.headersMs + TOLERANCE_MS, '');
      expect(afterMs).toBeLessThan(inTime(LIMITS.headersMs + TOLERANCE_MS));
    });

    it('when no byte is sent or received for longer than any response takes', async () => {
      const { response, afterMs } = await sendAndWaitWithin(
        LIMITS.idleMs + TOLERANCE_MS,
        'GET /api/v1/things/never HTTP/1.1\r\nhost: x\r\n\r\n',
      );
      expect(response).toBe('');
      expect(afterMs).toBeGreaterThan(LIMITS.requestMs);
      expect(afterMs).toBeLessThan(inTime(LIMITS.idleMs + TOLERANCE_MS));
    });

    it('at once when there are too many', async () => {
      const patient = { headersMs: 20_000, requestMs: 20_000, idleMs: 60_000 };
      const other = await server.replace({ ...LIMITS, ...patient });
      for (let i = 0; i < LIMITS.connections; i++) await server.connect();
      const { response, afterMs } = await sendAndWaitWithin(LIMITS.headersMs, '');
      expect(response).toBe('');
      expect(afterMs).toBeLessThan(inTime(LIMITS.headersMs));
      await other.close();
    });
  });

  describe('a file', () => {
    const upload = (path: string) =>
      `POST /api/v1/things${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: text/csv\r\ncontent-length: 100\r\n\r\n`;

    it('may take longer than other bodies, where a route takes files', async () => {
      // A busy machine may pause for longer than `idleMs` between two bytes.
      const other = await server.replace({ ...LIMITS, idleMs: 60_000 });
      const { response, afterMs } = await sendAndWait(upload('/file'), 'x'.repeat(100));
      expect(response).toContain('{"bytes":100}');
      expect(afterMs).toBeGreaterThan(LIMITS.requestMs + LIMITS.checkMs);
      await other.close();
    });

    it('is refused where a route takes none', async () => {
      const { response } = await sendAndWait(upload(''), 'x'.repeat(100));
      expect(response).toContain('"code":"unsupported_media_type"');
    });

    it('is ended when no byte of it arrives', async () => {
      const { response, afterMs } = await sendAndWait(upload('/file'));
      expect(response).toBe('');
      expect(afterMs).toBeGreaterThan(LIMITS.requestMs);
    });
  });
});

describe('pipelining and other raw requests', () => {
  const LIMITS = { ...HTTP_LIMITS, checkMs: 50, idleMs: 20_000, pipeliningConnections: 3 };
  const TOLERANCE_MS = 3_000;

  const server = useServer(LIMITS);

  interface Connection {
    readonly socket: Socket;
    text(): string;
    ids(): string[];
    readonly closed: Promise<unknown>;
  }

  async function open(): Promise<Connection> {
    const socket = await server.connect();
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
    // `once(socket, 'close')` would reject if the server resets the connection.
    const closed = new Promise((resolve) => void socket.on('close', resolve));
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
        [300, 1_000_000],
        [300, 1_000],
        [300, 37],
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

    it('get no response after one that closes the connection', async () => {
      const { socket, ids, closed } = await open();
      socket.write(get('last').replace('host: x', 'host: x\r\nconnection: close') + get('behind'));
      await closed;
      expect(ids()).toEqual(['last']);
    });

    it('close their connection if too many connections have waiting requests', async () => {
      const open3 = await Promise.all(Array.from({ length: 3 }, open));
      for (const { socket } of open3) socket.write(get('held', '/api/v1/things/never') + get('behind'));
      const single = await open();
      single.socket.write(get('alone'));
      await waitFor('a connection without waiting requests to be served', () => single.ids().length === 1);
      const fourth = await open();
      fourth.socket.write(get('held', '/api/v1/things/never') + get('behind'));
      await fourth.closed;
      expect(open3.filter(({ socket }) => socket.destroyed)).toEqual([]);
    });

    it('end with their connection if the client reads nothing', async () => {
      const idleMs = 1_500;
      const other = await server.replace({ ...LIMITS, idleMs });
      const { socket, closed } = await open();
      socket.pause();
      socket.write(get('unread', '/metrics').repeat(2_000));
      const isOpen = () => !socket.destroyed && socket.readyState === 'open';
      const beganAt = performance.now();
      await waitFor(
        'the service to close the connection',
        async () => (await openConnections(other.app)) === 0,
      );
      expect(performance.now() - beganAt).toBeLessThan(inTime(idleMs + 15_000 + TOLERANCE_MS));
      expect(isOpen()).toBe(true);
      socket.destroy();
      await closed;
      await other.close();
    });
  });

  const openConnections = (of: NestFastifyApplication) =>
    new Promise<number>((resolve, reject) => {
      const { server } = of.getHttpAdapter().getInstance();
      server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });

  describe('a body that is refused', () => {
    const bodyOf = (megabytes: number) => 'x'.repeat(megabytes * 1024 * 1024);

    it.each([5, 7])(
      'of %i MB: the client reads its 413, and the connection stays usable',
      async (megabytes) => {
        for (let attempt = 0; attempt < 5; attempt += 1) {
          const response = await fetch(`${server.url()}/api/v1/things`, {
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

    it('of more than is discarded: the connection is closed', async () => {
      const { socket, ids, text, closed } = await open();
      socket.write(post('large', bodyOf(20)) + get('next'));
      await closed;
      // A reset of the connection may discard a response that the client has not read.
      if (text() !== '') expect(ids()).toEqual(['large']);
      expect(text()).not.toContain('200 OK');
    });

    it('that stops arriving after its response: the connection is closed without a second response', async () => {
      const other = await server.replace({ ...LIMITS, headersMs: 300, requestMs: 500 });
      const { socket, ids, closed } = await open();
      socket.write(post('large', bodyOf(1)).slice(0, 1_000));
      await closed;
      expect(ids()).toEqual(['large']);
      await other.close();
    });
  });

  describe('a request that Node handles itself by default', () => {
    it.each([
      ['no Host', 'GET /api/v1/things HTTP/1.1\r\n\r\n', 'Host'],
      ['two Hosts', 'GET /api/v1/things HTTP/1.1\r\nhost: x\r\nHOST: x\r\n\r\n', 'Host'],
      ...['Authorization', 'Content-Type', 'Idempotency-Key'].map((name) => [
        `two of ${name}`,
        `GET /api/v1/things HTTP/1.1\r\nhost: x\r\n${name}: x\r\n${name.toLowerCase()}: y\r\n\r\n`,
        name,
      ]),
      [
        'another transfer coding',
        'POST /api/v1/things/optional HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
        'Transfer-Encoding',
      ],
      ['an Expect', 'GET /api/v1/things HTTP/1.1\r\nhost: x\r\nexpect: 200-ok\r\n\r\n', 'Expect'],
    ])('with %s is a 400 that names the header', async (_, request, field) => {
      const { socket, text } = await open();
      socket.write(request);
      await waitFor('a response', () => text().endsWith('}'));
      expect(text()).toMatch(/^HTTP\/1\.1 400 /);
      expect(text()).toContain('content-type: application/problem+json');
      const problem = JSON.parse(text().slice(text().indexOf('\r\n\r\n'))) as object;
      expect(problem).toMatchObject({ code: 'invalid_request', errors: [{ field }] });
    });

    it('with CONNECT is a 400', async () => {
      const { socket, text, closed } = await open();
      socket.write('CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n' + get('behind'));
      socket.on('end', () => socket.end());
      await closed;
      expect(text()).toMatch(/^HTTP\/1\.1 400 /);
      expect(text()).toContain('"code":"invalid_request"');
    });

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
      socket.write(get('first').replace('host: x', upgrade) + get('second'));
      await waitFor('both responses', () => ids().length === 2);
    });
  });
});
