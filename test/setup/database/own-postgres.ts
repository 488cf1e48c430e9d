import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Child } from '../../../src/local/child.js';
import { startEmbeddedPostgres } from '../../../src/local/embedded-postgres.js';
import { processCommand } from '../../../src/local/process-identity.js';

const MEMORY = '/dev/shm';
/** More memory than a test run needs. Containers often have only 64 MB. */
const NEEDED_BYTES = 3 * 1024 ** 3;
/** The beginning of the name of a folder. The id of the process that owns the folder follows. */
const PREFIX = 'pv-onboarding-test-';

const SETTINGS = {
  // Test databases need not survive a crash of the machine.
  fsync: 'off',
  // Keeps shared memory in the data folder, which is deleted.
  dynamic_shared_memory_type: 'mmap',
};

/** Starts a separate PostgreSQL server with temporary data. */
export async function startOwnPostgres(settings: Readonly<Record<string, string>> = {}): Promise<Child> {
  return startEmbeddedPostgres({
    folder: await temporaryFolder(),
    temporary: true,
    settings: { ...SETTINGS, ...settings },
    execArgv: ['--import', new URL('../compile/typescript.mjs', import.meta.url).href],
  });
}

/** Creates a folder for data of PostgreSQL, in memory if there is enough: cloning a database creates 300 files, which takes a disk 200 ms. */
export async function temporaryFolder(): Promise<string> {
  const space = await statfs(MEMORY).catch(() => undefined);
  const isEnough = space !== undefined && space.bavail * space.bsize > NEEDED_BYTES;
  const folder = await mkdtemp(join(isEnough ? MEMORY : tmpdir(), `${PREFIX}${process.pid}-`));
  // If root runs the tests, PostgreSQL runs as another account. This account must be able to enter the folder.
  await chmod(folder, 0o755);
  return folder;
}

/** Removes the folders of processes that were killed. */
export async function removeLeftFolders(): Promise<void> {
  for (const parent of [MEMORY, tmpdir()]) {
    for (const name of await readdir(parent).catch(() => [])) {
      const owner = name.startsWith(PREFIX) ? /^\d+(?=-)/.exec(name.slice(PREFIX.length)) : null;
      if (owner === null || (await processCommand(Number(owner[0]))) !== undefined) continue;
      // Keeps a folder that belongs to another account.
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
    }
  }
}
