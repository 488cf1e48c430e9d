import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { nearestInstant, parseInstant } from './instant.rules.js';

const FIRST = '0001-01-01T00:00:00.000Z';
const LAST = '9999-12-31T23:59:59.999Z';

describe('an instant', () => {
  it.each([
    ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20t10:00:00z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20T10:00:00.1Z', '2026-11-20T10:00:00.100Z'],
    ['2026-11-20T10:00:00.123999999999Z', '2026-11-20T10:00:00.123Z'],
    ['1969-12-31T23:59:59.9999Z', '1969-12-31T23:59:59.999Z'],
    ['2026-11-20T10:00:00+05:45', '2026-11-20T04:15:00.000Z'],
    ['2026-11-20T10:00:00-00:00', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20T00:00:00-23:59', '2026-11-20T23:59:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', FIRST],
    ['0001-01-01T00:00:00-02:00', '0001-01-01T02:00:00.000Z'],
    ['0000-12-31T23:30:00-01:00', '0001-01-01T00:30:00.000Z'],
    ['0099-03-01T00:00:00Z', '0099-03-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.9999Z', LAST],
  ])('is %s', (text, at) => {
    expect(parseInstant(text)).toEqual({ kind: 'instant', at: new Date(at) });
    expect(parseInstant(text, 'remote')).toEqual({ kind: 'instant', at: new Date(at) });
  });

  it.each([
    ['0001-01-01T00:00:00+02:00', FIRST],
    ['0000-02-29T12:00:00Z', FIRST],
    ['9999-12-31T23:59:59-23:59', LAST],
  ])('is outside the valid range: %s', (text, nearest) =>
    expect(parseInstant(text)).toEqual({ kind: 'outside', nearest: new Date(nearest) }),
  );

  it.each([
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-02-31T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2016-12-31T23:59:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+23:60',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00:00.Z',
    '2026-01-01 00:00:00Z',
    '2026-01-01',
    '10000-01-01T00:00:00Z',
    '+010000-01-01T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    '２０２６-01-01T00:00:00Z',
    'infinity',
    '',
    1_795_000_000,
    null,
    undefined,
    ['2026-01-01T00:00:00Z'],
  ])('is not %j', (value) => {
    expect(parseInstant(value)).toEqual({ kind: 'none' });
    expect(parseInstant(value, 'remote')).toEqual({ kind: 'none' });
  });

  it.each(['2026-11-20T10:00Z', '2026-11-20T10:00:00+0000', '2026-11-20T10:00+0000'])(
    'is %s only in the form of the remote service',
    (text) => {
      const at = new Date('2026-11-20T10:00:00Z');
      expect(parseInstant(text, 'remote')).toEqual({ kind: 'instant', at });
      expect(parseInstant(text)).toEqual({ kind: 'none' });
    },
  );

  it('is every instant from the first to the last as JavaScript writes it, at any offset', () => {
    const instants = fc.date({ min: new Date(FIRST), max: new Date(LAST), noInvalidDate: true });
    const offsets = fc.integer({ min: -1_439, max: 1_439 });
    fc.assert(
      fc.property(instants, offsets, (at, minutes) => {
        expect(parseInstant(at.toISOString())).toEqual({ kind: 'instant', at });
        const local = new Date(at.getTime() + minutes * 60_000).toISOString();
        const [hours, rest] = [Math.abs(minutes) / 60, Math.abs(minutes) % 60];
        const offset = `${minutes < 0 ? '-' : '+'}${two(Math.floor(hours))}:${two(rest)}`;
        if (/^[+-]/.test(local)) return;
        expect(parseInstant(local.replace('Z', offset))).toEqual({ kind: 'instant', at });
      }),
    );
  });

  it.each([
    [-Infinity, FIRST],
    [-8.64e15, FIRST],
    [0, '1970-01-01T00:00:00.000Z'],
    [8.64e15, LAST],
    [Infinity, LAST],
  ])('is nearest to %d ms', (ms, at) => expect(nearestInstant(ms)).toEqual(new Date(at)));
});

const two = (value: number): string => String(value).padStart(2, '0');
