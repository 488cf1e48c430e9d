import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readMigrationNames } from './database/migrations/script.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GIT_TIMEOUT_MS = 5_000;
let build: ReturnType<typeof read> | undefined;

/** Returns the release of this process; reads it only once. `commit`: null if unknown. `newestMigration`: the newest of this release. */
export const readBuild = () => (build ??= read());

async function read() {
  const [commit, migrations] = await Promise.all([readCommit(ROOT), readMigrationNames()]);
  return { version: VERSION, commit, newestMigration: migrations.at(-1) ?? null };
}

/** Returns the commit from the file that the build of the image writes. If there is no such file, asks git. */
export async function readCommit(root: string): Promise<string | null> {
  const given = (await readFile(join(root, 'commit'), 'utf8').catch(() => '')).trim();
  return given === '' ? commitOfClone(root) : given;
}

/** Returns the commit that is checked out, or null in a folder that is not a clone. */
async function commitOfClone(root: string): Promise<string | null> {
  // Without --git-dir, git refuses a clone that belongs to another user.
  const args = ['--git-dir', join(root, '.git'), 'rev-parse', 'HEAD'];
  return promisify(execFile)('git', args, { timeout: GIT_TIMEOUT_MS }).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
}

/** The version in package.json. The relative path is the same from the build and from the sources. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

/** Names this process in logs, leases and /status, for people. */
export const REPLICA_NAME = `${hostname()}:${process.pid}`;
