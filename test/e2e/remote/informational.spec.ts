import type { Socket } from 'node:net';
import { inTime, measureUntil } from '../../faults/support/promise.js';
import { describe, expect, it } from '@jest/globals';
import { Environment } from '../../../src/platform/env/environment.js';
import { WebhookSender } from '../../../src/events/webhooks/send/sender.service.js';
import { readSession, registerUser, reply, startRawServer, startRemote } from './fixture.js';
import type { RawServer } from './fixture.js';
import { closeAfterEach } from '../../setup/close-after-each.js';

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

const closing = closeAfterEach();
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

describe('an informational response', () => {
  it('is skipped even if it arrives byte by byte', async () => {
    const whole = Buffer.concat([Buffer.from(CONTINUE + HINTS), reply(200, '{}')]);
    const server = await serve((socket) => void drip(socket, whole));
    expect(await remoteOf(server).send(readSession)).toMatchObject({ response: { status: 200, body: '{}' } });
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
