import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestClient } from '../../setup/client.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { CREDENTIALS, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess } from '../../setup/test-process.js';

let database: TestDatabase;
let folder: string;
/** Every variable as a file. */
let variables: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'pv-files-'));
  const values = {
    ...testEnvironment(),
    ...CREDENTIALS,
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    SCS_BASE_URL: 'http://127.0.0.1:9',
  };
  variables = {};
  for (const [name, value] of Object.entries(values)) {
    variables[`${name}_FILE`] = join(folder, name);
    await writeFile(join(folder, name), `${value}\n`);
  }
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

describe('a configuration that consists of files', () => {
  it('starts the service in production, without a warning', async () => {
    const service = await startTestProcess('src/main.ts', variables, folder);
    try {
      const client = new TestClient(service.url, testEnvironment().ADMIN_API_KEY);
      expect((await client.call('GET', '/status')).status).toBe(200);
      expect(service.logs()).not.toContain('_FILE');
    } finally {
      await service.stop();
    }
  });
});
