import { LONG, runJest } from './jest.mjs';
import { rowsOf } from './promise-rows.mjs';
import { printTable } from './promise-table.mjs';

/**
 * Each file leaves some of its modules behind in the memory of its worker. One that has grown beyond this is replaced before its next
 * file; with gigabytes, its end takes longer than Jest waits for it.
 */
const WORKER_MEMORY = '1GB';

/**
 * Runs Jest and ends with the line `N passed, N failed`; returns the exit code. PROMISES_TABLE=true prints what was measured of the
 * promises, too.
 */
export async function test(args) {
  const { code, results, notes } = await runJest([
    // First, because Jest takes what follows an option of several values for one more value.
    ...args,
    `--workerIdleMemoryLimit=${WORKER_MEMORY}`,
    `--testPathIgnorePatterns=${LONG.replaceAll('.', '\\.')}$`,
    '--testPathIgnorePatterns=/node_modules/',
  ]);
  if (process.env.PROMISES_TABLE === 'true')
    printTable(rowsOf(results?.testResults ?? [], notes).filter(({ result }) => result !== 'no test'));
  const failed = results === undefined ? 1 : results.numFailedTests + results.numRuntimeErrorTestSuites;
  console.log(`${results?.numPassedTests ?? 0} passed, ${failed} failed`);
  return failed > 0 ? code || 1 : code;
}
