import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TestClient } from '../../setup/client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { waitUntilHeld } from '../../faults/support/waits.js';

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
    ['SIGUSR2', 'uncaughtException: Error: nobody catches this'],
    ['SIGHUP', 'unhandledRejection: Error: nobody handles this'],
  ] as const)('is logged once and stops the process in order (%s)', async (signal, logged) => {
    await sandbox.control.addFault({ kind: 'hold', operation: 'register_user' });
    const response = new TestClient(service.url, ADMIN_KEY).call('POST', '/users', {
      tenantReference: 'in-flight',
      gridLocations: [{ ean: '871685900000000014' }],
    });
    await waitUntilHeld(sandbox.control, 1);
    service.kill(signal);
    await waitFor('the line', () => service.logs().includes(logged));
    await sandbox.control.clearFaults();

    expect((await response).status).toBe(201);
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(service.logs().split(logged)).toHaveLength(2);
    expect(service.logs().match(/"level":"fatal"/g)).toHaveLength(1);
  });
});
