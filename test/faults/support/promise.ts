import { appendFileSync } from 'node:fs';
import { it } from '@jest/globals';

/** True at full length, as in `npm run test:faults`. False with fewer repetitions. */
export const isLong = process.env.PROMISES_AT_LENGTH === 'true';

export const itAtLength = (title: string, test: () => void | Promise<void>, timeoutMs?: number): void => {
  if (isLong) it(title, test, timeoutMs);
};

/** Returns a bound of a duration, which holds on a quiet machine: at full length. Otherwise, tests are not judged by the clock. */
export const inTime = (ms: number): number => (isLong ? ms : Infinity);

export const allAtLength = <Case>(cases: readonly Case[]): Case[] => cases.slice(0, isLong ? undefined : 1);

/** Measures until `holds`, at most three times: a busy machine makes a figure worse, never better. Returns the last figure. */
export async function measureUntil<T>(holds: (figure: T) => boolean, measure: () => Promise<T>): Promise<T> {
  let figure = await measure();
  for (let nth = 1; nth < 3 && !holds(figure); nth++) figure = await measure();
  return figure;
}

/** Records a promise's measured figure and its bound. Call it before the assertion, so that a failing test also records its figure. */
export function promise(id: `R${number}`, measured: { figure: string; bound: string }): void {
  const file = process.env.PROMISES_FILE;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ id, ...measured })}\n`);
}
