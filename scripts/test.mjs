import { relative } from 'node:path';
import { LONG, runJest } from './jest.mjs';
import { ROOT } from './root.mjs';

/** Jest replaces a worker process that uses more memory. Test files leak modules, and Jest force-exits workers that exit slowly. */
const WORKER_MEMORY = '1GB';
const SLOWEST = 10;

/** Runs Jest. Skips test/faults and test/pages, which take as long as all others, unless `args` name test files. Prints `N passed, N failed` as the last line, and returns the exit code. */
export async function test(args) {
  const { code, results } = await runJest([
    // `args` must come first: after an option with several values, Jest would read them as further values of that option.
    ...args,
    `--workerIdleMemoryLimit=${WORKER_MEMORY}`,
    `--testPathIgnorePatterns=${LONG.replaceAll('.', '\\.')}$`,
    '--testPathIgnorePatterns=/test/container/',
    ...(args.every((arg) => arg.startsWith('-')) ? ['--testPathIgnorePatterns=/test/(faults|pages)/'] : []),
    '--testPathIgnorePatterns=/node_modules/',
  ]);
  printSlowest(results?.testResults ?? []);
  const failed = results === undefined ? 1 : results.numFailedTests + results.numRuntimeErrorTestSuites;
  console.log(`${results?.numPassedTests ?? 0} passed, ${failed} failed`);
  return failed > 0 ? code || 1 : code;
}

/** If there are more than SLOWEST files, prints the slowest ones with their durations. */
function printSlowest(files) {
  if (files.length <= SLOWEST) return;
  const times = files.map(({ name, startTime, endTime }) => ({
    name: relative(ROOT, name),
    seconds: (endTime - startTime) / 1_000,
  }));
  const sum = times.reduce((seconds, file) => seconds + file.seconds, 0);
  console.log(`${times.length} files, ${sum.toFixed(0)} s if run one by one. The slowest:`);
  for (const { name, seconds } of times.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST))
    console.log(`${seconds.toFixed(1).padStart(6)} s  ${name}`);
}
