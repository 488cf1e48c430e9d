import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LONG, runJest } from './jest.mjs';
import { idsOf, rowsOf } from './promise-rows.mjs';
import { printTable } from './promise-table.mjs';

const USAGE = `usage: npm run test:faults [-- [--short | --rest] [--json] [R3 R17 ...]]
  --short  no more than npm test does of each
  --rest   only the files that npm test leaves out
  --json   the table as JSON
  R3 ...   only these promises`;

/** A title that begins with the id of a promise. */
const TITLE = /['"`](R\d+)[: ]/g;
/** A promise that no test is about is as good as broken. */
const FAILED = ['failed', 'not proven', 'no test'];
/** A worker that has grown beyond this is replaced before its next file, so that none measures the leavings of the others. */
const WORKER_MEMORY = '700MB';

/** Proves the promises, measures, and prints what it comes to; returns the exit code. */
export async function testFaults(args) {
  const ids = args.filter((arg) => /^R\d+$/.test(arg));
  const flags = args.filter((arg) => !ids.includes(arg));
  if (!flags.every((flag) => ['--short', '--rest', '--json'].includes(flag))) {
    console.error(USAGE);
    return 1;
  }
  const [isShort, isRest] = [flags.includes('--short'), flags.includes('--rest')];
  const found = await filesOf(ids);
  const wanted = found.filter(({ name }) => (name.endsWith(LONG) ? !isShort : !isRest));
  const leftOut = found.filter((file) => !wanted.includes(file)).flatMap((file) => file.ids);
  const files = wanted.map(({ name }) => name);
  // One file at a time: most of them measure times, and start processes enough to keep a second core busy.
  const { code, results, notes } = await runJest(
    ['--maxWorkers=1', `--workerIdleMemoryLimit=${WORKER_MEMORY}`, '--runTestsByPath', ...files],
    { PROMISES_AT_LENGTH: String(!isShort) },
  );
  const suites = results?.testResults ?? [];
  const rows = rowsOf(suites, notes, { ids, leftOut });
  const others = failuresOutside(suites);
  if (flags.includes('--json')) console.log(JSON.stringify(rows, null, 2));
  else printTable(rows.filter(({ result }) => result !== 'not run'));
  for (const failure of others) console.log(`failed, of no promise: ${failure}`);
  const passed = rows.filter(({ result }) => result === 'passed').length;
  const failed = rows.filter(({ result }) => FAILED.includes(result)).length + others.length;
  console.log(`${passed} passed, ${failed} failed`);
  return failed > 0 ? code || 1 : code;
}

/** All in test/faults, and those elsewhere that prove a promise, with its id; of the promises that were asked for, if any were. */
async function filesOf(ids) {
  const found = [];
  for (const folder of ['src', 'test']) {
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('.spec.ts')) continue;
      const file = join(folder, name);
      const titles = [...(await readFile(file, 'utf8')).matchAll(TITLE)].map(([, id]) => id);
      const isWanted = ids.length === 0 ? titles.length > 0 : titles.some((id) => ids.includes(id));
      if (isWanted || (ids.length === 0 && file.startsWith(join('test', 'faults'))))
        found.push({ name: file, ids: titles });
    }
  }
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** A file that could not be run, or a failed test without an id. */
const failuresOutside = (suites) =>
  suites.flatMap(({ name, status, assertionResults }) =>
    status === 'failed' && assertionResults.length === 0
      ? [name]
      : assertionResults
          .filter((test) => test.status === 'failed' && idsOf(test.fullName).length === 0)
          .map(({ fullName }) => fullName),
  );
