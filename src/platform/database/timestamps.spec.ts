import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { parseJsonTimestamp, parseTimestamp } from './timestamps.js';

const FIRST = '0001-01-01T00:00:00.000Z';
const LAST = '9999-12-31T23:59:59.999Z';

const ofPg = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => unknown;

describe('an instant from PostgreSQL', () => {
  it.each([
    '2026-11-21 05:41:24.123456+00',
    '2026-11-21 05:41:24.1+00',
    '2026-11-21 05:41:24+00',
    '2026-11-21 05:41:24.057+00',
    '2026-11-21 05:41:24.057+05:30',
    '2026-11-21 05:41:24-08',
    '0044-03-15 12:00:00+00',
    '0001-01-01 00:00:00+00',
    '9999-12-31 23:59:59.999+00',
  ])('%s is parsed as by pg', (text) => {
    expect(parseTimestamp(text)).toEqual(ofPg(text));
    expect(parseJsonTimestamp(asJson(text))).toEqual(ofPg(text));
  });

  it.each([
    ['0044-03-15 12:00:00+00 BC', FIRST],
    ['0001-01-01 00:00:00+02', FIRST],
    ['-infinity', FIRST],
    ['12026-11-21 05:41:24.5+00', LAST],
    ['294276-12-31 23:59:59.999999+00', LAST],
    ['infinity', LAST],
  ])('%s becomes the nearest valid instant', (text, nearest) => {
    expect(parseTimestamp(text)).toEqual(new Date(nearest));
    expect(parseJsonTimestamp(asJson(text))).toEqual(new Date(nearest));
  });

  it('keeps every millisecond', () => {
    const instants = fc.date({ min: new Date('1000-01-01T00:00:00Z'), noInvalidDate: true });
    const isKept = (at: Date) => {
      if (at.getUTCFullYear() > 9_999) return;
      const text = at.toISOString().replace('T', ' ').replace('Z', '+00');
      expect(parseTimestamp(text)).toEqual(at);
      // PostgreSQL writes no trailing zeros in a fraction, and no point without a fraction.
      expect(parseTimestamp(text.replace(/\.?(?<!0)0+\+00$/, '+00'))).toEqual(at);
    };
    fc.assert(fc.property(instants, isKept), { examples: [[new Date(0)], [new Date(120)]] });
  });
});

/** Formats an instant as json_build_object does. */
const asJson = (text: string): string =>
  text.replace(/^(\S+) (\S+)/, '$1T$2').replace(/([+-]\d\d)(?= |$)/, '$1:00');
