import { get } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { lookAtNetwork } from '../../../src/cli/check-remote/look-at-network.js';
import { IdentityProvider } from '../../../src/console-access/identity-provider.client.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { proxiedAgent } from '../../../src/platform/http-client/proxied.js';
import type { Remote } from '../../../src/remote/remote.service.js';
import { withoutSecrets } from '../../../src/platform/redaction/secrets.js';
import { WebhookSender } from '../../../src/webhooks/send/sender.service.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { PROXY_USER, startOutboundProxy, withCredentials } from '../../setup/receivers/outbound-proxy.js';
import { startTraceCollector } from '../../setup/receivers/trace-collector.js';
import { listen } from '../../setup/receivers/servers.js';
import { CLIENT, startIdentityProvider } from '../../setup/oidc/identity-provider.js';
import { waitFor } from '../../setup/wait-for.js';
import {
  type RawServer,
  readSession,
  remoteEnvironment,
  registerUser,
  reply,
  startRawServer,
  startRemote,
} from './fixture.js';

const closing = closeAfterEach();

const OIDC_CLIENT = {
  CONSOLE_OIDC_CLIENT_ID: CLIENT.CLIENT_ID,
  CONSOLE_OIDC_CLIENT_SECRET: CLIENT.CLIENT_SECRET,
  CONSOLE_OIDC_GROUPS: 'leads=admin',
};

beforeAll(() => Logger.overrideLogger(false));

/** Starts a remote service and a client that reaches it by a name that only a proxy knows. */
async function serve(overrides: Partial<Environment>): Promise<{ server: RawServer; remote: Remote }> {
  const server = await startRawServer((socket) => socket.write(reply(200, '{}')));
  const SCS_BASE_URL = server.url.replace('127.0.0.1', 'scs.test');
  const remote = startRemote({ SCS_BASE_URL, SCS_TIMEOUT_MS: 5_000, ...overrides });
  closing.push(server.close, () => remote.onApplicationShutdown());
  return { server, remote };
}

async function proxy(options: { requiresUser?: boolean } = {}) {
  const started = await startOutboundProxy(options);
  closing.push(started.close);
  return started;
}

/** Starts a proxy that does what `respond` does with each CONNECT. */
async function rawProxy(respond: (socket: Socket, connect: string) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('data', (bytes) => respond(socket, bytes.toString()));
  });
  const port = await listen(server);
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}`, name: `127.0.0.1:${port}`, sockets };
}

/** Opens a tunnel whose other end responds to one request. */
function openTunnelTo(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\n\r\n');
  socket.once('data', () => socket.write(reply(200, '{}')));
}

describe('calls through an outbound proxy', () => {
  it('are sent in a tunnel, also to an http:// address, and resolve no name themselves', async () => {
    const { url, tunnels, plain } = await proxy();
    const { server, remote } = await serve({ HTTP_PROXY: url });
    expect(await remote.send(registerUser)).toMatchObject({ kind: 'response', response: { status: 200 } });
    expect(await remote.send(readSession)).toMatchObject({ kind: 'response', response: { status: 200 } });
    expect(tunnels).toEqual(Array(2).fill(`scs.test:${new URL(server.url).port}`));
    expect(plain).toEqual([]);
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: registerUser.path });
    expect(server.requests[0]!.headers).not.toHaveProperty('proxy-authorization');
    expect(remote.proxyFault).toBeNull();
  });

  it('reuse their tunnel', async () => {
    const { url, tunnels } = await proxy();
    const { server, remote } = await serve({ HTTP_PROXY: url });
    for (let nth = 0; nth < 3; nth++) await remote.send(readSession);
    expect(server.requests).toHaveLength(3);
    expect(tunnels).toHaveLength(1);
  });

  it('send the decoded credentials to the proxy alone', async () => {
    const started = await proxy({ requiresUser: true });
    const { server, remote } = await serve({ HTTP_PROXY: withCredentials(started) });
    expect(await remote.send(readSession)).toMatchObject({ kind: 'response', response: { status: 200 } });
    expect(JSON.stringify(server.requests)).not.toContain(PROXY_USER.password);
  });

  it('never go to the loopback through it', async () => {
    const { url, tunnels } = await proxy();
    const server = await startRawServer((socket) => socket.write(reply(200, '{}')));
    const remote = startRemote({ SCS_BASE_URL: server.url, HTTP_PROXY: url });
    closing.push(server.close, () => remote.onApplicationShutdown());
    await remote.send(readSession);
    expect(server.requests).toHaveLength(1);
    expect(tunnels).toEqual([]);
  });

  it('are `not_sent` if the proxy requires credentials, and name the proxy', async () => {
    const started = await proxy({ requiresUser: true });
    const name = `127.0.0.1:${started.port}`;
    const without = await serve({ HTTP_PROXY: started.url });
    const detail = `the proxy ${name} requires a user and a password (status 407)`;
    expect(await without.remote.send(registerUser)).toEqual({
      kind: 'not_sent',
      reason: 'proxy_fails',
      detail,
    });
    expect(without.remote.proxyFault).toBe(detail);
    const wrong = await serve({ HTTP_PROXY: `http://user:wrong-password@${name}` });
    expect(await wrong.remote.send(registerUser)).toEqual({
      kind: 'not_sent',
      reason: 'proxy_fails',
      detail: `the proxy ${name} rejects our credentials (status 407)`,
    });
    expect([...without.server.requests, ...wrong.server.requests]).toEqual([]);
  });

  it.each<[what: string, respond: (socket: Socket) => void, detail: RegExp, timeoutMs?: number]>([
    [
      'refuses',
      (socket) => socket.end(reply(403, 'no')),
      /refuses connections to scs\.test:\d+ \(status 403\)$/,
    ],
    [
      'redirects',
      (socket) => socket.end(reply(302, '')),
      /refuses connections to scs\.test:\d+ \(status 302\)$/,
    ],
    [
      'closes the connection',
      (socket) => socket.end(),
      /closes the connection without opening one to scs\.test:\d+$/,
    ],
    ['resets the connection', (socket) => socket.resetAndDestroy(), /cannot be reached: .*ECONNRESET/],
    [
      'sends something else',
      (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
      /cannot be reached: Response does not match the HTTP\/1\.1 protocol/,
    ],
    ['never responds', () => {}, /does not respond within 320 ms$/, 400],
  ])('are `not_sent` if the proxy %s', async (_, respond, detail, timeoutMs = 5_000) => {
    const { url, name, sockets } = await rawProxy(respond);
    const { server, remote } = await serve({ HTTP_PROXY: url, SCS_TIMEOUT_MS: timeoutMs });
    const sent = await remote.send(registerUser);
    expect(sent).toEqual({ kind: 'not_sent', reason: 'proxy_fails', detail: remote.proxyFault });
    expect(remote.proxyFault).toMatch(new RegExp(`^the proxy ${name} `));
    expect(remote.proxyFault).toMatch(detail);
    expect(server.requests).toEqual([]);
    await waitFor('the connections to close', () => [...sockets].every((socket) => socket.closed));
  });

  it('are `not_sent` if nothing listens there', async () => {
    const { remote } = await serve({ HTTP_PROXY: 'http://127.0.0.1:9' });
    expect(await remote.send(registerUser)).toEqual({
      kind: 'not_sent',
      reason: 'proxy_fails',
      detail: expect.stringMatching(/^the proxy 127\.0\.0\.1:9 cannot be reached: .*ECONNREFUSED/),
    });
  });

  it('do not blame the proxy if it cannot connect to the service', async () => {
    const { url } = await rawProxy((socket) => socket.end(reply(502, 'no route')));
    const { remote } = await serve({ HTTP_PROXY: url });
    expect(await remote.send(registerUser)).toEqual({ kind: 'not_sent', reason: 'unreachable' });
    expect(remote.proxyFault).toBeNull();
    expect(remote.status().operations.register_user.lastError).toMatch(
      /^the proxy 127\.0\.0\.1:\d+ cannot connect to scs\.test:\d+ \(status 502\)$/,
    );
  });

  it('log once that the proxy fails, and that it works again', async () => {
    const lines: string[] = [];
    Logger.overrideLogger({
      log: (text: string) => void lines.push(text),
      warn: () => {},
      error: (text: string) => void lines.push(text),
    });
    closing.push(() => Logger.overrideLogger(false));
    let isRefusing = true;
    const { url, name } = await rawProxy((socket) =>
      isRefusing ? socket.end(reply(403, '')) : openTunnelTo(socket),
    );
    const { remote } = await serve({ HTTP_PROXY: url });
    await remote.send(registerUser);
    await remote.send(registerUser);
    isRefusing = false;
    await remote.send(registerUser);
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^the remote service cannot be reached: the proxy ${name} refuses`)),
      'the proxy opens tunnels again, for the remote service',
    ]);
  });
});

describe('other outbound traffic through the proxy', () => {
  it('is that to the identity provider', async () => {
    const { url: HTTP_PROXY, tunnels } = await proxy();
    const provider = await startIdentityProvider({});
    closing.push(provider.stop);
    const issuer = provider.url.replace('127.0.0.1', 'idp.test');
    const environment = remoteEnvironment({ HTTP_PROXY, CONSOLE_OIDC_ISSUER: issuer, ...OIDC_CLIENT });
    // The provider names itself by its address, so its description is read, and refused.
    await expect(new IdentityProvider(environment).begin('http://here.example')).rejects.toThrow(/issuer/);
    expect(tunnels).toEqual([new URL(issuer).host]);
  });

  it.each([true, false])('is that to receivers of webhooks with WEBHOOKS_VIA_PROXY=%s', async (viaProxy) => {
    const { url: HTTP_PROXY, tunnels } = await proxy();
    const receiver = await startRawServer((socket) => socket.write(reply(200, '{}')));
    const sender = new WebhookSender(
      remoteEnvironment({ HTTP_PROXY, WEBHOOKS_VIA_PROXY: viaProxy, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true }),
    );
    closing.push(receiver.close, () => sender.onApplicationShutdown());
    sender.resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const url = receiver.url.replace('127.0.0.1', 'receiver.test');
    const message = { id: 'event', body: '{}', timestamp: new Date() };
    const sent = await sender.send({ url, headers: {}, secrets: ['whsec_c2VjcmV0'] }, message);
    expect([sent.kind, tunnels]).toEqual(['delivered', viaProxy ? [new URL(url).host] : []]);
  });

  it('is that to the collector of traces, whose headers are hidden', async () => {
    const started = await proxy({ requiresUser: true });
    const collector = await startTraceCollector();
    const endpoint = collector.url.replace('127.0.0.1', 'collector.test');
    const before = { ...process.env };
    closing.push(collector.close, () => void (process.env = before));
    process.env.OTEL_EXPORTER_OTLP_TRACES_HEADERS = 'x-key=only%20for%20traces';
    const { openTelemetry } = await import('../../../src/platform/tracing/open-telemetry.js');
    const { tracer, stop } = openTelemetry(
      remoteEnvironment({
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        HTTP_PROXY: withCredentials(started),
      }),
    );
    tracer.startSpan('a step').end();
    await stop();
    expect(collector.spans.map(({ name }) => name)).toEqual(['a step']);
    expect(started.tunnels).toEqual([new URL(endpoint).host]);
    expect(withoutSecrets('only%20for%20traces, only for traces')).toBe('[redacted], [redacted]');
  });

  it.each(['collector:4318', 'http://[collector'])(
    'is not used if %s is the address for traces',
    async (address) => {
      const before = { ...process.env };
      closing.push(() => void (process.env = before));
      process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = address;
      const { openTelemetry } = await import('../../../src/platform/tracing/open-telemetry.js');
      expect(() => openTelemetry(remoteEnvironment({}))).toThrow(
        /OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be a URL/,
      );
    },
  );

  it('is the look of check-remote and then its call, at the port of the address or of its protocol', async () => {
    const targets: string[] = [];
    const { url } = await rawProxy((socket, connect) => {
      targets.push(connect.split(' ')[1]!);
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    for (const SCS_BASE_URL of ['http://192.0.2.1', 'https://192.0.2.1', 'http://192.0.2.1:8080']) {
      const settings = { SCS_BASE_URL, HTTP_PROXY: url, HTTPS_PROXY: url };
      const remote = startRemote(settings);
      closing.push(() => remote.onApplicationShutdown());
      await lookAtNetwork(remoteEnvironment(settings));
      await remote.send(registerUser);
    }
    expect(targets).toEqual(['80', '80', '443', '443', '8080', '8080'].map((port) => `192.0.2.1:${port}`));
  });

  it('is made by TLS in the tunnel, whose certificate is checked', async () => {
    const { url: HTTPS_PROXY, tunnels } = await proxy();
    const server = createTlsServer();
    const port = await listen(server);
    closing.push(() => server.close());
    const url = new URL(`https://collector.test:${port}/v1/traces`);
    const agent = proxiedAgent(url, { HTTPS_PROXY }, 'the collector');
    const failed = new Promise<Error>((resolve) => get(url, { agent }).on('error', resolve));
    expect(await failed).toMatchObject({ code: expect.stringMatching(/^ERR_SSL|^ECONNRESET/) });
    expect(tunnels).toEqual([url.host]);
  });
});
