import { readFileSync } from 'node:fs';

/** The guarantees of the service under faults. A test that proves a guarantee has the id of the guarantee in its title. */
const PROMISES = readFileSync(new URL('../docs/guarantees.md', import.meta.url), 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, id = '']) => /^R\d+$/.test(id))
  .map(([, id, promise]) => ({ id, promise }))
  .sort((one, other) => Number(one.id.slice(1)) - Number(other.id.slice(1)));

/** Matches the title of a test that checks that the other tests find a bug. */
const SEEDED_BUG = /\bred\b|seeded bug/;

/**
 * Returns a row for each promise in `ids` (default: all). `leftOut`: the ids of promises with test files that were skipped.
 * @param {any[]} suites
 * @param {any[]} notes
 * @param {{ ids?: string[], leftOut?: string[] }} options
 */
export function rowsOf(suites, notes, { ids = [], leftOut = [] } = {}) {
  const tests = suites.flatMap(({ assertionResults }) => assertionResults);
  return PROMISES.filter(({ id }) => ids.length === 0 || ids.includes(id)).map(({ id, promise }) => {
    const own = tests.filter(({ fullName }) => idsOf(fullName).includes(id));
    const figures = notes.filter((note) => note.id === id && note.figure !== undefined);
    const bugs = own.filter(({ status, title }) => status === 'passed' && SEEDED_BUG.test(title));
    return {
      id,
      promise,
      result: resultOf(own, figures, bugs, leftOut.includes(id)),
      figures: distinct(figures, ({ figure, bound }) => ({ figure, bound })),
      isPart: leftOut.includes(id),
      seededBugsCaught: distinct(bugs, ({ title }) => title),
    };
  });
}

function resultOf(tests, figures, bugs, isPart) {
  if (tests.length === 0) return isPart ? 'not run' : 'no test';
  if (tests.some(({ status }) => status === 'failed')) return 'failed';
  // A promise is proven by a measured figure and a seeded bug that a test caught. If files were skipped, both may be in those files.
  return isPart || (figures.length > 0 && bugs.length > 0) ? 'passed' : 'not proven';
}

const distinct = (notes, select) =>
  [...new Set(notes.map((note) => JSON.stringify(select(note))))].map((text) => JSON.parse(text));

/** Returns the ids of the promises in the title of a test. */
export const idsOf = (title) => title.match(/\bR\d+\b/g) ?? [];
