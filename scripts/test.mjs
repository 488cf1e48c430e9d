import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runNode } from './run-node.mjs';

/** Minutes of killing and waiting; `npm run test:faults` runs these, too. */
const LONG = '\\.long\\.spec\\.ts$';

/** Runs Jest and ends with the line `N passed, N failed`; returns the exit code. */
export async function test(args) {
  const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-results-'));
  const file = join(folder, 'results.json');
  const withLong = args.includes('--long');
  const jest = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    '--json',
    `--outputFile=${file}`,
    ...(withLong ? [] : [`--testPathIgnorePatterns=${LONG}`, '--testPathIgnorePatterns=/node_modules/']),
    ...args.filter((arg) => arg !== '--long'),
  ];
  let code = await runNode(jest, { env: { ...process.env, NODE_ENV: 'test' } });
  try {
    const results = JSON.parse(await readFile(file, 'utf8'));
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    console.log(`${results.numPassedTests} passed, ${failed} failed`);
    if (failed > 0) code ||= 1;
  } catch {
    console.log('0 passed, 1 failed');
    code ||= 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return code;
}
