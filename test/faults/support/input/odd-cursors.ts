import fc from 'fast-check';
import { anyInstant } from './instants.js';

/** Texts at the limits of RFC 3339, JavaScript dates, PostgreSQL timestamps, four-digit years, months and leap days. */
export const EDGE_INSTANTS = [
  '2026-11-20T09:00:00.000Z',
  '1970-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '2024-02-29T00:00:00.000Z',
  '0001-01-01T00:00:00.000Z',
  '0099-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59.999Z',
  '0001-01-01T00:00:00+02:00',
  '9999-12-31T23:59:59-23:59',
  '2026-11-20T09:00:00.123456789Z',
  '2026-11-20t09:00:00.000z',
  '2026-11-20T09:00:00+14:00',
  '2026-11-20T09:00:00-00:00',
  '2026-11-20T09:00:00+24:00',
  '2026-11-20T09:00:60.000Z',
  '2026-11-20T23:59:60.000Z',
  '2026-11-20T09:00:00',
  '2026-11-20 09:00:00Z',
  '2026-11-20',
  '0000-01-01T00:00:00.000Z',
  '0000-12-31T23:59:59.999Z',
  '2023-02-29T00:00:00.000Z',
  '2026-02-31T00:00:00.000Z',
  '2026-04-31T00:00:00.000Z',
  '2026-11-20T24:00:00.000Z',
  '9999-12-31T24:00:00.000Z',
  '2026-00-01T00:00:00.000Z',
  '2026-13-01T00:00:00.000Z',
  '2026-01-00T00:00:00.000Z',
  '2026-11-20T25:00:00.000Z',
  '2026-11-20T09:60:00.000Z',
  '10000-01-01T00:00:00.000Z',
  '+010000-01-01T00:00:00.000Z',
  '+275760-09-13T00:00:00.000Z',
  '-000001-01-01T00:00:00.000Z',
  '-271821-04-20T00:00:00.000Z',
  '294277-01-01T00:00:00.000Z',
  '4714-11-24T00:00:00.000Z BC',
  'infinity',
  '-infinity',
  'now',
  'epoch',
] as const;

export const EDGE_INTEGERS = [
  '0',
  '00',
  '1',
  '000000000000000001',
  '9'.repeat(18),
  '9223372036854775807',
  '-1',
  '1e3',
  '٣',
];
const EDGE_UUIDS = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'FFFFFFFF-FFFF-4FFF-8FFF-FFFFFFFFFFFF',
  '{00000000-0000-0000-0000-000000000000}',
  '00000000000000000000000000000000',
];

/** The cursor of the second page of each list, by the path of the list. */
export type Cursors = Readonly<Record<string, string>>;

export const readCursor = (cursor: string): unknown[] =>
  JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
export const writeCursor = (values: unknown): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url');

/** Returns edge values of the same type as `value`: integer, instant or UUID. */
export function edgesLike(value: unknown): readonly string[] {
  if (/^\d+$/.test(String(value))) return EDGE_INTEGERS;
  return String(value).includes('T') ? EDGE_INSTANTS : EDGE_UUIDS;
}

/** Generates cursors like `real`, with changed values or a changed structure. */
export function oddCursor(real: string): fc.Arbitrary<string> {
  const values = readCursor(real);
  const changed = fc.tuple(
    ...values.map((value) =>
      fc.oneof(
        { weight: 3, arbitrary: fc.constant(value) },
        { weight: 3, arbitrary: fc.constantFrom<unknown>(...edgesLike(value)) },
        { weight: 1, arbitrary: anyInstant.map(({ text }) => text) },
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
