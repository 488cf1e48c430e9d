import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { expect, it, jest } from '@jest/globals';
import { TestClient } from '../setup/client.js';
import { closeAfterEach } from '../setup/close-after-each.js';
import { createTestDatabase } from '../setup/database/test-database.js';
import { createAuthority, findOpenssl } from '../setup/receivers/certificates.js';
import { startOutboundProxy, withCredentials } from '../setup/receivers/outbound-proxy.js';
import { endServer, listen } from '../setup/receivers/servers.js';
import { startSandbox } from '../setup/sandbox/sandbox.js';
import { startServiceProcess } from '../setup/processes/service-process.js';
import { ADMIN_KEY, CREDENTIALS } from '../setup/test-environment.js';
import { Network } from './network.js';

jest.setTimeout(240_000);

const PORT = 3000;
const USER_DATA = '[{"at":"2026-06-01T12:00:00Z","curtailedKwhPerMinute":0.123456789012345678}]';
const closing = closeAfterEach();
const run = promisify(execFile);

/** Starts the sandbox behind TLS that demands a client certificate. It also responds to reads of data. */
async function startRemoteService(sandboxUrl: string) {
  const authority = await createAuthority(findOpenssl()!);
  closing.push(authority.remove);
  const [own, client] = [await authority.issue('scs.test'), await authority.issue('client')];
  const clients = new Set<string | undefined>();
  const [cert, key, ca] = await Promise.all(
    [own.certificate, own.key, authority.file].map((file) => readFile(file)),
  );
  const server = createServer(
    { cert, key, ca, requestCert: true, rejectUnauthorized: true },
    (incoming, response) => {
      clients.add((incoming.socket as TLSSocket).getPeerCertificate().subject.CN?.toString());
      const { method, url = '' } = incoming;
      const headers = { ...incoming.headers, host: new URL(sandboxUrl).host };
      if (url.endsWith('/data'))
        return void response.setHeader('content-type', 'application/json').end(USER_DATA);
      const passed = request(sandboxUrl + url, { method, headers }, (received) => {
        response.writeHead(received.statusCode!, received.headers);
        received.pipe(response);
      });
      incoming.pipe(passed);
    },
  );
  const port = await listen(server);
  closing.push(() => endServer(server));
  const environment = {
    ...CREDENTIALS,
    SCS_BASE_URL: `https://scs.test:${port}`,
    SCS_CA_FILE: authority.file,
    SCS_CLIENT_CERT_FILE: client.certificate,
    SCS_CLIENT_KEY_FILE: client.key,
  };
  return { host: `scs.test:${port}`, clients, environment };
}

it('the main job and a call that is passed on need no way out but the proxy', async () => {
  const database = await createTestDatabase();
  const sandbox = await startSandbox();
  const remote = await startRemoteService(sandbox.url);
  const proxy = await startOutboundProxy({ requiresUser: true });
  // Nothing of this machine listens on its address in the network but what is forwarded. The network leads nowhere else.
  const network = await Network.open();
  closing.push(database.drop, sandbox.stop, proxy.close, () => network.close());
  const { network: name, address } = await network.add();
  const databaseUrl = new URL(database.url);
  await network.forward(network.host, 5432, { host: databaseUrl.hostname, port: Number(databaseUrl.port) });
  await network.forward(network.host, 3128, { host: '127.0.0.1', port: proxy.port });
  databaseUrl.host = `${network.host}:5432`;

  const inside = ['nsenter', `--net=/run/netns/${name}`];
  const service = await startServiceProcess(
    {
      ...remote.environment,
      DATABASE_URL: databaseUrl.href,
      HOST: address,
      PORT: String(PORT),
      HTTPS_PROXY: withCredentials({ port: 3128 }).replace('127.0.0.1', network.host),
      SCS_PASS_THROUGH: 'GET users/*/data',
    },
    inside,
  );
  closing.push(() => service.stop());

  const client = new TestClient(`http://${address}:${PORT}`, ADMIN_KEY);
  const { id } = await client.startNew();
  await sandbox.control.complete(id, { onlineAfterMs: 0 });
  await client.untilState(id, 'online');
  expect(await client.eventsOf(id)).toContain('session.online');
  const [user] = await sandbox.control.users();
  const data = await client.call('GET', `/scs/users/${user!.id}/data`);
  expect([data.status, data.text]).toEqual([200, USER_DATA]);

  expect(new Set(proxy.tunnels)).toEqual(new Set([remote.host]));
  expect(proxy.plain).toEqual([]);
  expect(remote.clients).toEqual(new Set(['client']));
  // The kernel counts what a process of the network tried to send to any other address, names to resolve among it.
  const sentElsewhere = async (): Promise<number> => {
    const { stdout } = await run(inside[0]!, [...inside.slice(1), 'cat', '/proc/net/snmp']);
    const [names = [], values = []] = stdout
      .split('\n')
      .flatMap((line) => (line.startsWith('Ip:') ? [line.split(' ')] : []));
    return Number(values[names.indexOf('OutNoRoutes')]);
  };
  expect(await sentElsewhere()).toBe(0);
  const elsewhere = `require('node:net').connect(443, '192.0.2.1').on('error', () => {})`;
  await run(inside[0]!, [...inside.slice(1), process.execPath, '-e', elsewhere]);
  expect(await sentElsewhere()).toBeGreaterThan(0);
});
