import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { newValidEan } from '../../setup/ean.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, CREDENTIALS, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { isLong, itAtLength, measureUntil, promise } from '../support/promise.js';

jest.setTimeout(isLong ? 600_000 : 180_000);

const FEW = 1_000;
const MANY = isLong ? 100_000 : 10_000;
const GROWTH_MB = 64;
/**
 * Limits the heap. With more room, V8 collects garbage later, and the test would measure garbage instead of the memory that an upload
 * needs.
 */
const HEAP = '--max-old-space-size=128 --max-semi-space-size=4';
/** As long as a name, an address and some numbers of a contract. A file of 100,000 rows has 45 MB. */
const NOTE = 'Kerkstraat 1, 9000 Gent; '.repeat(16);
const ROWS_PER_PART = 200;

async function* fileOf(rows: number): AsyncGenerator<Buffer> {
  yield Buffer.from('tenantReference,ean,metadata.note\n');
  for (let at = 0; at < rows; at += ROWS_PER_PART) {
    const part = Array.from({ length: ROWS_PER_PART }, (_, i) => `C-${at + i},${newValidEan()},"${NOTE}"\n`);
    yield Buffer.from(part.join(''));
  }
}

describe('R51: the memory of an upload does not grow with the file', () => {
  let database: TestDatabase;
  let service: TestProcess;

  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await service.stop('SIGKILL');
    await database.drop();
  });

  const environment = () => ({
    ...testEnvironment(),
    ...CREDENTIALS,
    DATABASE_URL: database.url,
    SCS_BASE_URL: 'http://127.0.0.1:9',
    ROLE: 'api',
    NODE_OPTIONS: HEAP,
  });

  async function memoryMb(): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / 1024 / 1024;
  }

  const call = (path: string, init: object = {}) =>
    fetch(`${service.url}/api/v1/campaigns${path}`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'text/csv' },
      ...init,
    });

  /** Uploads a file and downloads its result. */
  async function roundTrip(rows: number): Promise<void> {
    const body = ReadableStream.from(fileOf(rows));
    const response = await call('?dryRun=true', { method: 'POST', body, duplex: 'half' });
    const campaign = (await response.json()) as { id: string; counts: { accepted: number } };
    expect(campaign).toMatchObject({ rows, counts: { accepted: rows } });
    const result = await call(`/${campaign.id}/result.csv`);
    let lines = 0;
    for await (const bytes of result.body!)
      for (const byte of bytes as Uint8Array) if (byte === 10) lines += 1;
    expect(lines).toBe(rows + 1);
  }

  /** Runs `work`. Returns by how much memory grew at most meanwhile. */
  async function growthDuring(work: () => Promise<void>): Promise<number> {
    const before = await memoryMb();
    let most = before;
    let isRunning = true;
    const ended = work().finally(() => (isRunning = false));
    while (isRunning) most = Math.max(most, await memoryMb());
    await ended;
    return most - before;
  }

  /** Measures a new process. Uploads a small file first, because the first upload compiles the code and grows the heap. */
  async function measure(start: () => Promise<TestProcess>): Promise<number> {
    service = await start();
    await roundTrip(FEW);
    return growthDuring(() => roundTrip(MANY));
  }

  it(`${MANY} rows need less than ${GROWTH_MB} MB more than ${FEW}`, async () => {
    const growthMb = await measureUntil(
      (figure) => figure < GROWTH_MB,
      async () => {
        const growth = await measure(() => startServiceProcess(environment()));
        await service.stop('SIGKILL');
        return growth;
      },
    );
    promise('R51', {
      figure: `${Math.round(growthMb)} MB more for ${MANY.toLocaleString('en')} rows than for ${FEW.toLocaleString('en')}`,
      bound: `${GROWTH_MB} MB`,
    });
    expect(growthMb).toBeLessThan(GROWTH_MB);
  });

  itAtLength('turns red when the file is read whole', async () => {
    const process = 'test/faults/support/processes/whole-file.process.ts';
    expect(await measure(() => startTestProcess(process, environment()))).toBeGreaterThan(GROWTH_MB);
  });
});
