import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROMISES } from './promises.mjs';
import { printTable } from './promise-table.mjs';
import { runJest } from './test.mjs';

const USAGE = `usage: npm run test:faults [-- [--short] [--json] [R3 R17 ...]]
  --short  no more than npm test does of each
  --json   the table as JSON
  R3 ...   only these promises`;

/** A title that begins with the id of a promise. */
const TITLE = /['"`](R\d+)[: ]/g;
/** Left out by --short. */
const LONG = '.long.spec.ts';
/** A promise that no test is about is as good as broken. */
const FAILED = ['failed', 'not proven', 'no test'];
/** A worker that has grown beyond this is replaced before its next file, so that none measures the leavings of the others. */
const WORKER_MEMORY = '700MB';

/** Proves the promises, measures, and prints what it comes to; returns the exit code. */
export async function testFaults(args) {
  const ids = args.filter((arg) => /^R\d+$/.test(arg));
  const flags = args.filter((arg) => !ids.includes(arg));
  if (!flags.every((flag) => ['--short', '--json'].includes(flag))) {
    console.error(USAGE);
    return 1;
  }
  const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-promises-'));
  const file = join(folder, 'figures');
  try {
    const isShort = flags.includes('--short');
    const found = await filesOf(ids);
    const files = found.filter(({ name }) => !isShort || !name.endsWith(LONG)).map(({ name }) => name);
    const leftOut = found.filter(({ name }) => !files.includes(name)).flatMap((file) => file.ids);
    // One file at a time: most of them measure times, and start processes enough to keep a second core busy.
    const args = ['--maxWorkers=1', `--workerIdleMemoryLimit=${WORKER_MEMORY}`, '--runTestsByPath', ...files];
    const { code, results } = await runJest(args, {
      PROMISES_FILE: file,
      PROMISES_AT_LENGTH: String(!isShort),
    });
    const notes = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(JSON.parse);
    const rows = rowsOf(results?.testResults ?? [], notes, { ids, leftOut });
    const others = failuresOutside(results?.testResults ?? []);
    if (flags.includes('--json')) console.log(JSON.stringify(rows, null, 2));
    else printTable(rows);
    for (const failure of others) console.log(`failed, of no promise: ${failure}`);
    const passed = rows.filter(({ result }) => result === 'passed').length;
    const failed = rows.filter(({ result }) => FAILED.includes(result)).length + others.length;
    console.log(`${passed} passed, ${failed} failed`);
    return failed > 0 ? code || 1 : code;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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

function rowsOf(suites, notes, { ids, leftOut }) {
  const tests = suites.flatMap(({ assertionResults }) => assertionResults);
  return PROMISES.filter(({ id }) => ids.length === 0 || ids.includes(id)).map(({ id, promise }) => {
    const own = tests.filter(({ fullName }) => idsOf(fullName).includes(id));
    const figures = notes.filter((note) => note.id === id && note.figure !== undefined);
    const bugs = notes.filter((note) => note.id === id && note.seededBug !== undefined);
    return {
      id,
      promise,
      result:
        own.length > 0 ? resultOf(own, figures, bugs) : leftOut.includes(id) ? 'at full length' : 'no test',
      figures: distinct(figures, ({ figure, bound }) => ({ figure, bound })),
      seededBugsCaught: distinct(bugs, ({ seededBug }) => seededBug),
    };
  });
}

function resultOf(tests, figures, bugs) {
  if (tests.some(({ status }) => status === 'failed')) return 'failed';
  // A test that stays green with its bug proves nothing, and neither does one that measures nothing.
  return figures.length > 0 && bugs.length > 0 ? 'passed' : 'not proven';
}

const distinct = (notes, select) =>
  [...new Set(notes.map((note) => JSON.stringify(select(note))))].map((text) => JSON.parse(text));

/** A file that could not be run, or a failed test without an id. */
const failuresOutside = (suites) =>
  suites.flatMap(({ name, status, assertionResults }) =>
    status === 'failed' && assertionResults.length === 0
      ? [name]
      : assertionResults
          .filter((test) => test.status === 'failed' && idsOf(test.fullName).length === 0)
          .map(({ fullName }) => fullName),
  );

const idsOf = (title) => title.match(/\bR\d+\b/g) ?? [];
