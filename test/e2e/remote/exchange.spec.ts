import type { Socket } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import axios from 'axios';
import type { Environment } from '../../../src/platform/env/environment.js';
import { PassedExchange } from '../../../src/pass-through/passed-exchange.js';
import type { PassedCall } from '../../../src/remote/outcome.rules.js';
import { outcomeOf } from '../../../src/remote/wire/read-response.js';
import { readObject } from '../../../src/remote/wire/read-field.js';
import type { Remote } from '../../../src/remote/remote.service.js';
import { inTime, itAtLength, measureUntil, promise } from '../../faults/support/promise.js';
import { waitFor } from '../../setup/wait-for.js';
import {
  CREDENTIALS,
  type RawRequest,
  type RawServer,
  readSession,
  registerUser,
  reply,
  startRawServer,
  startRemote,
  startSession,
} from './fixture.js';
import { closeAfterEach } from '../../setup/close-after-each.js';

const closing = closeAfterEach();

async function serve(
  respond: (socket: Socket, request: RawRequest) => void,
  overrides: Partial<Environment> = {},
): Promise<{ server: RawServer; remote: Remote }> {
  const server = await startRawServer(respond);
  const remote = startRemote({ SCS_BASE_URL: server.url, ...overrides });
  closing.push(server.close, () => remote.onApplicationShutdown());
  return { server, remote };
}

describe('sending a request', () => {
  it('adds the ApiKey, accepts JSON but no compression, and prepends the path of SCS_BASE_URL', async () => {
    const { server, remote } = await serve((socket) => socket.write(reply(200, '{}')));
    const prefixed = startRemote({ SCS_BASE_URL: `${server.url}/gateway/` });
    closing.push(() => prefixed.onApplicationShutdown());

    await remote.send({ ...readSession, headers: { authorization: 'Bearer t' } });
    await prefixed.send(readSession);

    expect(server.requests[0]).toMatchObject({
      method: 'GET',
      path: readSession.path,
      headers: {
        apikey: CREDENTIALS.SCS_API_KEY,
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'pv-onboarding',
        authorization: 'Bearer t',
      },
    });
    expect(server.requests[1]!.path).toBe(`/gateway${readSession.path}`);
  });

  it('resolves the name of the service once for connections that are opened together', async () => {
    const { server } = await serve((socket) => socket.write(reply(200, '{}')));
    const remote = startRemote({ SCS_BASE_URL: server.url.replace('127.0.0.1', 'localhost') });
    closing.push(() => remote.onApplicationShutdown());
    const looked: string[] = [];
    const observer = new PerformanceObserver((list) =>
      looked.push(...list.getEntriesByName('lookup').map(({ name }) => name)),
    );
    observer.observe({ entryTypes: ['dns'] });
    closing.push(() => observer.disconnect());
    await Promise.all(Array.from({ length: 4 }, () => remote.send(readSession)));
    expect(server.requests).toHaveLength(4);
    await waitFor('Node reports the look-up', () => looked.length > 0);
    expect(looked).toHaveLength(1);
  });

  it('sends a body byte for byte, and no content-type without one', async () => {
    const { server, remote } = await serve((socket) => socket.write(reply(200, '{}')));
    await remote.send(registerUser);
    await remote.send(startSession);
    expect(server.requests[0]).toMatchObject({
      body: registerUser.body,
      headers: { 'content-type': 'application/json' },
    });
    expect(server.requests[1]!.headers).not.toHaveProperty('content-type');
    expect(server.requests[1]!.headers['content-length']).toBe('0');
  });

  it('ignores the proxies of the environment', async () => {
    const proxy = await startRawServer((socket) => socket.write(reply(200, '{"proxied":true}')));
    closing.push(proxy.close);
    const before = { ...process.env };
    Object.assign(process.env, {
      http_proxy: proxy.url,
      HTTP_PROXY: proxy.url,
      all_proxy: proxy.url,
      no_proxy: '',
    });
    closing.push(() => void (process.env = before));
    const { remote } = await serve((socket) => socket.write(reply(200, '{}')));
    await remote.send(readSession);
    expect(proxy.requests).toHaveLength(0);
  });
});

describe('reading a response', () => {
  it('reads no more than the size limit and closes the connection', async () => {
    const { server, remote } = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
      const block = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`);
      const pump = () => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on('drain', pump);
      pump();
    });
    const sent = await remote.send(readSession);
    expect(outcomeOf(sent, (response) => readObject(response.body))).toEqual({
      kind: 'unreadable',
      status: 200,
      reason: 'the response is larger than 1048576 bytes',
    });
    await waitFor('the connection to be closed', () => server.open() === 0);
  });

  it.each([
    [1_048_576, true],
    [1_048_577, false],
  ])('with a body of %d bytes is read: %s', async (bytes, isRead) => {
    const { remote } = await serve((socket) => socket.write(reply(200, '{}'.padEnd(bytes))));
    const { kind } = outcomeOf(await remote.send(readSession), (response) => readObject(response.body));
    expect(kind).toBe(isRead ? 'done' : 'unreadable');
  });
});

describe('R28: a redirect gets no credentials', () => {
  const elsewhere = async () => {
    const other = await startRawServer((socket) => socket.write(reply(200, '{}')));
    closing.push(other.close);
    return other;
  };

  it.each([301, 302, 303, 307, 308])('does not follow a %i', async (status) => {
    const other = await elsewhere();
    const { server, remote } = await serve((socket) =>
      socket.write(reply(status, '', { location: `${other.url}/x` })),
    );
    for (const request of [readSession, registerUser]) {
      expect(outcomeOf(await remote.send(request), () => 'read')).toMatchObject({ kind: 'ambiguous' });
    }
    expect(server.requests).toHaveLength(2);
    promise('R28', { figure: `${other.requests.length} requests elsewhere after each status`, bound: '0' });
    expect(other.requests).toHaveLength(0);
  });

  itAtLength('turns red with default redirects', async () => {
    const other = await elsewhere();
    const server = await startRawServer((socket) =>
      socket.write(reply(302, '', { location: `${other.url}/x` })),
    );
    closing.push(server.close);
    await axios.get(server.url, { headers: { ApiKey: CREDENTIALS.SCS_API_KEY } });
    expect(other.requests[0]!.headers.apikey).toBe(CREDENTIALS.SCS_API_KEY);
  });
});

const ENDLESS: Record<string, (socket: Socket) => void> = {
  'no response at all': () => {},
  'headers that drip': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    drip(socket, 'x-more: 1\r\n');
  },
  'a body that drips': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n');
    drip(socket, ' ');
  },
  'a body that stalls': (socket) =>
    void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":'),
  'endless informational responses': (socket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
};

function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 50);
  socket.on('close', () => clearInterval(timer));
}

describe('R22: every remote call ends', () => {
  const T = { SCS_TIMEOUT_MS: 1_000 };
  const BOUND_MS = 1_200;
  let longestMs = 0;

  const elapsed = (work: () => Promise<unknown>): Promise<number> =>
    measureUntil(
      (tookMs) => tookMs < BOUND_MS,
      async () => {
        const startedAt = performance.now();
        await work();
        return performance.now() - startedAt;
      },
    );

  afterAll(() =>
    promise('R22', {
      figure: `${Math.round(longestMs)} ms at most with ${Object.keys(ENDLESS).length} responses that never end`,
      bound: `${BOUND_MS} ms`,
    }),
  );

  it.each(Object.entries(ENDLESS))(
    'ends within its deadline and frees the connection: %s',
    async (_, respond) => {
      const { server, remote } = await serve(respond, T);
      const tookMs = await elapsed(async () =>
        expect(await Promise.all([remote.send(readSession), remote.send(registerUser)])).toEqual([
          { kind: 'ambiguous', reason: expect.stringContaining('no response within') },
          { kind: 'ambiguous', reason: expect.stringContaining('no response within') },
        ]),
      );
      longestMs = Math.max(longestMs, tookMs);
      expect(tookMs).toBeGreaterThan(950);
      expect(tookMs).toBeLessThan(inTime(BOUND_MS));
      await waitFor('the connections to be closed', () => server.open() === 0);
    },
  );

  it('ends within its deadline and frees the socket: no connection is accepted', async () => {
    // TEST-NET-1 (RFC 5737) is not routed: a connection attempt gets no response or, on some machines, fails at once.
    const remote = startRemote({ SCS_BASE_URL: 'http://192.0.2.1:81', ...T });
    closing.push(() => remote.onApplicationShutdown());
    const tookMs = await elapsed(async () =>
      expect(await remote.send(registerUser)).toEqual({ kind: 'not_sent', reason: 'unreachable' }),
    );
    expect(tookMs).toBeLessThan(inTime(BOUND_MS));
    await waitFor('the socket to go', () => !process.getActiveResourcesInfo().includes('TCPConnectWrap'));
  });

  itAtLength('turns red with an idle timeout', async () => {
    const { server } = await serve(ENDLESS['a body that drips']!);
    const controller = new AbortController();
    closing.push(() => controller.abort());
    const isOver = await measureUntil(
      (over) => !over,
      () => {
        const ended = axios
          .get(server.url, { timeout: 1_000, signal: controller.signal })
          .catch(() => {})
          .then(() => true);
        return Promise.race([ended, sleep(BOUND_MS, false)]);
      },
    );
    expect(isOver).toBe(false);
  });
});

describe('a call', () => {
  it('is not sent if the connection is refused', async () => {
    const server = await startRawServer(() => {});
    await server.close();
    const remote = startRemote({ SCS_BASE_URL: server.url });
    closing.push(() => remote.onApplicationShutdown());
    expect(await remote.send(registerUser)).toEqual({ kind: 'not_sent', reason: 'unreachable' });
    expect(remote.status().operations.register_user).toMatchObject({
      health: 'degraded',
      lastError: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('is not sent if the host is unknown', async () => {
    for (const url of ['http://no-such-host.invalid', 'https://no-such-host.invalid']) {
      const remote = startRemote({ SCS_BASE_URL: url });
      closing.push(() => remote.onApplicationShutdown());
      expect(await remote.send(registerUser)).toEqual({ kind: 'not_sent', reason: 'unreachable' });
    }
  });

  it.each<[string, (socket: Socket) => void]>([
    ['reset', (socket) => void socket.resetAndDestroy()],
    ['closed', (socket) => void socket.end()],
    ['closed within the headers', (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-')],
    [
      'closed within the body of a 200',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"id":'),
    ],
    [
      'reset within a chunked 200',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"id"\r\n', () =>
          socket.resetAndDestroy(),
        );
      },
    ],
    [
      'ended with an invalid chunk',
      (socket) => {
        socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"id"\r\nzz\r\n');
      },
    ],
    ['used for another protocol', (socket) => void socket.end('220 mail.example ESMTP\r\n')],
  ])(
    'is ambiguous and sent once if it is a POST, three times if it is a read: connection %s',
    async (_, respond) => {
      const { server, remote } = await serve(respond);
      expect(await remote.send(registerUser)).toMatchObject({ kind: 'ambiguous' });
      expect(server.requests).toHaveLength(1);
      expect(await remote.send(readSession)).toMatchObject({ kind: 'ambiguous' });
      expect(server.requests).toHaveLength(4);
    },
  );

  const CREATED = '{"id":"ä"}';
  const GZIPPED = gzipSync(CREATED);
  const head = (headers: string) => `HTTP/1.1 201 Created\r\n${headers}\r\n\r\n`;
  const chunk = `${Buffer.byteLength(CREATED).toString(16)}\r\n${CREATED}\r\n`;

  it.each<[string, (socket: Socket) => void]>([
    ['has 17 kB of headers', (socket) => socket.write(reply(201, CREATED, { x: 'y'.repeat(17_000) }))],
    ['has 60 kB of headers', (socket) => socket.write(reply(201, CREATED, { x: 'y'.repeat(60_000) }))],
    ...Object.entries<[body: string | Buffer, encoding: string]>({
      'is gzipped unasked': [GZIPPED, 'gzip'],
      'is gzipped under another name': [GZIPPED, 'x-gzip'],
      'is gzipped under two names': [GZIPPED, 'identity, gzip'],
      'is gzipped twice': [gzipSync(GZIPPED), 'gzip, gzip'],
      'is gzipped without a word': [GZIPPED, ''],
      'is gzipped, and lacks its checksum': [GZIPPED.subarray(0, -8), 'gzip'],
      'is said to be gzipped': [CREATED, 'gzip'],
      'has the name of a charset as its content-encoding': [CREATED, 'utf-8'],
      'has no content-encoding that exists': [CREATED, 'none'],
      'is deflated unasked': [deflateSync(CREATED), 'Deflate'],
      'is deflated without a header': [deflateRawSync(CREATED), 'deflate'],
      'is in brotli unasked': [brotliCompressSync(CREATED), 'br'],
      'has an empty content-encoding': [CREATED, ''],
    }).map(([what, [body, encoding]]): [string, (socket: Socket) => void] => [
      what,
      (socket) => socket.write(reply(201, body, { 'content-encoding': encoding })),
    ]),
    ['lacks its last chunk', (socket) => socket.end(head('transfer-encoding: chunked') + chunk)],
    ['is shorter than its length', (socket) => socket.end(head('content-length: 100') + CREATED)],
    [
      'never ends, although its body is whole',
      (socket) => socket.write(head('transfer-encoding: chunked') + chunk),
    ],
    ['is followed by bytes of nobody', (socket) => socket.write(`${reply(201, CREATED).toString()}\r\nx`)],
  ])('has an outcome if its response %s', async (_, respond) => {
    const server = await startRawServer((socket) => void respond(socket));
    const remote = startRemote({ SCS_BASE_URL: server.url, SCS_TIMEOUT_MS: 1_000 });
    closing.push(server.close, () => remote.onApplicationShutdown());
    const response = { status: 201, body: CREATED };
    expect(await remote.send(registerUser)).toEqual({ kind: 'response', response });
    expect(await remote.send(readSession)).toEqual({ kind: 'response', response });
    expect(server.requests).toHaveLength(2);
  });

  it.each<[what: string, passed: PassedCall | undefined]>([
    ['a call of ours', undefined],
    ['a passed call', { open: (limits) => new PassedExchange(undefined, () => {}, limits) }],
  ])(
    'has an outcome if its response has arrived while the process was stopped for longer than the timeout: %s',
    async (_, passed) => {
      const { remote } = await serve(
        (socket) => {
          socket.write(reply(201, CREATED));
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
        },
        { SCS_TIMEOUT_MS: 1_000 },
      );
      const request = passed === undefined ? registerUser : { ...startSession, passed };
      expect(await remote.send(request)).toMatchObject({ kind: 'response', response: { status: 201 } });
    },
  );

  it('is ambiguous, and says why, if its response has more than 64 kB of headers', async () => {
    const { remote } = await serve((socket) => socket.write(reply(201, CREATED, { x: 'y'.repeat(70_000) })));
    const reason = 'the headers of the response are larger than 65536 bytes';
    expect(await remote.send(registerUser)).toEqual({ kind: 'ambiguous', reason });
    expect(await remote.send(readSession)).toEqual({ kind: 'ambiguous', reason });
    expect(remote.status().operations.register_user.lastError).toBe(reason);
  });

  it('is never repeated if it is a POST on a connection that the server closed while it was idle', async () => {
    const { server, remote } = await serve((socket, request) => {
      if (request.method === 'GET' || request.connection === 1) socket.write(reply(200, '{}'));
      else socket.resetAndDestroy();
    });
    await remote.send(startSession);
    const second = await remote.send(startSession);
    const posts = server.requests.length;
    expect(second.kind === 'response' ? posts : 2).toBe(2);
    // The client closes an idle connection for POSTs after a second.
    await waitFor('the idle connection to be closed', () => server.open() === 0);
    expect(await remote.send(startSession)).toMatchObject({ kind: 'ambiguous' });
    expect(server.requests).toHaveLength(posts + 1);
  });

  it('gets a new connection if the process was stopped while the last one was idle, since the server may have closed it', async () => {
    const { server, remote } = await serve((socket) => socket.write(reply(201, CREATED)));
    await remote.send(startSession);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    expect(await remote.send(startSession)).toMatchObject({ kind: 'response' });
    expect(server.requests.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  it('ends early if its signal aborts: not_sent before it is sent, ambiguous after', async () => {
    const { server, remote } = await serve(() => {});
    const controller = new AbortController();
    const sent = remote.send({ ...registerUser, signal: controller.signal });
    await waitFor('the request to arrive', () => server.requests.length === 1);
    controller.abort();
    expect(await sent).toMatchObject({ kind: 'ambiguous' });
    expect(await remote.send({ ...registerUser, signal: controller.signal })).toEqual({
      kind: 'not_sent',
      reason: 'stopping',
    });
    await waitFor('the connection to be closed', () => server.open() === 0);
  });

  it('is not sent after the stop, and ends if it is in flight', async () => {
    const { server, remote } = await serve(() => {});
    const sent = remote.send(registerUser);
    await waitFor('the request to arrive', () => server.requests.length === 1);
    remote.onModuleDestroy();
    expect(await remote.send(readSession)).toEqual({ kind: 'not_sent', reason: 'stopping' });
    await remote.onApplicationShutdown();
    expect(await sent).toMatchObject({ kind: 'ambiguous' });
    expect(await remote.send(registerUser)).toEqual({ kind: 'not_sent', reason: 'stopping' });
  });
});
