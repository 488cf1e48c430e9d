import { execFile, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/test-process.js';

/** The commit of the release before this one. CONTRIBUTING.md says when to change it. */
export const PREVIOUS_RELEASE = 'f5be7bec0984787e301f406b62c6bf4d874a47a0';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const BUILD = fileURLToPath(new URL('../../setup/compile/build-release.mjs', import.meta.url));

/** Returns whether this clone has the commit. A shallow one does not. */
export const hasPreviousRelease = (): boolean =>
  spawnSync('git', ['cat-file', '-e', `${PREVIOUS_RELEASE}^{commit}`], { cwd: ROOT }).status === 0;

/** Returns the names of the migrations of the previous release, in order. */
export function previousMigrations(): string[] {
  const { stdout } = spawnSync(
    'git',
    ['ls-tree', '-d', '--name-only', `${PREVIOUS_RELEASE}:prisma/migrations`],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  );
  return stdout.split('\n').filter(Boolean);
}

/** Builds the previous release from the history of git, unless it is built. Returns a function that starts a process of it. */
export async function buildPreviousRelease() {
  const { stdout: main } = await promisify(execFile)(process.execPath, [BUILD, PREVIOUS_RELEASE]);
  return (environment: Record<string, string>): Promise<TestProcess> =>
    startTestProcess(main, { ...testEnvironment(), ...environment }, tmpdir());
}
