import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runNode } from './run-node.mjs';

/** Minutes of killing and waiting; `npm run test:faults` runs these, too. */
const LONG = '\\.long\\.spec\\.ts$';

/**
 * Each file leaves some of its modules behind in the memory of its worker. One that has grown beyond this is replaced before its next
 * file; with gigabytes, its end takes longer than Jest waits for it.
 */
const WORKER_MEMORY = '1GB';

/** Runs Jest and ends with the line `N passed, N failed`; returns the exit code. */
export async function test(args) {
  const { code, results } = await runJest([
    // First, because Jest takes what follows an option of several values for one more value.
    ...args,
    `--workerIdleMemoryLimit=${WORKER_MEMORY}`,
    `--testPathIgnorePatterns=${LONG}`,
    '--testPathIgnorePatterns=/node_modules/',
  ]);
  const failed = results === undefined ? 1 : results.numFailedTests + results.numRuntimeErrorTestSuites;
  console.log(`${results?.numPassedTests ?? 0} passed, ${failed} failed`);
  return failed > 0 ? code || 1 : code;
}

/** Jest's exit code and its results as it writes them to a file; without results when it could not begin. */
export async function runJest(args, env = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-results-'));
  const file = join(folder, 'results.json');
  const jest = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    '--json',
    `--outputFile=${file}`,
    ...args,
  ];
  try {
    const code = await runNode(jest, { env: { ...process.env, NODE_ENV: 'test', ...env } });
    const results = await readFile(file, 'utf8').then(JSON.parse, () => undefined);
    return { code: results === undefined ? code || 1 : code, results };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
