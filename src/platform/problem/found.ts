import { Problem } from './problem.js';

export const nothingHere = (): Problem => new Problem('not_found', 'There is nothing at this path');

/** Returns `row`. If there is no row, throws Problem not_found, which names `what`. */
export function found<T>(row: T | null | undefined, what: string): T {
  if (row === null || row === undefined) throw new Problem('not_found', `There is no ${what}`);
  return row;
}
