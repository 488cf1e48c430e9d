import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { HTTP_LIMITS } from '../../../src/platform/http/http-limits.js';
import { inTime, measureUntil } from '../../faults/support/promise.js';
import { startHttpFixture } from './http-fixture.js';

const LIMITS = { ...HTTP_LIMITS, headersMs: 400, requestMs: 900, checkMs: 50, idleMs: 1_500, connections: 4 };
/** The tolerance of measured times: far shorter than the default timeouts in HTTP_LIMITS, so that a test fails if LIMITS do not apply. */
const TOLERANCE_MS = 1_500;
const HEAD = 'POST /api/v1/things HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

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

interface Ended {
  readonly response: string;
  readonly afterMs: number;
}

/** Sends `text` at once, then `drip` byte by byte, and waits until the server closes the connection. */
async function sendAndWait(text: string, drip = ''): Promise<Ended> {
  const startedAt = performance.now();
  const socket = connect(Number(url.port), url.hostname);
  sockets.push(socket);
  let response = '';
  socket.on('data', (chunk) => (response += chunk.toString()));
  socket.on('error', () => {});
  await once(socket, 'connect');
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
    const fixture = await startHttpFixture({ ...LIMITS, ...patient });
    url = new URL(fixture.url);
    for (let i = 0; i < LIMITS.connections; i++) {
      const socket = connect(Number(url.port), url.hostname);
      sockets.push(socket);
      await once(socket, 'connect');
    }
    const { response, afterMs } = await sendAndWaitWithin(LIMITS.headersMs, '');
    expect(response).toBe('');
    expect(afterMs).toBeLessThan(inTime(LIMITS.headersMs));
    for (const socket of sockets.splice(0)) socket.destroy();
    await fixture.app.close();
    url = new URL(await app.getUrl());
  });
});

describe('a file', () => {
  const upload = (path: string) =>
    `POST /api/v1/things${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: text/csv\r\ncontent-length: 100\r\n\r\n`;

  it('may take longer than other bodies, where a route takes files', async () => {
    const { response, afterMs } = await sendAndWait(upload('/file'), 'x'.repeat(100));
    expect(response).toContain('{"bytes":100}');
    expect(afterMs).toBeGreaterThan(LIMITS.requestMs + LIMITS.checkMs);
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
