import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TestClient } from '../../setup/client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';

jest.setTimeout(120_000);

describe('an error that nothing catches', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let folder: string;
  let service: TestProcess;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-uncaught-'));
    database = await createTestDatabase();
    sandbox = await startSandbox();
    const environment = { ...testEnvironment(), ...sandbox.environment, DATABASE_URL: database.url };
    service = await startTestProcess('test/e2e/service/uncaught.process.ts', environment, folder);
  });
  afterEach(async () => {
    await service.stop('SIGKILL');
    await sandbox.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each([
    ['SIGUSR2', 'uncaught exception: Error: nobody catches this'],
    ['SIGHUP', 'unhandled rejection: Error: nobody handles this'],
  ] as const)('is told once and ends the process in order (%s)', async (signal, told) => {
    await sandbox.control.change({ latencyMs: 200 });
    const answer = new TestClient(service.url, ADMIN_KEY).call('POST', '/users', {
      tenantReference: 'in-flight',
      gridLocations: [{ ean: '871685900000000014' }],
    });
    await waitFor('the request to be under way', async () => (await sandbox.control.ledger()).inFlight > 0);
    service.kill(signal);

    expect((await answer).status).toBe(201);
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(service.logs().split(told)).toHaveLength(2);
    expect(service.logs().match(/"level":"fatal"/g)).toHaveLength(1);
  });
});
