import { createServer, request as send, type IncomingHttpHeaders, type Server } from 'node:http';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findSecrets } from '../../faults/support/input/secret-search.js';
import { TestClient } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import {
  startTraceCollector,
  type CollectedSpan,
  type TraceCollector,
} from '../../setup/receivers/trace-collector.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import { endServer, listen } from '../../setup/receivers/servers.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY } from '../../setup/test-environment.js';
import type { TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';

const COLLECTOR_TOKEN = 'token-of-the-collector-0123456789';
const START = 'POST /api/v1/onboarding/pv/:gridLocationId';
/** Prints a line for each OpenTelemetry module that Node resolves. */
const HOOK = `export async function resolve(name, context, next) {
  if (name.startsWith('@opentelemetry/')) (await import('node:fs')).writeSync(2, 'loads ' + name + '\\n');
  return next(name, context);
}`;
const dataUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
const WATCH_MODULES = `--import=${dataUrl(`import { register } from 'node:module'; register(${JSON.stringify(dataUrl(HOOK))})`)}`;

let sandbox: TestSandbox;
let receiver: WebhookReceiver;
let remote: RecordingProxy;
beforeAll(async () => {
  [sandbox, receiver] = await Promise.all([startSandbox(), startWebhookReceiver()]);
  remote = await startRecordingProxy(sandbox.url);
});
afterAll(async () => {
  await remote.close();
  await Promise.all([sandbox.stop(), receiver.close()]);
});

let database: TestDatabase;
let collector: TraceCollector;
let service: TestProcess;
let client: TestClient;

async function open(): Promise<void> {
  [database, collector] = await Promise.all([createTestDatabase(), startTraceCollector()]);
}

async function close(): Promise<void> {
  await service.stop();
  await collector.close();
  await database.drop();
}

async function start(more: Record<string, string>): Promise<void> {
  service = await startServiceProcess({
    ...sandbox.environment,
    SCS_BASE_URL: remote.url,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'info',
    LOG_REQUESTS: 'true',
    ...more,
  });
  client = new TestClient(service.url, ADMIN_KEY);
  await client.call('POST', '/webhook-endpoints', { url: receiver.url });
}

const startTraced = (more: Record<string, string> = {}) =>
  start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${COLLECTOR_TOKEN}`,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ...more,
  });

const newTraceId = () => randomUUID().replaceAll('-', '');
const parentIn = (traceId: string, flags = '01') => `00-${traceId}-b7ad6b7169203331-${flags}`;

async function startSession(traceparent: string) {
  const location = await client.locate();
  const { body } = await client.call('POST', `/onboarding/pv/${location}`, undefined, { traceparent });
  return body as unknown as { id: string; startUrl: string };
}

const spanOf = (name: string, isIt: (span: CollectedSpan) => boolean = () => true): Promise<CollectedSpan> =>
  waitFor(`the span ${name}`, () => collector.spans.find((span) => span.name === name && isIt(span)));

/** Returns the names from the root of the trace to the span. */
function pathTo(span: CollectedSpan): string[] {
  const parent = collector.spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [...(parent === undefined ? [] : pathTo(parent)), span.name];
}

const attributeOf = ({ attributes }: Pick<CollectedSpan, 'attributes'>, name: string) =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];
const traceparentOf = ({ traceId, spanId }: CollectedSpan) => `00-${traceId}-${spanId}-01`;

interface WebhookBody {
  readonly type: string;
  readonly subject: string;
  readonly traceparent?: string;
}
const webhookOf = (type: string, subject: string) =>
  waitFor(`the webhook ${type}`, () =>
    receiver.received
      .map(({ headers, body }) => ({ headers, event: JSON.parse(body) as WebhookBody }))
      .find(({ event }) => event.type === type && event.subject === subject),
  );

describe('traces', () => {
  beforeAll(async () => {
    await open();
    await startTraced({ NODE_OPTIONS: WATCH_MODULES });
  });
  afterAll(close);

  it('lead from the request of an app to the remote call, the event and the webhook', async () => {
    const traceId = newTraceId();
    const { id, startUrl } = await startSession(parentIn(traceId));
    const inTrace = (span: CollectedSpan) => span.traceId === traceId;
    // This span ends after the other spans of the start.
    const request = await spanOf(START, inTrace);
    const webhook = await spanOf('webhook session.started', inTrace);
    expect(pathTo(webhook)).toEqual([
      START,
      'start session',
      'event session.started',
      'webhook session.started',
    ]);
    const call = await spanOf('SCS start_session', inTrace);
    expect(pathTo(call)).toEqual([START, 'start session', 'SCS start_session']);
    expect(request.parentSpanId).toBe('b7ad6b7169203331');
    expect(attributeOf(request, 'http.response.status_code')).toBe(201);
    const register = await spanOf('SCS register_user');
    expect(pathTo(register)).toEqual(['POST /api/v1/users', 'register user', 'SCS register_user']);
    await sandbox.control.online(id);
    const online = await spanOf('webhook session.online');
    expect(pathTo(online)).toEqual(['read session', 'event session.online', 'webhook session.online']);
    const read = await spanOf('read session', ({ traceId }) => traceId === online.traceId);
    const linkedTo = (span: CollectedSpan) => (span.links ?? []).map(({ spanId }) => spanId);
    await spanOf('claim sessions', ({ spanId }) => linkedTo(read).includes(spanId));
    await spanOf('apply readings', (span) => linkedTo(span).includes(read.spanId));
    const statement = await spanOf('events.append_events', inTrace);
    expect(pathTo(statement)).toEqual([START, 'start session', 'events.append_events']);
    const HTTP = ['http.request.method', 'http.response.status_code'];
    expect(
      [request, call, statement, read].map(({ kind, attributes }) => [
        ['internal', 'server', 'client'][kind - 1],
        ...attributes.map(({ key }) => key).sort(),
      ]),
    ).toEqual([
      ['server', ...HTTP, 'http.route'],
      ['client', ...HTTP],
      ['client', 'db.system.name'],
      ['internal', 'pv_onboarding.outcome', 'pv_onboarding.session.id'],
    ]);

    // The remote service and the receiver continue the trace. The event and the logs contain it.
    expect(remote.requests.find(({ path }) => path.includes('/onboarding/pv/'))?.headers.traceparent).toBe(
      traceparentOf(call),
    );
    const { headers, event } = await webhookOf('pv.session.started.v1', id);
    expect(headers.traceparent).toBe(traceparentOf(webhook));
    expect(event.traceparent).toBe(traceparentOf(await spanOf('event session.started', inTrace)));
    const items = await client.list<WebhookBody>('/events?limit=200');
    expect(items.find(({ type }) => type === event.type)?.traceparent).toBe(event.traceparent);
    expect(service.logs()).toMatch(
      new RegExp(`"traceId":"${traceId}","spanId":"${request.spanId}",.*"message":"POST /api/v1/onboarding`),
    );

    // Proves that the hook works. The test without a collector relies on the hook.
    expect(service.logs()).toContain('loads @opentelemetry');
    expect(attributeOf({ attributes: collector.resource }, 'service.name')).toBe('pv-onboarding');
    expect(attributeOf({ attributes: collector.resource }, 'deployment.environment.name')).toBe('test');
    const token = new URL(startUrl).pathname.split('/').at(-1)!;
    const [reference, ean] = [randomUUID(), newEan()];
    receiver.answer = () => ({ status: 500 });
    await client.locate(reference);
    const failed = await spanOf('webhook user.registered', ({ status }) => status.code === 2);
    expect(attributeOf(failed, 'error.type')).toBe('500');
    expect((await client.call('GET', `/customers?tenantReference=${reference}`)).status).toBe(200);
    expect((await client.call('GET', `/customers?ean=${ean}`)).status).toBe(404);
    await spanOf('GET /api/v1/customers', (span) => attributeOf(span, 'http.response.status_code') === 404);
    await waitFor('the log of the look-ups', () => service.logs().includes('GET /api/v1/customers 404'));
    const secrets = { ADMIN_KEY, COLLECTOR_TOKEN, startUrl, token, reference, ean, ...sandbox.environment };
    const { SCS_BASE_URL: _, ...hidden } = secrets;
    expect(
      findSecrets(
        hidden,
        new Map([
          ['spans', collector.bodies.join('\n')],
          ['logs', service.logs()],
        ]),
      ),
    ).toEqual([]);
  });
});

describe('a service that stops', () => {
  beforeAll(async () => {
    await open();
    await startTraced({ OTEL_BSP_SCHEDULE_DELAY: '3600000' });
  });
  afterAll(close);

  it('exports the spans that wait for their batch', async () => {
    const traceId = newTraceId();
    await client.call('GET', '/users', undefined, { traceparent: parentIn(traceId) });
    expect(collector.spans).toEqual([]);
    await service.stop();
    expect(collector.spans.filter((span) => span.traceId === traceId).map(({ name }) => name)).toContain(
      'GET /api/v1/users',
    );
  });
});

interface RecordingProxy {
  readonly url: string;
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

/** Forwards requests to `target` and records their headers. */
async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const requests: RecordingProxy['requests'] = [];
  const server: Server = createServer((incoming, outgoing) => {
    const { method, url: path = '', headers } = incoming;
    requests.push({ path, headers });
    const forwarded = send(new URL(path, target), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    requests,
    close: () => endServer(server),
  };
}
