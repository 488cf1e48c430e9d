import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { lookup, Resolver } from 'node:dns/promises';
import { createServer, get, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { openNats } from '../../../src/broker/nats.publisher.js';
import { placesOf } from '../../../src/webhooks/send/endpoint-health.rules.js';
import { EndpointPlaces } from '../../../src/webhooks/send/endpoint-places.js';
import { WebhookSender } from '../../../src/webhooks/send/sender.service.js';
import { resolveName, type Resolve } from '../../../src/platform/http-client/names.js';
import { proxiedAgent, proxiedFetch } from '../../../src/platform/http-client/proxied.js';
import type { ProxySettings } from '../../../src/platform/http-client/proxies.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { TestClient } from '../../setup/client.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { newEan } from '../../setup/ean.js';
import { startNameServer } from '../../setup/receivers/name-server.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import { endServer, listen } from '../../setup/receivers/servers.js';
import { startSandbox } from '../../setup/sandbox/sandbox.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { inTime, isLong, itAtLength, measureUntil, promise } from '../support/promise.js';
import { announce, makeEndpoint } from '../support/webhooks.js';

const NAMES = ['one.test', 'two.test', 'three.test', 'four.test'];
/** How long the names do not resolve. In the short form, until two rounds of users are registered. */
const SLOW_MS = isLong ? 8_000 : 0;
/** More than fit into the connections that are open already, so that our own hosts must be resolved, too. */
const AT_ONCE = 10;
const SUBJECTS = 20;
const MOST_MS = 1_000;
const TESTS = isLong ? 800 : 100;
const PLACES = placesOf({ failures: 0 });

const closing = closeAfterEach();

/** Starts the service, whose database and remote service have a name, with an endpoint at each of NAMES. */
async function startBesideNames(receiver: WebhookReceiver, resolve: Resolve) {
  const [database, sandbox] = await Promise.all([createTestDatabase(), startSandbox()]);
  const named = (url: string) => url.replace('127.0.0.1', 'localhost');
  const service = await startTestApp(
    {
      LOG_LEVEL: 'error',
      DATABASE_URL: named(database.url),
      ...sandbox.environment,
      SCS_BASE_URL: named(sandbox.environment.SCS_BASE_URL),
    },
    { prepare: (app) => void (app.get(WebhookSender).resolve = resolve) },
  );
  closing.push(
    () => database.drop(),
    () => sandbox.stop(),
    () => service.close(),
  );
  const client = TestClient.of(service);
  const { port } = new URL(receiver.url);
  for (const name of NAMES) await makeEndpoint(client, `http://${name}:${port}/`);
  await announce(service.database, SUBJECTS, 1);
  return { service, client };
}

/** Registers AT_ONCE users at once. Returns the longest duration. */
async function registerUsers(client: TestClient): Promise<number> {
  const durations = Array.from({ length: AT_ONCE }, async () => {
    const beganAt = performance.now();
    const body = { tenantReference: randomUUID(), gridLocations: [{ ean: newEan() }] };
    const { status } = await client.call('POST', '/users', body);
    expect(status).toBe(201);
    return performance.now() - beganAt;
  });
  return Math.max(...(await Promise.all(durations)));
}

/** Tests an endpoint TESTS times at once while it has deliveries. Its receiver does not respond until users are registered. */
async function testAtOnce(service: TestApp, client: TestClient) {
  // No request is given up: its receiver might see the next connection before the end of that one.
  service.app.get(WebhookSender).deadlineMs = 600_000;
  const waiting: ServerResponse[] = [];
  let isHeld = true;
  let open = 0;
  let most = 0;
  const receiver = createServer((_, response) =>
    isHeld ? void waiting.push(response) : void response.writeHead(204).end(),
  );
  receiver.on('connection', (socket) => {
    most = Math.max(most, ++open);
    socket.on('close', () => (open -= 1));
  });
  const { id } = await makeEndpoint(client, `http://127.0.0.1:${await listen(receiver)}/`);
  closing.push(() => endServer(receiver));
  let refused = 0;
  const tests = Array.from({ length: TESTS }, async () => {
    const { status } = await client.call('POST', `/webhook-endpoints/${id}/test`);
    if (status !== 200) refused += 1;
    return status;
  });
  // Otherwise, the deliveries may take all requests of the endpoint before the first test.
  await waitFor('a test is in flight', () => waiting.length > 0);
  const announced = announce(service.database, SUBJECTS, 1);
  await waitFor('every test is in flight or refused', () => waiting.length + refused >= TESTS);
  const slowest = await measureUntil(
    (ms) => ms < MOST_MS,
    () => registerUsers(client),
  );
  const held = most;
  isHeld = false;
  for (const response of waiting) response.writeHead(204).end();
  await announced;
  return { most: held, slowest, statuses: await Promise.all(tests) };
}

async function startReceiver(): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver();
  closing.push(receiver.close);
  return receiver;
}

/** Lists the host names that getaddrinfo resolves, as Node reports them. */
function watchGetaddrinfo(): readonly string[] {
  const names: string[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (entry.name === 'lookup')
        names.push((entry as unknown as { detail: { hostname: string } }).detail.hostname);
  });
  observer.observe({ entryTypes: ['dns'] });
  closing.push(() => observer.disconnect());
  return names;
}

/** Requests `host` as the exporter of traces does. */
const getBy = (settings: ProxySettings, host: string) =>
  new Promise((resolve, reject) => {
    const url = new URL(`http://${host}/`);
    get(url, { agent: proxiedAgent(url, settings, 'collector') }, resolve).on('error', reject);
  });

describe('R79: strangers hold nothing', () => {
  it('by names that resolve slowly: users are registered meanwhile, and the webhooks arrive once the names resolve', async () => {
    const nameServer = await startNameServer();
    closing.push(nameServer.close);
    nameServer.answer = () => null;
    const receiver = await startReceiver();
    const looked = watchGetaddrinfo();
    const sources = { hosts: '/dev/null', resolvConf: '/dev/null', servers: [nameServer.address] };
    const { client } = await startBesideNames(receiver, (name, signal) => resolveName(name, signal, sources));
    await waitFor('every name is queried', () =>
      NAMES.every((name) => nameServer.queries.includes(`A ${name}`)),
    );
    const beganAt = performance.now();
    const slowest = await measureUntil(
      (ms) => ms < MOST_MS,
      async () => {
        let ms = await registerUsers(client);
        do ms = Math.max(ms, await registerUsers(client));
        while (performance.now() - beganAt < SLOW_MS);
        return ms;
      },
    );
    promise('R79', {
      figure: `POST /users in at most ${Math.round(slowest)} ms beside ${NAMES.length} names that do not resolve for ${SLOW_MS} ms`,
      bound: `${MOST_MS} ms`,
    });
    expect(receiver.received).toEqual([]);
    expect(slowest).toBeLessThan(inTime(MOST_MS));
    nameServer.answer = (_, type) => (type === 'A' ? { addresses: ['127.0.0.1'] } : {});
    await waitFor('every webhook arrives', () => receiver.received.length >= NAMES.length * SUBJECTS);
    // Our own hosts show that Node reports names.
    await waitFor('our own names are reported', () => looked.includes('localhost'));
    expect(looked.filter((name) => name !== 'localhost')).toEqual([]);
  });

  it('by the names of hosts in settings, which no thread of libuv resolves', async () => {
    const nameServer = await startNameServer();
    closing.push(nameServer.close);
    nameServer.answer = () => null;
    const resolve4 = Resolver.prototype.resolve4 as (this: Resolver, name: string) => Promise<string[]>;
    // The first query of each resolver, which then asks the slow name server for both families.
    jest.spyOn(Resolver.prototype, 'resolve4').mockImplementation(function (this: Resolver, name: string) {
      this.setServers([nameServer.address]);
      return resolve4.call(this, name);
    });
    closing.push(() => void jest.restoreAllMocks());
    const looked = watchGetaddrinfo();
    const through = (name: string) => ({ HTTP_PROXY: `http://${name}:3128` });
    const used = await Promise.allSettled([
      openNats('nats://one.broker.test:4222,nats://other.broker.test:4222'),
      proxiedFetch({}, 'provider')('http://provider.test/'),
      proxiedFetch(through('proxy-of-provider.test'), 'provider')('http://far.test/'),
      getBy({}, 'collector.test'),
      getBy(through('proxy-of-collector.test'), 'far.test'),
    ]);
    expect(used.map((each) => each.status === 'rejected' && String(each.reason))).toEqual([
      'BrokerError: other.broker.test has no address within 2000 ms',
      'TypeError: fetch failed',
      'TypeError: fetch failed',
      'Error: collector.test has no address within 10000 ms',
      'Error: the proxy proxy-of-collector.test:3128 has no address within 10000 ms',
    ]);
    const names = [
      'one.broker',
      'other.broker',
      'provider',
      'proxy-of-provider',
      'collector',
      'proxy-of-collector',
    ];
    expect(new Set(nameServer.queries)).toEqual(
      new Set(names.flatMap((name) => [`A ${name}.test`, `AAAA ${name}.test`])),
    );
    // A name of ours shows that Node reports names.
    await lookup('localhost');
    await waitFor('our own name is reported', () => looked.includes('localhost'));
    expect(looked).toEqual(['localhost']);
  });

  it(`by ${TESTS} tests of an endpoint at once: they share its requests with its deliveries, and users are registered meanwhile`, async () => {
    const service = await startTestApp({ LOG_LEVEL: 'error' });
    closing.push(() => service.close());
    const client = TestClient.of(service);
    const { most, slowest, statuses } = await testAtOnce(service, client);
    promise('R79', {
      figure: `${most} connections by ${TESTS} tests of an endpoint at once; POST /users in at most ${Math.round(slowest)} ms beside them`,
      bound: `${PLACES} connections, ${MOST_MS} ms`,
    });
    expect(most).toBe(PLACES);
    expect(slowest).toBeLessThan(inTime(MOST_MS));
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(PLACES);
  });

  itAtLength('turns red when tests need no place', async () => {
    const service = await startTestApp(
      { LOG_LEVEL: 'error' },
      { prepare: (app) => void (app.get(EndpointPlaces).takeForTest = async () => () => {}) },
    );
    closing.push(() => service.close());
    expect((await testAtOnce(service, TestClient.of(service))).most).toBeGreaterThan(PLACES);
  });

  itAtLength('turns red when getaddrinfo resolves the names of receivers', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pipe-'));
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    closing.push(() => rm(folder, { recursive: true }));
    let waiting = 0;
    // Stands for a slow getaddrinfo: it occupies a thread of libuv until there is a writer.
    const { client } = await startBesideNames(await startReceiver(), async () => {
      waiting += 1;
      await (await open(pipe, 'r')).close();
      return [{ address: '127.0.0.1', family: 4 }];
    });
    await waitFor('every thread of libuv is occupied', () => waiting >= NAMES.length);
    const registering = registerUsers(client);
    const isLate = await Promise.race([registering.then(() => false), sleep(2 * MOST_MS, true)]);
    const writer = openSync(pipe, 'r+');
    await registering;
    closing.push(() => closeSync(writer));
    expect(isLate).toBe(true);
  });
});
