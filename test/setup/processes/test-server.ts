import type { Child } from '../../../src/local/child.js';
import { removeLeftFolders, startOwnPostgres } from '../database/own-postgres.js';
import { prepareTemplate } from '../database/template-database.js';
import { startTestProcess, type TestProcess } from './test-process.js';

const SETTINGS = {
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '1GB',
  max_connections: '300',
  shared_buffers: '256MB',
};

let server: Child | undefined;
let processes: readonly TestProcess[] = [];

/** Starts the processes that all test files share, and PostgreSQL unless TEST_DATABASE_URL is set. Prepares the template of all test databases. */
export async function startTestServer(): Promise<void> {
  await removeLeftFolders();
  if (process.env.TEST_DATABASE_URL === undefined) server = await startOwnPostgres(SETTINGS);
  const url = process.env.TEST_DATABASE_URL ?? server?.url ?? '';
  process.env.PV_TEST_SERVER_URL = url;
  process.env.PV_TEST_TEMPLATE = await prepareTemplate(url);
  processes = await Promise.all(
    ['sandbox/sandboxes', 'processes/check-events'].map((name) =>
      startTestProcess(`test/setup/${name}.process.ts`, {}),
    ),
  );
  [process.env.PV_TEST_SANDBOXES_URL, process.env.PV_TEST_EVENTS_URL] = processes.map(({ url }) => url);
}

export async function stopTestServer(): Promise<void> {
  await Promise.all(processes.map((each) => each.stop()));
  await server?.stop();
}
