import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { describe, expect, it, jest } from '@jest/globals';
import { ValidationPipe } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { OPENAPI_SCHEMAS } from '../../../scripts/asyncapi/schemas.js';
import { createDocument } from '../../../scripts/openapi/document.js';
import { RequestValidation } from '../../../src/platform/http/validation.js';
import { callsOf, recordExamples } from '../../e2e/http/examples.js';
import { startTestApp, type TestApp, type TestAppOptions } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { TestClient } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import {
  cursorRequests,
  hostileRequests,
  type Document,
  type Request,
} from '../support/input/hostile-requests.js';
import type { Cursors } from '../support/input/odd-cursors.js';
import { isLong, itAtLength, promise } from '../support/promise.js';

const REQUESTS = isLong ? 5_000 : 900;
/** The changed cursors of each list. */
const CURSORS = isLong ? 50 : 8;
const AT_ONCE = 16;
/** The timeout of a response: longer than any response takes on a busy machine. */
const RESPONDS_WITHIN_MS = 30_000;
const SEED = 20_261_126;

interface Result {
  readonly faults: readonly string[];
  readonly statuses: ReadonlySet<number>;
  /** Hosts of the webhook endpoints that the requests created. */
  readonly receivers: readonly string[];
  readonly sent: number;
  readonly pages: number;
}

/** Waits until every list has two items. Returns a cursor to the second page of each list. */
async function readCursors(service: TestApp, document: Document): Promise<Cursors> {
  const client = TestClient.of(service);
  const { id } = await client.startNew();
  await service.sandbox!.control.online(id, { inverters: 2 });
  await client.call('POST', `/onboarding/pv/${id}/refresh`);
  const campaignId = randomUUID();
  for (const [name, campaign] of Object.entries({ one: campaignId, two: randomUUID() })) {
    await client.call('POST', '/api-keys', { name, scopes: ['users:read'] });
    await client.call('POST', '/webhook-endpoints', { url: `http://127.0.0.1:4020/${name}` });
    await client.call('POST', '/invitations', { gridLocationId: await client.locate() });
    await service.sandbox!.control.addFault({ kind: 'reset', operation: 'register_user', times: 1 });
    await client.call('POST', '/users', { tenantReference: name, gridLocations: [{ ean: newEan() }] });
    await service.database.query(
      `WITH campaign AS (
         INSERT INTO campaigns (id, status, invites, format, finished_at) VALUES ($1, 'checked', false, '{}', now()) RETURNING id)
       INSERT INTO campaign_rows (campaign_id, line, status, fields) SELECT id, line, 'invalid', '[]' FROM campaign, generate_series(2, 3) AS line`,
      [campaign],
    );
  }
  const lists = Object.entries(document.paths).filter(([, { get }]) =>
    get?.parameters?.some(({ name }) => name === 'cursor'),
  );
  const cursors = lists.map(async ([path]) => {
    const filled = path.replace('{sessionId}', id).replace('{id}', campaignId);
    const next = await waitFor(
      `two of ${path}`,
      async () => (await client.call('GET', `${filled.replace('/api/v1', '')}?limit=1`)).body.next,
    );
    return [path, next] as const;
  });
  return Object.fromEntries(await Promise.all(cursors)) as Cursors;
}

/** Returns a valid registration whose remote response is a 503, so that the service responds with 202. */
async function registrationWithoutResponse(service: TestApp): Promise<Request> {
  const tenantReference = 'without-response';
  await service.sandbox!.control.addFault({
    kind: 'answer',
    status: 503,
    operation: 'register_user',
    contains: tenantReference,
    times: 1,
  });
  const body = JSON.stringify({ tenantReference, gridLocations: [{ ean: '541448860004178019' }] });
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', path: '/api/v1/users', headers, body, statuses: ['202'] };
}

/** Sends requests made from the document. Stops at `enough` faults, for instance a 5xx, an undocumented response or a timeout. */
async function attack(service: TestApp, enough: number): Promise<Result> {
  const examples = await recordExamples(service, callsOf(createDocument(service.app, {}, OPENAPI_SCHEMAS)));
  const document = createDocument(service.app, examples, OPENAPI_SCHEMAS) as unknown as Document;
  const cursors = await readCursors(service, document);
  const queue = [
    ...hostileRequests(document, cursors, REQUESTS, SEED),
    ...cursorRequests(document, cursors, CURSORS, SEED),
    await registrationWithoutResponse(service),
  ];
  const sent = queue.length;
  let pages = 0;
  const statuses = new Set<number>();
  const faults: string[] = [];
  // Requests that got a 503 because the service was busy. The test sends each of them once more when the service is ready.
  const postponed: Request[] = [];

  async function send(request: Request, isLast = false): Promise<void> {
    const { method, path, headers, body, statuses: documented } = request;
    const ending = new AbortController();
    const deadline = setTimeout(() => ending.abort(new Error('no response')), RESPONDS_WITHIN_MS);
    const response = await fetch(service.url + path, {
      signal: ending.signal,
      method,
      headers: { authorization: `Bearer ${service.adminKey}`, ...headers },
      ...(body !== undefined && { body }),
    });
    statuses.add(response.status);
    // The body of an event stream never ends, so the test does not read it.
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (isStream) ending.abort();
    const text = isStream ? '' : await response.text();
    clearTimeout(deadline);
    if (response.status === 200 && path.includes('cursor=')) pages++;
    const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') === true;
    const isDocumented = documented.includes(String(response.status));
    if (response.status === 503 && isDocumented && !isLast) {
      postponed.push(request);
      return;
    }
    if (response.status >= 500 || (response.status >= 400 && !isProblem) || !isDocumented) {
      faults.push(`${method} ${path} ${body?.slice(0, 200)}: ${response.status} ${text.slice(0, 200)}`);
    }
  }

  async function sendNext(): Promise<void> {
    for (let next = queue.pop(); next !== undefined && faults.length < enough; next = queue.pop()) {
      const { method, path } = next;
      await send(next).catch((error: Error) => faults.push(`${method} ${path}: ${error.message}`));
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
  for (const request of postponed) {
    await waitFor('the service to be ready', async () => (await fetch(`${service.url}/health/ready`)).ok);
    await send(request, true);
  }
  const endpoints = await service.database.query<{ url: string }>('SELECT url FROM webhook_endpoints');
  return { faults, statuses, sent, pages, receivers: endpoints.map(({ url }) => new URL(url).hostname) };
}

async function attackService(enough: number, options?: TestAppOptions): Promise<Result> {
  const service = await startTestApp({ LOG_LEVEL: 'error' }, options);
  try {
    return await attack(service, enough);
  } finally {
    // Closes all open connections, as the service does at shutdown.
    const server: Server = service.app.getHttpServer();
    server.closeAllConnections();
    await service.close();
  }
}

describe('R39: bad input is a 4xx', () => {
  it('requests made from our own document get no 5xx, and some succeed', async () => {
    const { faults, statuses, sent, pages, receivers } = await attackService(20);
    promise('R39', { figure: `${faults.length} faults of ours in ${sent} requests`, bound: '0' });
    expect(faults).toEqual([]);
    // Some changed cursors are still valid.
    expect(pages).toBeGreaterThan(0);
    expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 202, 204, 400, 404, 409, 415]));
    // No webhook that the requests caused leaves this machine.
    expect(new Set(receivers)).toEqual(new Set(['127.0.0.1']));
  });

  itAtLength(
    "turns red when Nest's and Fastify's defaults parse and validate the same requests",
    async () => {
      const defaults = new ValidationPipe({ transform: true, whitelist: true });
      const transform = jest
        .spyOn(RequestValidation.prototype, 'transform')
        .mockImplementation((value, metadata) => defaults.transform(value, metadata));
      try {
        const { faults } = await attackService(1, { prepare: useDefaultParser });
        expect(faults.length).toBeGreaterThan(0);
      } finally {
        transform.mockRestore();
      }
    },
  );
});

function useDefaultParser(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  server.removeContentTypeParser('application/json');
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    server.getDefaultJsonParser('ignore', 'ignore'),
  );
}
