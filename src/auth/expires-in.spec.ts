import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { itAtLength, promise } from '../../test/faults/support/promise.js';
import { LosslessNumber } from '../platform/json/lossless.js';
import { readExpiresIn } from './expires-in.rules.js';

const NOW = new Date('2026-11-20T10:00:00Z');
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ASSUMED = 15 * MINUTE;

const TABLE: readonly [unknown, number, string][] = [
  ['2026-11-27T10:00:00.1234567Z', 7 * DAY + 123, 'timestamp'],
  ['2026-11-27T10:00:00Z', 7 * DAY, 'timestamp'],
  ['2026-11-27T11:00:00+01:00', 7 * DAY, 'timestamp'],
  ['2026-11-27T11:00:00+0100', 7 * DAY, 'timestamp'],
  [' 2026-11-27T10:00Z ', 7 * DAY, 'timestamp'],
  ['2126-11-20T10:00:00Z', 14 * DAY, 'timestamp'],
  // Without a zone: the earliest possible instant, 14 hours before the same time in UTC.
  ['2026-11-27T10:00:00', 7 * DAY - 14 * HOUR, 'timestamp_without_zone'],
  ['2026-11-27 10:00:00.5', 7 * DAY - 14 * HOUR + 500, 'timestamp_without_zone'],
  ['2026-11-20T11:00:00', ASSUMED, 'timestamp_without_zone'],
  [3600, HOUR, 'seconds'],
  ['3600', HOUR, 'seconds'],
  [' 3600 ', HOUR, 'seconds'],
  ['3600.5', HOUR + 500, 'seconds'],
  [1_209_600, 14 * DAY, 'seconds'],
  [1_209_601, 14 * DAY, 'seconds'],
  [999_999_999, 14 * DAY, 'seconds'],
  [59, 59 * SECOND, 'seconds'],
  [0.001, SECOND, 'seconds'],
  [NOW.getTime() / 1_000 + 3_600, HOUR, 'epoch_seconds'],
  [`${NOW.getTime() / 1_000 + 3_600}`, HOUR, 'epoch_seconds'],
  [NOW.getTime() + HOUR, HOUR, 'epoch_ms'],
  [`${NOW.getTime() + HOUR}`, HOUR, 'epoch_ms'],
  ['2020-01-01T00:00:00Z', ASSUMED, 'timestamp'],
  [1e9, ASSUMED, 'epoch_seconds'],
  [1e11, ASSUMED, 'epoch_ms'],
  [1e14, 14 * DAY, 'epoch_ms'],
  [NOW.getTime() / 1_000 - 3_600, ASSUMED, 'epoch_seconds'],
  [0, ASSUMED, 'seconds'],
  ['0', ASSUMED, 'seconds'],
  [-3_600, ASSUMED, 'seconds'],
  ['-3600', ASSUMED, 'not_understood'],
  [NaN, ASSUMED, 'not_understood'],
  [Infinity, ASSUMED, 'not_understood'],
  [1e300, ASSUMED, 'not_understood'],
  [new LosslessNumber('3600.00000000000000001'), HOUR, 'seconds'],
  ['2026-99-99T99:99:99Z', ASSUMED, 'not_understood'],
  ['2027-02-31T00:00:00Z', ASSUMED, 'not_understood'],
  ['0001-01-01T00:00:00+02:00', ASSUMED, 'timestamp'],
  ['9999-12-31T23:59:59-23:59', 14 * DAY, 'timestamp'],
  ['P14D', ASSUMED, 'not_understood'],
  ['0x10', ASSUMED, 'not_understood'],
  ['1e3', ASSUMED, 'not_understood'],
  ['', ASSUMED, 'not_understood'],
  ['soon', ASSUMED, 'not_understood'],
  [null, ASSUMED, 'not_understood'],
  [undefined, ASSUMED, 'not_understood'],
  [true, ASSUMED, 'not_understood'],
  [[3600], ASSUMED, 'not_understood'],
  [{ seconds: 3600 }, ASSUMED, 'not_understood'],
];

type Reader = typeof readExpiresIn;

/** Returns whether `read` fulfils promise R14: it does not throw, and it returns a lifetime between 1 second and 14 days. */
function holds(read: Reader, value: unknown): boolean {
  try {
    const { lifetimeMs } = read(value, NOW);
    return lifetimeMs >= SECOND && lifetimeMs <= 14 * DAY;
  } catch {
    return false;
  }
}

describe('R14: expires_in is read, whatever it is', () => {
  it.each(TABLE)('%j is %i ms (%s)', (value, lifetimeMs, reading) =>
    expect(readExpiresIn(value, NOW)).toEqual({ lifetimeMs, reading }),
  );

  beforeAll(() => {
    const broken = TABLE.filter(([value]) => !holds(readExpiresIn, value));
    promise('R14', { figure: `${broken.length} of ${TABLE.length} values break it`, bound: '0' });
  });

  it('never throws, and returns between 1 second and 14 days', () => {
    fc.assert(fc.property(fc.anything(), (value) => holds(readExpiresIn, value)));
    fc.assert(
      fc.property(fc.double(), (value) => holds(readExpiresIn, value) && holds(readExpiresIn, `${value}`)),
    );
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (value) => holds(readExpiresIn, value.toISOString())),
    );
  });

  itAtLength('turns red with Number()', () => {
    const naive: Reader = (value) => ({ lifetimeMs: Number(value) * 1_000, reading: 'seconds' });
    const broken = TABLE.filter(([value]) => !holds(naive, value)).map(([value]) => value);
    expect(broken).toEqual(
      expect.arrayContaining(['2026-11-27T10:00:00Z', NOW.getTime() + HOUR, 0, null, 'P14D']),
    );
  });
});
