import { describe, expect, it, jest } from '@jest/globals';
import { ValidationPipe } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createDocument } from '../../src/platform/http/openapi.js';
import { RequestValidation } from '../../src/platform/http/validation.js';
import { callsOf, recordExamples } from '../e2e/examples.js';
import { startTestApp, type TestApp, type TestAppOptions } from '../setup/test-app.js';
import { hostileRequests, type Document, type Request } from './support/hostile-requests.js';
import { caught, isLong, promise } from './support/promise.js';

const REQUESTS = isLong ? 5_000 : 500;
const AT_ONCE = 16;
const SEED = 20_261_120;

interface Result {
  readonly faults: readonly string[];
  readonly statuses: ReadonlySet<number>;
}

/**
 * Sends requests made from the document, with the ids of what the service holds, and says which were answered with a fault of
 * ours or not at all; stops after `enough` of them.
 */
async function attack(service: TestApp, enough: number): Promise<Result> {
  const examples = await recordExamples(service, callsOf(createDocument(service.app, {})));
  const document = createDocument(service.app, examples) as unknown as Document;
  const queue = hostileRequests(document, REQUESTS, SEED);
  const statuses = new Set<number>();
  const faults: string[] = [];

  async function send({ method, path, headers, body }: Request): Promise<void> {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${service.adminKey}`, ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    statuses.add(response.status);
    const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') === true;
    if (response.status >= 500 || (response.status >= 400 && !isProblem)) {
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
  return { faults, statuses };
}

async function attackService(enough: number, options?: TestAppOptions): Promise<Result> {
  const service = await startTestApp({ LOG_LEVEL: 'error' }, options);
  try {
    return await attack(service, enough);
  } finally {
    await service.close();
  }
}

describe('R39: bad input is a 4xx', () => {
  it('requests made from our own document get no 5xx, and some succeed', async () => {
    const { faults, statuses } = await attackService(20);
    promise('R39', { figure: `${faults.length} faults of ours in ${REQUESTS} requests`, bound: '0' });
    expect(faults).toEqual([]);
    expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 204, 400, 404, 409, 415]));
  }, 120_000);

  it("and the same requests find faults where Nest's and Fastify's defaults read and check them", async () => {
    const defaults = new ValidationPipe({ transform: true, whitelist: true });
    const transform = jest
      .spyOn(RequestValidation.prototype, 'transform')
      .mockImplementation((value, metadata) => defaults.transform(value, metadata));
    try {
      const { faults } = await attackService(1, { prepare: useDefaultParser });
      expect(faults.length).toBeGreaterThan(0);
      caught('R39', 'defaults of Nest and Fastify');
    } finally {
      transform.mockRestore();
    }
  }, 120_000);
});

function useDefaultParser(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    server.getDefaultJsonParser('ignore', 'ignore'),
  );
}
