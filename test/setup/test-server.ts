import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Child } from '../../src/platform/local/child.js';
import { startEmbeddedPostgres } from '../../src/platform/local/embedded-postgres.js';
import { prepareTemplate } from './template-database.js';

/** Test databases need not survive a crash of the machine. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '2GB',
  max_connections: '300',
  shared_buffers: '256MB',
  // Keeps shared memory in the data folder, which is deleted. A killed server would leave files in /dev/shm.
  dynamic_shared_memory_type: 'mmap',
};

let server: Child | undefined;

/** Starts PostgreSQL, unless TEST_DATABASE_URL is set, and prepares the template of all test databases. */
export async function startTestServer(): Promise<void> {
  if (process.env.TEST_DATABASE_URL === undefined) {
    const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-test-'));
    // If root runs the tests, PostgreSQL runs as another account. This account must be able to enter the folder.
    await chmod(folder, 0o755);
    server = await startEmbeddedPostgres({
      folder,
      temporary: true,
      settings: SETTINGS,
      execArgv: ['--import', new URL('./compile/typescript.mjs', import.meta.url).href],
    });
  }
  const url = process.env.TEST_DATABASE_URL ?? server?.url ?? '';
  process.env.PV_TEST_SERVER_URL = url;
  process.env.PV_TEST_TEMPLATE = await prepareTemplate(url);
}

export async function stopTestServer(): Promise<void> {
  await server?.stop();
}
