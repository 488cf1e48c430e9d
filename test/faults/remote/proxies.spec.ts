import { randomUUID } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { RemoteRequest, Sent } from '../../../src/remote/outcome.rules.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { Exchange } from '../../../src/remote/wire/exchange.js';
import {
  type RawServer,
  registerUser,
  remoteEnvironment,
  reply,
  startRawServer,
} from '../../e2e/remote/fixture.js';
import {
  type OutboundProxy,
  startOutboundProxy,
  withCredentials,
} from '../../setup/receivers/outbound-proxy.js';
import { listen } from '../../setup/receivers/servers.js';
import { isLong, itAtLength, promise } from '../support/promise.js';

jest.setTimeout(600_000);

const DIRECTIONS = ['to the proxy', 'from the proxy'] as const;
type Direction = (typeof DIRECTIONS)[number];
/** At which bytes a connection is cut, besides the first and the last. */
const STEP = isLong ? 1 : 97;

let proxy: OutboundProxy;
let service: RawServer;
let relay: Awaited<ReturnType<typeof startRelay>>;

beforeAll(async () => {
  Logger.overrideLogger(false);
  proxy = await startOutboundProxy({ requiresUser: true });
  service = await startRawServer((socket) => socket.end(reply(200, '{"id":"1"}', { connection: 'close' })));
  relay = await startRelay(proxy.port);
});
afterEach(() => void jest.restoreAllMocks());
afterAll(async () => {
  relay.close();
  await Promise.all([proxy.close(), service.close()]);
});

/** Starts a relay to the proxy that resets a connection after so many bytes in one direction. */
async function startRelay(target: number) {
  const state = { cut: { direction: DIRECTIONS[0] as Direction, after: Infinity }, passed: [0, 0] };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const { direction, after } = state.cut;
    const upstream = connect(target, '127.0.0.1');
    state.passed = [0, 0];
    const end = (): void => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    [client, upstream].forEach((from, index) => {
      sockets.add(from.on('error', () => {}));
      const to = from === client ? upstream : client;
      from.on('data', (chunk: Buffer) => {
        const left = direction === DIRECTIONS[index] ? after - state.passed[index]! : Infinity;
        state.passed[index]! += chunk.length;
        to.write(chunk.subarray(0, left));
        // The bytes before the cut reach the other end first.
        if (chunk.length >= left) setTimeout(end, 5);
      });
      from.on('end', () => to.end());
      from.on('close', () => sockets.delete(from));
    });
  });
  return {
    port: await listen(server),
    state,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Sends a registration through the relay. Returns its outcome, and how many requests the service received. */
async function send(direction: Direction, after: number): Promise<{ sent: Sent; effects: number }> {
  relay.state.cut = { direction, after };
  const remote = new Remote(
    remoteEnvironment({
      SCS_BASE_URL: service.url.replace('127.0.0.1', 'scs.test'),
      HTTP_PROXY: withCredentials(relay),
      SCS_TIMEOUT_MS: 5_000,
    }),
  );
  const tenantReference = randomUUID();
  const request: RemoteRequest = { ...registerUser, body: JSON.stringify({ tenantReference }) };
  const sent = await remote.send(request);
  await remote.onApplicationShutdown();
  // The proxy delivers what it has before it closes the other side of a tunnel.
  await new Promise((resolve) => setTimeout(resolve, 10));
  return { sent, effects: service.requests.filter(({ body }) => body.includes(tenantReference)).length };
}

/** Cuts the connection to the proxy at each byte. Returns the outcomes that are wrong, and how many cuts were made. */
async function cutEverywhere(directions: readonly Direction[] = DIRECTIONS) {
  await send('to the proxy', Infinity);
  const lengths = relay.state.passed;
  const wrong: string[] = [];
  let cuts = 0;
  for (const direction of directions) {
    const length = lengths[DIRECTIONS.indexOf(direction)]!;
    const bytes = Array.from({ length }, (_, index) => index + 1).filter(
      (byte) => byte <= 2 || byte >= length - 1 || byte % STEP === 0,
    );
    for (const byte of bytes) {
      const { sent, effects } = await send(direction, byte);
      cuts++;
      const isWrong =
        effects > 1 ||
        (sent.kind === 'not_sent' && effects > 0) ||
        (sent.kind === 'response' && effects !== 1);
      if (isWrong) wrong.push(`${direction}, byte ${byte}: ${sent.kind}, ${effects} effects`);
    }
  }
  return { wrong, cuts };
}

describe('R85: a proxy changes no outcome', () => {
  it('that dies at each byte: what was not sent had no effect, and nothing is sent twice', async () => {
    const { wrong, cuts } = await cutEverywhere();
    promise('R85', {
      figure: `${cuts} cuts of the connection to an authenticating proxy: ${wrong.length} wrong outcomes`,
      bound: '0',
    });
    expect(wrong).toEqual([]);
  });

  it('that dies before it has opened the tunnel: nothing was sent', async () => {
    for (const [direction, after] of [
      ['to the proxy', 1],
      ['from the proxy', 1],
      ['from the proxy', 10],
    ] as const) {
      const { sent, effects } = await send(direction, after);
      expect({ sent, effects }).toMatchObject({
        sent: { kind: 'not_sent', reason: 'proxy_fails' },
        effects: 0,
      });
    }
  });

  itAtLength('turns red when a broken tunnel counts as not sent', async () => {
    const onError = Reflect.get(Exchange.prototype, 'onError');
    jest.spyOn(Exchange.prototype, 'onError').mockImplementation(function (this: Exchange, error: Error) {
      Object.assign(this, { abort: undefined });
      onError.call(this, error);
    });
    expect((await cutEverywhere(['from the proxy'])).wrong).not.toEqual([]);
  });
});
