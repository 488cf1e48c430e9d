import fc from 'fast-check';

/** A generated text and its meaning, which is known by construction. */
export interface MadeInstant {
  readonly text: string;
  /** Milliseconds since 1970. If out of range: `before` the year 1 or `after` the year 9999. If not an instant: `none`. */
  readonly is: number | 'before' | 'after' | 'none';
}

export const FIRST = '0001-01-01T00:00:00.000Z';
export const LAST = '9999-12-31T23:59:59.999Z';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const EDGES = [
  FIRST,
  LAST,
  '1970-01-01T00:00:00Z',
  '2026-11-21T12:00:00Z',
  '0004-02-29T12:00:00Z',
  '2000-02-29T12:00:00Z',
];

const offset = fc.oneof(fc.constantFrom(0, 345, 1_439, -1_439), fc.integer({ min: -1_439, max: 1_439 }));

function zoneOf(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Writes an instant near an edge with any UTC offset, or in UTC if its local year does not have four digits. */
const real = fc
  .tuple(
    fc.constantFrom(...EDGES),
    fc.integer({ min: -DAY_MS, max: DAY_MS }),
    offset,
    fc.stringMatching(/^\d{0,9}$/),
  )
  .map(([edge, by, minutes, finer]): MadeInstant => {
    const at = Date.parse(edge) + by;
    const local = new Date(at + minutes * MINUTE_MS).toISOString();
    const utc = new Date(at).toISOString();
    const is = at < Date.parse(FIRST) ? 'before' : at > Date.parse(LAST) ? 'after' : at;
    if (/^\d{4}-/.test(local)) return { text: local.replace('Z', finer + zoneOf(minutes)), is };
    return /^\d{4}-/.test(utc) ? { text: utc.replace('Z', `${finer}Z`), is } : { text: utc, is: 'none' };
  });

/** Replacements for parts of an instant. Each replacement makes the instant invalid. */
const NONE: readonly (readonly [part: RegExp, instead: string])[] = [
  [
    /^.{10}/,
    '2026-02-29 1900-02-29 0001-02-29 2026-04-31 2026-00-01 2026-13-01 2026-01-00 2026-01-32 0000-00-00',
  ],
  [/^.{10}/, '10000-01-01 +010000-01-01 -000001-12-31 999-01-01 20261121 2026-W47-6'],
  [/T.{8}/, 'T24:00:01 T25:00:00 T23:60:00 T23:59:61 T T24:00:00'],
  [/Z$/, '+24:00 +23:60 +1:00 +010 UTC Z+00:00 ZZ'],
  [/^.*$/, 'now infinity -infinity epoch null 0 1795255200 1e12 12/31/9999'],
];
const none = fc
  .constantFrom(...NONE.flatMap(([part, words]) => words.split(' ').map((word) => [part, word] as const)))
  .map(([part, word]): MadeInstant => ({ text: '2026-11-21T12:00:00.000Z'.replace(part, word), is: 'none' }));

/** Generates instants in range, instants out of range and invalid texts. */
export const anyInstant: fc.Arbitrary<MadeInstant> = fc.oneof({ weight: 2, arbitrary: real }, none);

/** Equal arguments give equal instants. */
export const makeInstants = (numRuns: number, seed: number, from = anyInstant): MadeInstant[] =>
  fc.sample(from, { numRuns, seed });

/** Makes instants in and out of range, but no invalid texts. */
export const makeRealInstants = (numRuns: number, seed: number): MadeInstant[] =>
  makeInstants(
    numRuns,
    seed,
    real.filter(({ is }) => is !== 'none'),
  );
