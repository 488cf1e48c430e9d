import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LONG, runJest } from './jest.mjs';
import { idsOf, rowsOf } from './promise-rows.mjs';

const USAGE = `usage: npm run test:faults [-- [--longer] [--json] [R3 R17 ...]]
  --longer  only the files that npm test runs in a shorter form or not at all, even if test/faults is named
  --json    the results as JSON
  R3 ...    only these promises`;

/** Matches a test title that begins with the id of a promise. */
const TITLE = /['"`](R\d+)[: ]/g;
/** Matches the source of a test file that npm test runs in a shorter form. */
const HAS_LENGTHS = /\b(isLong|itAtLength|allAtLength)\b/;
const FAILED = ['failed', 'not proven', 'no test'];
/** Jest replaces a worker process that uses more memory. Otherwise, garbage of earlier test files would distort measurements. */
const WORKER_MEMORY = '700MB';

/** Runs the tests of the promises, prints the results, and returns the exit code. */
export async function testFaults(args) {
  const ids = args.filter((arg) => /^R\d+$/.test(arg));
  const flags = args.filter((arg) => !ids.includes(arg));
  if (!flags.every((flag) => ['--longer', '--json'].includes(flag))) {
    console.error(USAGE);
    return 1;
  }
  const found = await filesOf(ids);
  const wanted = found.filter(({ isLonger }) => isLonger || !flags.includes('--longer'));
  const leftOut = found.filter((file) => !wanted.includes(file)).flatMap((file) => file.ids);
  const files = wanted.map(({ name }) => name);
  if (files.length === 0) {
    console.log('0 passed, 0 failed');
    return 0;
  }
  // One file at a time, because most files measure durations and start enough processes to keep a second core busy.
  const { code, results, notes } = await runJest(
    ['--maxWorkers=1', `--workerIdleMemoryLimit=${WORKER_MEMORY}`, '--runTestsByPath', ...files],
    { PROMISES_AT_LENGTH: 'true' },
  );
  const suites = results?.testResults ?? [];
  const rows = rowsOf(suites, notes, { ids, leftOut });
  const others = failuresOutside(suites);
  if (flags.includes('--json')) console.log(JSON.stringify(rows, null, 2));
  else rows.filter(({ result }) => result !== 'not run').forEach(printRow);
  for (const failure of others) console.log(`failed, of no promise: ${failure}`);
  const passed = rows.filter(({ result }) => result === 'passed').length;
  const failed = rows.filter(({ result }) => FAILED.includes(result)).length + others.length;
  console.log(`${passed} passed, ${failed} failed`);
  return failed > 0 ? code || 1 : code;
}

function printRow({ id, promise, result, figures, seededBugsCaught, isPart }) {
  const none = isPart ? 'by the tests that were not run' : 'none';
  console.log(`${id.padEnd(3)}  ${result.padEnd(10)}  ${promise}`);
  for (const { figure, bound } of figures) console.log(`     measured: ${figure}; bound: ${bound}`);
  if (result !== 'no test') console.log(`     seeded bugs caught: ${seededBugsCaught.join('; ') || none}`);
}

/**
 * Returns the test files of the promises in `ids`. If `ids` is empty, returns the files of all promises, of test/faults, and of tests that
 * npm test shortens.
 */
async function filesOf(ids) {
  const found = [];
  for (const folder of ['src', 'sandbox', 'test']) {
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('.spec.ts')) continue;
      const file = join(folder, name);
      const source = await readFile(file, 'utf8');
      const titles = [...source.matchAll(TITLE)].map(([, id]) => id);
      const isLonger = name.endsWith(LONG) || HAS_LENGTHS.test(source);
      const isOfAll = titles.length > 0 || file.startsWith(join('test', 'faults')) || isLonger;
      if (ids.length === 0 ? isOfAll : titles.some((id) => ids.includes(id)))
        found.push({ name: file, ids: titles, isLonger });
    }
  }
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the names of files that could not run, and of failed tests that prove no promise. */
const failuresOutside = (suites) =>
  suites.flatMap(({ name, status, assertionResults }) =>
    status === 'failed' && assertionResults.length === 0
      ? [name]
      : assertionResults
          .filter((test) => test.status === 'failed' && idsOf(test.fullName).length === 0)
          .map(({ fullName }) => fullName),
  );
