import { LONG, runJest } from './jest.mjs';

/** Jest replaces a worker that uses more memory than this: test files leak modules, and Jest does not wait until a huge worker exits. */
const WORKER_MEMORY = '1GB';

/** Runs Jest, prints `N passed, N failed` as the last line, and returns the exit code. */
export async function test(args) {
  const { code, results } = await runJest([
    // `args` must come first: after an option with several values, Jest would take them for further values.
    ...args,
    `--workerIdleMemoryLimit=${WORKER_MEMORY}`,
    `--testPathIgnorePatterns=${LONG.replaceAll('.', '\\.')}$`,
    '--testPathIgnorePatterns=/test/container/',
    '--testPathIgnorePatterns=/node_modules/',
  ]);
  const failed = results === undefined ? 1 : results.numFailedTests + results.numRuntimeErrorTestSuites;
  console.log(`${results?.numPassedTests ?? 0} passed, ${failed} failed`);
  return failed > 0 ? code || 1 : code;
}
