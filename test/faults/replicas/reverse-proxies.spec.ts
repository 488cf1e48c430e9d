import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it, jest } from '@jest/globals';
import { TestClient } from '../../setup/client.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { newEan } from '../../setup/ean.js';
import { freePort } from '../../../src/local/free-port.js';
import { findReverseProxy, PROXY_PROGRAMS, startReverseProxy } from '../../setup/receivers/reverse-proxy.js';
import { endServer, listen } from '../../setup/receivers/servers.js';
import { startSandbox } from '../../setup/sandbox/sandbox.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { ADMIN_KEY } from '../../setup/test-environment.js';
import type { TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';

jest.setTimeout(600_000);

/** The default of CAMPAIGN_MAX_BYTES. */
const LARGEST_UPLOAD = 64 * 1024 * 1024;

const PAUSE_MS = 200;

const run = promisify(execFile);
const closing = closeAfterEach();
const programs = PROXY_PROGRAMS.filter((name) => findReverseProxy(name) !== null);

for (const name of PROXY_PROGRAMS.filter((each) => !programs.includes(each))) {
  const reason = `THE SAMPLE FOR ${name.toUpperCase()} WAS NOT TESTED: there is no ${name} here (apt-get install ${name}, or ${name.toUpperCase()})`;
  console.warn(reason);
  it(`is not run. ${reason}`, () => expect(findReverseProxy(name)).toBeNull());
}

/** Starts a server of node:http in the place of a process of the service. */
async function startUpstream(respond: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer((incoming, response) => {
    if (incoming.url === '/health/ready') response.end();
    else respond(incoming, response);
  });
  closing.push(() => endServer(server));
  return { server, port: await listen(server) };
}

describe.each(programs)('the sample for %s', (name) => {
  /** Starts the program before two such servers. */
  async function start(
    respond: (request: IncomingMessage, response: ServerResponse) => void,
    options?: { readonly removesPath: boolean },
  ) {
    const upstreams = [await startUpstream(respond), await startUpstream(respond)] as const;
    const proxy = await startReverseProxy(name, [upstreams[0].port, upstreams[1].port], options);
    closing.push(proxy.stop);
    return { ...proxy, upstreams };
  }

  it.each([
    ['keeps', false, '/tools/pv'],
    ['removes', true, ''],
  ])(
    '%s the path of PUBLIC_URL, and passes the rest and the address of the client',
    async (_, removesPath, prefix) => {
      const { url, urlWithPath } = await start(
        ({ url: path, headers }, response) => response.end(JSON.stringify({ path, headers })),
        { removesPath },
      );
      const forged = {
        'x-forwarded-for': '192.0.2.1',
        'x-forwarded-host': 'a.example',
        'x-forwarded-proto': 'https',
      };
      for (const [base, path] of [
        [url, '/'],
        [url, '/api/v1/users?tenantReference=a%2Fb%20c'],
        [urlWithPath, '/console'],
        [urlWithPath, '/api/v1/users?tenantReference=a%2Fb%20c'],
      ] as const) {
        const received = (await (await fetch(base + path, { headers: forged })).json()) as {
          path: string;
          headers: Record<string, string>;
        };
        const { host } = new URL(base);
        expect(received).toEqual({
          path: (base === url ? '' : prefix) + path,
          headers: expect.objectContaining({ host, 'x-forwarded-host': host, 'x-forwarded-proto': 'http' }),
        });
        expect(received.headers['x-forwarded-for']).toMatch(/(^|, )127\.0\.0\.1$/);
      }
    },
  );

  it('passes each part of an upload and of a download at once', async () => {
    let firstPart: string | undefined;
    const { url } = await start((incoming, response) => {
      if (incoming.method === 'GET') response.writeHead(200, { 'content-type': 'text/csv' }).write('a part');
      incoming.once('data', (chunk: Buffer) => (firstPart = chunk.toString()));
    });
    const upload = request(url, { method: 'POST' });
    const download = request(url).end();
    const responded = once(download, 'response') as Promise<[IncomingMessage]>;
    closing.push(() => [upload, download].forEach((each) => each.on('error', () => {}).destroy()));
    upload.write('a part');
    await waitFor('the upload to begin', () => firstPart === 'a part');
    const [response] = await responded;
    expect(
      String(
        (
          await once(
            response.on('error', () => {}),
            'data',
          )
        )[0],
      ),
    ).toBe('a part');
  });

  it('passes the largest upload', async () => {
    const { url } = await start((incoming, response) => {
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => (bytes += chunk.length));
      incoming.on('end', () => response.end(String(bytes)));
    });
    const response = await fetch(url, { method: 'POST', body: Buffer.alloc(LARGEST_UPLOAD) });
    expect(await response.text()).toBe(String(LARGEST_UPLOAD));
  });

  // Caddy 2.6, the release of Debian 12, does not.
  if (name !== 'caddy')
    it('lets a response that breaks off look broken', async () => {
      const { url } = await start((_incoming, response) => {
        response.write('half');
        setImmediate(() => response.destroy());
      });
      await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
    });

  it.each(['POST', 'PATCH'])('sends a %s once, whatever becomes of it', async (method) => {
    let received = 0;
    const { url } = await start((incoming) => {
      received++;
      incoming.on('end', () => incoming.socket.destroy()).resume();
    });
    for (const body of [undefined, 'a body']) expect((await fetch(url, { method, body })).status).toBe(502);
    expect(received).toBe(2);
  });

  it('leaves out a process that refuses connections', async () => {
    const { url, upstreams } = await start((incoming, response) =>
      incoming.on('end', () => response.end()).resume(),
    );
    await endServer(upstreams[0].server);
    const post = async () => (await fetch(url, { method: 'POST', body: 'a body' })).status;
    // Caddy looks once a second.
    await waitFor('ten requests to succeed', async () => {
      for (let nth = 0; nth < 10; nth++) if ((await post()) !== 200) return false;
      return true;
    });
  });
});

describe('a rolling restart behind a reverse proxy', () => {
  /** Sends requests one after the other until `isOver`. Returns the references of its registrations, and what failed. */
  async function load(url: string, isOver: () => boolean) {
    const client = new TestClient(url, ADMIN_KEY);
    const references: string[] = [];
    const failures: string[] = [];
    const failed = (error: Error) => ({
      status: `${error.message} ${(error.cause as Error | undefined)?.message}`,
      text: '',
    });
    while (!isOver()) {
      // The processes start beside it.
      await sleep(PAUSE_MS);
      const tenantReference = randomUUID();
      references.push(tenantReference);
      const body = { tenantReference, gridLocations: [{ ean: newEan() }] };
      const registered = await client.call('POST', '/users', body).catch(failed);
      if (registered.status !== 201) failures.push(`POST ${url}: ${registered.status} ${registered.text}`);
      const read = await client.call('GET', `/users?tenantReference=${tenantReference}`).catch(failed);
      if (read.status !== 200) failures.push(`GET ${url}: ${read.status} ${read.text}`);
    }
    return { references, failures };
  }

  it('fails no request', async () => {
    const database = await createTestDatabase();
    const sandbox = await startSandbox();
    const ports = [await freePort(), await freePort()] as const;
    const begin = (port: number): Promise<TestProcess> =>
      startServiceProcess({
        ...sandbox.environment,
        DATABASE_URL: database.url,
        ROLE: 'api',
        PORT: String(port),
        PUBLIC_URL: 'https://www.example/tools/pv',
        TRUSTED_PROXIES: '127.0.0.1',
        // The default in production.
        SHUTDOWN_DELAY_MS: '5000',
        SCS_MAX_REQUESTS_PER_SECOND: '1000',
      });
    const processes = new Map<string, TestProcess>(
      await Promise.all(ports.map(async (port, index) => [`api-${index + 1}`, await begin(port)] as const)),
    );
    closing.push(database.drop, sandbox.stop, () =>
      Promise.all([...processes.values()].map(({ stop }) => stop('SIGKILL'))),
    );
    // `systemctl restart pv-onboarding@api-1` asks this server to restart the process.
    const restarts: string[] = [];
    const manager = createServer((incoming, response) => {
      const instance = incoming.url!.split('@')[1]!;
      const restart = async (): Promise<void> => {
        await processes.get(instance)!.stop();
        processes.set(instance, await begin(ports[Number(instance.slice(-1)) - 1]!));
        restarts.push(instance);
      };
      void restart().finally(() => response.end());
    });
    const port = await listen(manager);
    const folder = await mkdtemp(join(tmpdir(), 'pv-systemctl-'));
    await chmod(folder, 0o755);
    closing.push(
      () => rm(folder, { recursive: true }),
      () => endServer(manager),
    );
    const systemctl = `#!/bin/sh\nexec curl --fail --silent --show-error "http://127.0.0.1:${port}/$2"\n`;
    await writeFile(join(folder, 'systemctl'), systemctl, { mode: 0o755 });

    const proxies = await Promise.all(
      programs.map((name) => startReverseProxy(name, ports, { stopping: folder })),
    );
    closing.push(() => Promise.all(proxies.map(({ stop }) => stop())));

    let isOver = false;
    const loads = proxies
      .flatMap(({ url, urlWithPath }) => [url, urlWithPath])
      .map((url) => load(url, () => isOver));
    const env = { PATH: `${folder}:${process.env.PATH ?? ''}`, STOPPING: folder, READY_WITHIN: '240' };
    const args = ports.map((each, index) => `api-${index + 1}=${each}`);
    await run('sh', ['ops/systemd/rolling-restart.sh', ...args], { env }).finally(() => (isOver = true));
    const results = await Promise.all(loads);
    expect(restarts).toEqual(['api-1', 'api-2']);
    expect(results.flatMap(({ failures }) => failures)).toEqual([]);
    const users = await sandbox.control.users();
    const references = results.flatMap((result) => result.references);
    expect(users.map(({ tenantReference }) => tenantReference).sort()).toEqual(references.sort());
  });
});
