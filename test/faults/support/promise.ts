import { appendFileSync } from 'node:fs';

/** Whether to measure at full length, as `npm run test:faults` does; otherwise with fewer repetitions of the same. */
export const isLong = process.env.PROMISES_AT_LENGTH === 'true';

/** What was measured of the promise with this id, and what it may be; before it is judged, so that a broken one has a figure, too. */
export const promise = (id: `R${number}`, measured: { figure: string; bound: string }): void =>
  note({ id, ...measured });

/** The test of the promise with this id has found the bug that was put in on purpose. */
export const caught = (id: `R${number}`, seededBug: string): void => note({ id, seededBug });

function note(line: object): void {
  const file = process.env.PROMISES_FILE;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`);
}
