import { PROMISES } from './promises.mjs';

/**
 * What Jest's results and the notes of the tests say of each promise, or of those in `ids`; `leftOut` names promises whose tests were
 * not to be run.
 */
export function rowsOf(suites, notes, { ids = [], leftOut = [] } = {}) {
  const tests = suites.flatMap(({ assertionResults }) => assertionResults);
  return PROMISES.filter(({ id }) => ids.length === 0 || ids.includes(id)).map(({ id, promise }) => {
    const own = tests.filter(({ fullName }) => idsOf(fullName).includes(id));
    const figures = notes.filter((note) => note.id === id && note.figure !== undefined);
    const bugs = notes.filter((note) => note.id === id && note.seededBug !== undefined);
    return {
      id,
      promise,
      result: resultOf(own, figures, bugs, leftOut.includes(id)),
      figures: distinct(figures, ({ figure, bound }) => ({ figure, bound })),
      isPart: leftOut.includes(id),
      seededBugsCaught: distinct(bugs, ({ seededBug }) => seededBug),
    };
  });
}

function resultOf(tests, figures, bugs, isPart) {
  if (tests.length === 0) return isPart ? 'not run' : 'no test';
  if (tests.some(({ status }) => status === 'failed')) return 'failed';
  // A test that stays green with its bug proves nothing, and neither does one that measures nothing. The bug may be in another file.
  return figures.length > 0 && (bugs.length > 0 || isPart) ? 'passed' : 'not proven';
}

const distinct = (notes, select) =>
  [...new Set(notes.map((note) => JSON.stringify(select(note))))].map((text) => JSON.parse(text));

/** The promises that the title of a test names. */
export const idsOf = (title) => title.match(/\bR\d+\b/g) ?? [];
