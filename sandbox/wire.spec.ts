import { describe, expect, it } from '@jest/globals';
import { readRegistration, sessionTimestamp, userResponse, userTimestamp } from './wire.js';

const registration = (eans: string) => `{"tenantReference":"A-1","gridLocations":[${eans}]}`;

describe('the wire formats', () => {
  it('writes user times with fractional seconds and Z, and session times with whole seconds and a numeric offset', () => {
    const at = Date.UTC(2026, 10, 20, 23, 10, 0, 120);
    expect(userTimestamp(at)).toBe('2026-11-20T23:10:00.120Z');
    expect(sessionTimestamp(at)).toBe('2026-11-20T23:10:00+00:00');
  });

  it('writes the EAN of a user as a bare number', () => {
    const user = {
      id: 'u',
      tenantReference: 'A "1"',
      createdAt: Date.UTC(2026, 0, 2),
      gridLocations: [{ id: 'g', ean: '541448860000000013' }],
    };
    expect(userResponse(user, 'T').body).toBe(
      '{"id":"u","firstName":"","lastName":"","email":"","tenantName":"T","tenantReference":"A \\"1\\"",' +
        '"createdAt":"2026-01-02T00:00:00.000Z","updatedAt":"2026-01-02T00:00:00.000Z",' +
        '"gridLocations":[{"id":"g","ean":541448860000000013}]}',
    );
  });

  it('reads every digit of an EAN, and leaves digits inside strings alone', () => {
    expect(readRegistration(registration('{"ean":541448860000000013},{"ean": 999999999999999999 }'))).toEqual(
      { tenantReference: 'A-1', eans: ['541448860000000013', '999999999999999999'] },
    );
    const text = '{"tenantReference":"ref \\"-12 \\\\ 541448860000000013","gridLocations":[]}';
    expect(readRegistration(text)).toEqual({ tenantReference: 'ref "-12 \\ 541448860000000013', eans: [] });
  });

  it.each([
    ['a string', '{"ean":"541448860000000013"}'],
    ['17 digits', '{"ean":54144886000000001}'],
    ['19 digits', '{"ean":5414488600000000131}'],
    ['a fraction', '{"ean":541448860000000013.0}'],
    ['an exponent', '{"ean":541448860000000013e0}'],
    ['a negative number', '{"ean":-541448860000000013}'],
    ['nothing', '{}'],
    ['an array of digits', '{"ean":["541448860000000013"]}'],
  ])('refuses as an EAN: %s', (_what, location) => {
    expect(readRegistration(registration(location))).toMatch(/ean that is a number of 18 digits/);
  });
});
