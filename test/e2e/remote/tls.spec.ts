import { spawn } from 'node:child_process';
import { appendFile, copyFile, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Environment } from '../../../src/platform/env/environment.js';
import { dispatcherFor, lookAtNetwork } from '../../../src/cli/check-remote/look-at-network.js';
import { RawRemote } from '../../../src/cli/check-remote/raw-remote.js';
import { describeConnectionError } from '../../../src/platform/http-client/response-limits.js';
import { tlsFilesOf } from '../../../src/platform/http-client/tls-files.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { describeWith } from '../../setup/describe-with.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { type Authority, createAuthority, findOpenssl } from '../../setup/receivers/certificates.js';
import { freePort } from '../../../src/local/free-port.js';
import { isListening } from '../../setup/receivers/programs.js';
import { startOutboundProxy } from '../../setup/receivers/outbound-proxy.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { readSession, registerUser, remoteEnvironment } from './fixture.js';

const closing = closeAfterEach();

describeWith(findOpenssl(), 'openssl (or OPENSSL)', 'TLS to the remote service', (openssl) => {
  let authority: Authority;
  let stranger: Authority;
  let client: { certificate: string; key: string };
  let server: Server;
  /** The common names of the client certificates of the requests, and the bodies. */
  let received: { name: string | undefined; body: string }[];
  let folder: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    [authority, stranger] = await Promise.all([createAuthority(openssl), createAuthority(openssl)]);
    folder = dirname(authority.file);
    client = await authority.issue('client');
    const own = await authority.issue('scs.test');
    server = createServer(
      {
        cert: await readFile(own.certificate),
        key: await readFile(own.key),
        ca: await readFile(authority.file),
        requestCert: true,
        rejectUnauthorized: true,
      },
      (request, response) => {
        const { subject } = (request.socket as TLSSocket).getPeerCertificate();
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          received.push({ name: subject?.CN?.toString(), body });
          response.setHeader('connection', 'close').setHeader('content-type', 'application/json').end('{}');
        });
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.close();
    await Promise.all([authority.remove(), stranger.remove()]);
  });

  /** Starts a client that trusts the authority, through a proxy that knows the name of the service. */
  async function start(overrides: Partial<Environment> = {}) {
    received = [];
    const proxy = await startOutboundProxy();
    const { port } = server.address() as AddressInfo;
    const environment = remoteEnvironment({
      SCS_BASE_URL: `https://scs.test:${port}`,
      HTTPS_PROXY: proxy.url,
      SCS_CA_FILE: authority.file,
      SCS_CLIENT_CERT_FILE: client.certificate,
      SCS_CLIENT_KEY_FILE: client.key,
      ...overrides,
    });
    const remote = new Remote(environment);
    closing.push(proxy.close, () => remote.onApplicationShutdown());
    const files = tlsFilesOf(environment, 'remote');
    return { remote, environment, files, reread: () => (files['readAt'] = -Infinity) };
  }

  it('trusts SCS_CA_FILE, and shows the client certificate', async () => {
    const { remote } = await start();
    expect(await remote.send(registerUser)).toMatchObject({ kind: 'response', response: { status: 200 } });
    expect(received).toEqual([{ name: 'client', body: registerUser.body }]);
  });

  it('is that to the collector of traces, too, whose own files precede those of all signals', async () => {
    const { environment } = await start();
    const before = { ...process.env };
    closing.push(() => void (process.env = before));
    for (const [prefix, { certificate, key }, ca] of [
      ['OTEL_EXPORTER_OTLP', await stranger.issue('client'), stranger],
      ['OTEL_EXPORTER_OTLP_TRACES', client, authority],
    ] as const)
      Object.assign(process.env, {
        [`${prefix}_CERTIFICATE`]: ca.file,
        [`${prefix}_CLIENT_CERTIFICATE`]: certificate,
        [`${prefix}_CLIENT_KEY`]: key,
      });
    const { openTelemetry } = await import('../../../src/platform/tracing/open-telemetry.js');
    const OTEL_EXPORTER_OTLP_ENDPOINT = environment.SCS_BASE_URL;
    const { tracer, stop } = openTelemetry({ ...environment, OTEL_EXPORTER_OTLP_ENDPOINT });
    tracer.startSpan('a step').end();
    await stop();
    expect(received).toMatchObject([{ name: 'client', body: expect.stringContaining('a step') }]);
  });

  it('refuses the certificate of another authority, and names the setting', async () => {
    const { remote } = await start({ SCS_CA_FILE: stranger.file });
    expect(await remote.send(registerUser)).toEqual({ kind: 'not_sent', reason: 'unreachable' });
    expect(remote.status().operations.register_user.lastError).toMatch(
      /^its certificate is not signed by a known authority .* in SCS_CA_FILE$/,
    );
    expect(remote.proxyFault).toBeNull();
  });

  it('names the reason of an error of OpenSSL, without what only its developers need', () => {
    const code = 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE';
    const message = `80DC018E:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure:../ssl/rec.c:1601:SSL alert number 40\n`;
    const text = describeConnectionError(Object.assign(new Error(message), { code }));
    expect(text).toBe(`sslv3 alert handshake failure (${code})`);
  });

  it('names the setting of a proxy whose certificate is of another authority', async () => {
    const { port } = server.address() as AddressInfo;
    const { remote } = await start({ HTTPS_PROXY: `https://127.0.0.1:${port}` });
    expect(await remote.send(registerUser)).toMatchObject({ kind: 'not_sent', reason: 'proxy_fails' });
    expect(remote.proxyFault).toMatch(
      /cannot be used: its certificate is not signed by a known authority .* in NODE_EXTRA_CA_CERTS$/,
    );
  });

  /** Starts openssl in the place of the service. `output`: what it has received. */
  async function startOpenssl(...args: string[]) {
    const own = await authority.issue('localhost');
    const port = await freePort();
    const files = ['-cert', own.certificate, '-key', own.key, '-CAfile', authority.file];
    const service = spawn(
      openssl,
      ['s_server', '-accept', `127.0.0.1:${port}`, ...files, '-verify_return_error', ...args],
      { stdio: ['pipe', 'pipe', 'ignore'] },
    );
    const output = { text: '' };
    service.stdout.on('data', (chunk: Buffer) => (output.text += chunk.toString()));
    closing.push(() => service.kill());
    await waitFor('the service', () => isListening(port));
    return { port, output, stdin: service.stdin };
  }

  it.each([
    ['a client without a certificate', '-tls1_3', false],
    ['a client of another authority', '-tls1_3', true],
    ['a client of another authority', '-tls1_2', true],
  ])('has sent nothing to a service that refuses %s, by %s', async (_, version, isStrange) => {
    const strange = await stranger.issue('client');
    const { port } = await startOpenssl(version, '-Verify', '1');
    const { remote } = await start({
      SCS_BASE_URL: `https://localhost:${port}`,
      SCS_CLIENT_CERT_FILE: isStrange ? strange.certificate : undefined,
      SCS_CLIENT_KEY_FILE: isStrange ? strange.key : undefined,
    });
    expect(await remote.send(registerUser)).toEqual({ kind: 'not_sent', reason: 'unreachable' });
    expect(remote.status().operations.register_user.lastError).toMatch(
      /^it does not accept our client certificate \(.*\): is the one in SCS_CLIENT_CERT_FILE known to it/,
    );
  });

  it.each([
    ['in a session that the service has begun', [], ''],
    ['after a part of the response', ['-num_tickets', '0'], 'HTTP/1.1 103 Early Hints\n\n'],
  ])('may have sent a request if the alert comes %s', async (_, args, response) => {
    const { port, output, stdin } = await startOpenssl('-tls1_3', '-Verify', '1', ...args);
    const connect = jest.spyOn(tls, 'connect');
    const { remote } = await start({ SCS_BASE_URL: `https://localhost:${port}`, HTTPS_PROXY: undefined });
    const sent = remote.send(registerUser);
    await waitFor('the request', () => output.text.includes(registerUser.body!));
    const socket = connect.mock.results[0]!.value as TLSSocket;
    connect.mockRestore();
    stdin.write(response);
    await waitFor('the part', () => response === '' || socket.bytesRead > 0);
    // No program at hand sends such an alert.
    const code = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';
    socket.emit('error', Object.assign(new Error('alert'), { code }));
    socket.destroy();
    expect(await sent).toMatchObject({ kind: 'ambiguous' });
  });

  it.each([
    ['the authority of the service', false, null, 200],
    ['another authority', true, expect.any(String), 'lost'],
  ] as const)(
    'is looked at by check-remote through the proxy, with %s',
    async (_what, isStrange, fault, seen) => {
      const { environment } = await start(isStrange ? { SCS_CA_FILE: stranger.file } : {});
      expect(await lookAtNetwork(environment)).toMatchObject({
        host: 'scs.test',
        proxy: { variable: 'HTTPS_PROXY', fault: null },
        tls: { protocol: 'TLSv1.3', fault },
      });
      const dispatcher = dispatcherFor(environment);
      const probe = await new RawRemote(environment, dispatcher).call({
        method: 'GET',
        path: '/api/v1/ssa',
      });
      await dispatcher.close();
      expect('lost' in probe ? 'lost' : probe.status).toBe(seen);
    },
  );

  it('takes up renewed files, and keeps those in use while the renewed ones cannot be used', async () => {
    const [cert, key] = [join(folder, 'used.crt'), join(folder, 'used.key')];
    await Promise.all([copyFile(client.certificate, cert), copyFile(client.key, key)]);
    const { remote, files, reread } = await start({ SCS_CLIENT_CERT_FILE: cert, SCS_CLIENT_KEY_FILE: key });
    const now = new Date();
    await remote.send(readSession);

    const renewed = await authority.issue('renewed');
    await copyFile(renewed.certificate, cert);
    reread();
    await remote.send(readSession);
    const fault = 'SCS_CLIENT_KEY_FILE does not contain the key of the certificate in SCS_CLIENT_CERT_FILE';
    expect(files.signs(now)).toMatchObject([
      { name: 'SCS_CA_FILE', fault },
      { name: 'SCS_CLIENT_CERT_FILE', fault, isExpiring: false },
    ]);

    await copyFile(renewed.key, key);
    reread();
    await remote.send(readSession);
    expect(files.signs(now)).toMatchObject([{ fault: null }, { fault: null }]);

    await writeFile(cert, '');
    reread();
    await remote.send(readSession);
    expect(received.map(({ name }) => name)).toEqual(['client', 'client', 'renewed', 'renewed']);
  });

  it('refuses unusable files at the start, all at once, by the setting and without their content', async () => {
    const broken = join(folder, 'broken.crt');
    await writeFile(broken, '-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----\n');
    const cut = join(folder, 'cut.crt');
    const whole = await readFile(authority.file, 'utf8');
    await writeFile(cut, whole + whole.slice(0, whole.length / 2));
    const encrypted = join(folder, 'encrypted.key');
    await appendFile(
      encrypted,
      '-----BEGIN ENCRYPTED PRIVATE KEY-----\ncanary\n-----END ENCRYPTED PRIVATE KEY-----\n',
    );
    const problemOf = (paths: Record<string, string>) => {
      try {
        environmentFor('postgresql://localhost/pv', paths);
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const { certificate, key } = client;
    expect(problemOf({ SCS_CA_FILE: '/nowhere', EVENT_BROKER_CA_FILE: broken })).toMatch(
      /SCS_CA_FILE cannot be read \(ENOENT\)[^]*EVENT_BROKER_CA_FILE must contain certificates/,
    );
    expect(problemOf({ SCS_CLIENT_CERT_FILE: certificate })).toContain(
      'SCS_CLIENT_KEY_FILE is required with SCS_CLIENT_CERT_FILE',
    );
    expect(problemOf({ SCS_CLIENT_KEY_FILE: key })).toContain(
      'SCS_CLIENT_CERT_FILE is required with SCS_CLIENT_KEY_FILE',
    );
    expect(problemOf({ SCS_CLIENT_CERT_FILE: certificate, SCS_CLIENT_KEY_FILE: certificate })).toContain(
      'SCS_CLIENT_KEY_FILE must contain a private key',
    );
    expect(problemOf({ SCS_CLIENT_CERT_FILE: certificate, SCS_CLIENT_KEY_FILE: encrypted })).toContain(
      'SCS_CLIENT_KEY_FILE must contain a private key',
    );
    expect(problemOf({ SCS_CLIENT_CERT_FILE: certificate, SCS_CLIENT_KEY_FILE: '/nowhere' })).toContain(
      'SCS_CLIENT_KEY_FILE cannot be read (ENOENT)',
    );
    expect(problemOf({ SCS_CA_FILE: cut })).toContain('SCS_CA_FILE must contain certificates');
    expect(problemOf({ SCS_CA_FILE: broken })).not.toContain('canary');
  });
});
