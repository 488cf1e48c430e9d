import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { anyInstant } from './instants.js';

/** The cursor of the second page of each list, by the path of the list. */
export type Cursors = Readonly<Record<string, string>>;

const readCursor = (cursor: string): unknown[] =>
  JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
const writeCursor = (values: unknown): string => Buffer.from(JSON.stringify(values)).toString('base64url');

/** Generates cursors like `real`, with changed values or a changed structure. */
export function oddCursor(real: string): fc.Arbitrary<string> {
  const values = readCursor(real);
  const changed = fc.tuple(
    ...values.map((value, index) =>
      fc.oneof(
        // Mostly keeps the name of the list: without it, the rest of the cursor is not looked at.
        { weight: index === 0 ? 30 : 3, arbitrary: fc.constant(value) },
        { weight: 2, arbitrary: anyInstant.map(({ text }) => text) },
        {
          weight: 2,
          arbitrary: fc.constantFrom(
            '0',
            '00',
            '-1',
            '9223372036854775808',
            'f'.repeat(32),
            `{${randomUUID()}}`,
          ),
        },
        {
          weight: 1,
          arbitrary: fc.constantFrom<unknown>(null, 0, 1e400, true, [], {}, ['x'], '', '\u0000', '\ud800'),
        },
      ),
    ),
  );
  return fc.oneof(
    { weight: 8, arbitrary: changed.map(writeCursor) },
    { weight: 1, arbitrary: changed.map((made) => writeCursor([...made, made[0]])) },
    { weight: 1, arbitrary: changed.map((made) => writeCursor(made.toReversed())) },
    { weight: 1, arbitrary: changed.map((made) => writeCursor(made.slice(1))) },
    { weight: 1, arbitrary: changed.map((made) => writeCursor({ ...made, length: made.length })) },
    { weight: 1, arbitrary: changed.map((made) => `${writeCursor(made)}=.`) },
  );
}
