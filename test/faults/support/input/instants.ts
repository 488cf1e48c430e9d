import fc from 'fast-check';

/** A generated text and its meaning, which is known by construction. */
export interface MadeInstant {
  readonly text: string;
  /** Milliseconds since 1970. If out of range: `before` the year 1 or `after` the year 9999. If not an instant: `none`. */
  readonly is: number | 'before' | 'after' | 'none';
  /** Whether the text follows RFC 3339 and not only ISO 8601. */
  readonly isRfc3339: boolean;
}

export const FIRST = '0001-01-01T00:00:00.000Z';
export const LAST = '9999-12-31T23:59:59.999Z';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const FIRST_MS = Date.parse(FIRST);
const LAST_MS = Date.parse(LAST);
const YEAR_0_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LEAP_DAYS = [4, 96, 400, 1600, 1904, 2000, 2024, 9996].map((year) =>
  Date.parse(`${String(year).padStart(4, '0')}-02-29T12:00:00.000Z`),
);

const near = (instants: readonly number[], ms: number) =>
  fc.tuple(fc.constantFrom(...instants), fc.integer({ min: -ms, max: ms })).map(([at, by]) => at + by);

const offset = fc.oneof(
  fc.constantFrom(0, 60, -60, 120, 345, 840, -720, 1_439, -1_439),
  fc.integer({ min: -1_439, max: 1_439 }),
);

const two = (value: number) => String(value).padStart(2, '0');

function offsetText(minutes: number, colon: string): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${colon}${two(size % 60)}`;
}

const HOW = fc.record({
  digits: fc.integer({ min: 0, max: 12 }),
  rest: fc.stringMatching(/^[0-9]{9}$/),
  colon: fc.constantFrom(':', ':', ':', ''),
  hasSeconds: fc.constantFrom(true, true, true, false),
  inUtc: fc.boolean(),
  isLower: fc.constantFrom(false, false, false, true),
});

/** Writes an instant with a UTC offset of `minutes`, or in UTC if its local year does not have four digits. */
const written = (ms: fc.Arbitrary<number>): fc.Arbitrary<MadeInstant> =>
  fc.tuple(ms, offset, HOW).map(([given, minutes, { digits, rest, colon, hasSeconds, inUtc, isLower }]) => {
    // Rounds down to the precision of the text.
    const unit = !hasSeconds ? MINUTE : digits >= 3 ? 1 : [1_000, 100, 10][digits]!;
    const at = Math.floor(given / unit) * unit;
    const local = new Date(at + minutes * MINUTE).toISOString();
    const isLocal = !inUtc && /^\d{4}-/.test(local);
    const [date, time] = (isLocal ? local : new Date(at).toISOString()).slice(0, -1).split('T') as [
      string,
      string,
    ];
    const fraction = digits === 0 ? '' : `.${(time.slice(9) + rest).slice(0, digits)}`;
    const zone = isLocal ? offsetText(minutes, colon) : 'Z';
    const text = `${date}T${hasSeconds ? time.slice(0, 8) + fraction : time.slice(0, 5)}${zone}`;
    return {
      text: isLower ? text.toLowerCase() : text,
      is: at < FIRST_MS ? 'before' : at > LAST_MS ? 'after' : at,
      isRfc3339: hasSeconds && (!isLocal || colon === ':'),
    };
  });

/** Instants of the year 0, and instants that are before the year 1 or after the year 9999 only because of their offset. */
const outside = fc.oneof(
  written(fc.integer({ min: YEAR_0_MS, max: FIRST_MS - 1 })),
  fc
    .tuple(fc.integer({ min: 1, max: 1_439 }), fc.constantFrom('', '.0', '.999999999999'))
    .chain(([ahead, fraction]) =>
      fc.constantFrom<MadeInstant>(
        { text: `0001-01-01T00:00:00${fraction}${offsetText(ahead, ':')}`, is: 'before', isRfc3339: true },
        { text: `9999-12-31T23:59:59${fraction}${offsetText(-ahead, ':')}`, is: 'after', isRfc3339: true },
      ),
    ),
);

const inside = written(
  fc.oneof(
    near([FIRST_MS + DAY, LAST_MS - DAY], DAY),
    near(LEAP_DAYS, DAY),
    near([0, Date.parse('2026-11-21T12:00:00Z')], DAY),
    fc.integer({ min: FIRST_MS, max: LAST_MS }),
  ),
);

/** Replacements for parts of an instant. Each replacement makes the instant invalid. */
const NONE: readonly (readonly [part: RegExp, instead: readonly string[]])[] = [
  [
    /^.{10}/,
    ['2026-02-29', '2026-02-30', '2026-02-31', '1900-02-29', '0001-02-29', '2026-04-31', '9999-11-31'],
  ],
  [/^.{10}/, ['2026-00-01', '2026-13-01', '2026-01-00', '2026-01-32', '0000-00-00', '9999-99-99']],
  [
    /^.{10}/,
    ['10000-01-01', '+010000-01-01', '-000001-12-31', '-0001-01-01', '999-01-01', '20261121', '2026-W47-6'],
  ],
  [/T.{8}/i, ['T24:00:00', 'T24:00:01', 'T25:00:00', 'T99:00:00', 'T23:60:00', 'T23:59:60', 'T23:59:61']],
  [/T/i, [' ', '', 'T ', 'TT', '_']],
  [
    /(Z|[+-]\d\d:?\d\d)$/i,
    ['', '+24:00', '-24:00', '+23:60', '+99:99', '+1:00', '+010', 'UTC', 'Z+00:00', '[UTC]'],
  ],
  [/$/, ['\n', ' ', 'Z', ' BC', '\u0661']],
  [/^.*$/s, ['', 'now', 'infinity', '-infinity', 'epoch', 'null', '0', '1795255200', '1e12', '12/31/9999']],
];

const none = fc
  .tuple(
    inside.filter(({ isRfc3339 }) => isRfc3339),
    fc.constantFrom(...NONE.flatMap(([part, texts]) => texts.map((instead) => ({ part, instead })))),
  )
  .map(([{ text }, { part, instead }]): MadeInstant => {
    return { text: text.replace(part, instead), is: 'none', isRfc3339: false };
  });

/** Generates instants in range, instants out of range and invalid texts, a third each. */
export const anyInstant: fc.Arbitrary<MadeInstant> = fc.oneof(inside, outside, none);

const canonicalInstant = near([FIRST_MS + DAY, LAST_MS - DAY, ...LEAP_DAYS], DAY).map((is): MadeInstant => ({
  text: new Date(is).toISOString(),
  is,
  isRfc3339: true,
}));

// Equal arguments give equal instants.
export const makeInstants = (numRuns: number, seed: number): MadeInstant[] =>
  fc.sample(anyInstant, { numRuns, seed });

/** Returns instants in and out of range, but no invalid texts. */
export const makeRealInstants = (numRuns: number, seed: number): MadeInstant[] =>
  fc.sample(fc.oneof(inside, outside), { numRuns, seed });

export const makeCanonicalInstants = (numRuns: number, seed: number): MadeInstant[] =>
  fc.sample(canonicalInstant, { numRuns, seed });
