import { describe, expect, it } from '@jest/globals';
import { readObject } from '../../remote/wire/read-field.js';
import { UnreadableResponse } from '../../remote/wire/read-response.js';
import { readRemoteUser } from './remote-user.rules.js';
import { readRegisterUserResponse, registerUserRequest } from './users.client.js';

const USER_ID = '0f6a4b6e-4a51-4c5e-9d3d-2f6f8c1f0a11';
const LOCATION_ID = '7c1f6a0e-93b2-4e54-8c77-0c8f7f2a9b22';
const EAN = '541448860004178019';
const REQUESTED = { tenantReference: 'customer-1', eans: [EAN] };

// The response of the remote service, in which the EAN is a JSON number.
const BODY = `{"id":"${USER_ID}","firstName":"","lastName":"","email":"","tenantName":"Supplier","tenantReference":"customer-1",
  "createdAt":"2026-03-05T10:11:12.123456Z","updatedAt":"2026-03-05T10:11:12.123456Z",
  "gridLocations":[{"id":"${LOCATION_ID}","ean":${EAN}}]}`;

const read = (body: string, requested: { tenantReference: string; eans: string[] } = REQUESTED) =>
  readRegisterUserResponse(readObject(body), requested);

describe('the request', () => {
  it('contains every EAN as a bare number with all its digits', () => {
    const { body, ...request } = registerUserRequest({
      tenantReference: 'a "b" \\ é',
      eans: [EAN, '999999999999999999'],
    });
    expect(body).toBe(
      `{"tenantReference":"a \\"b\\" \\\\ é","gridLocations":[{"ean":${EAN}},{"ean":999999999999999999}]}`,
    );
    expect(request).toEqual({
      operation: 'register_user',
      method: 'POST',
      path: '/api/v1/ssa/users',
      headers: { 'content-type': 'application/json' },
    });
  });
});

describe('the response', () => {
  it('is read with every digit', () => {
    expect(read(BODY)).toEqual({
      id: USER_ID,
      tenantReference: 'customer-1',
      tenantName: 'Supplier',
      firstName: '',
      lastName: '',
      email: '',
      gridLocations: [{ id: LOCATION_ID, ean: EAN }],
      createdAt: new Date('2026-03-05T10:11:12.123Z'),
      updatedAt: new Date('2026-03-05T10:11:12.123Z'),
    });
  });

  it('gives each name, the email address and each time its own field', () => {
    const body = BODY.replace(
      '"firstName":"","lastName":"","email":""',
      '"firstName":"Ada","lastName":"King","email":"ada@example.org"',
    ).replace('"updatedAt":"2026-03-05', '"updatedAt":"2026-03-06');
    expect(read(body)).toMatchObject({
      tenantName: 'Supplier',
      firstName: 'Ada',
      lastName: 'King',
      email: 'ada@example.org',
      createdAt: new Date('2026-03-05T10:11:12.123Z'),
      updatedAt: new Date('2026-03-06T10:11:12.123Z'),
    });
  });

  it('may lack names and times, have undocumented fields, and write ids in capitals', () => {
    const body = `{"id":"${USER_ID.toUpperCase()}","tenantReference":"customer-1","status":{"new":1},"lastName":null,"createdAt":"soon",
      "gridLocations":[{"id":"${LOCATION_ID.toUpperCase()}","ean":"${EAN}","meter":1},{"id":"${USER_ID}","ean":999999999999999999}]}`;
    expect(read(body)).toMatchObject({
      id: USER_ID,
      lastName: '',
      createdAt: null,
      gridLocations: [{ id: LOCATION_ID, ean: EAN }, {}],
    });
  });

  it('may have a thousand grid locations', () => {
    const others = Array.from({ length: 999 }, (_, nth) => {
      const id = `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`;
      return `{"id":"${id}","ean":${540_000_000_000_000_000n + BigInt(nth)}},`;
    });
    expect(read(BODY.replace('[{', `[${others.join('')}{`)).gridLocations).toHaveLength(1_000);
  });

  it('is read without the characters of a name that PostgreSQL cannot store', () => {
    expect(read(BODY.replace('"Supplier"', '"a\\u0000b\\ud800"')).tenantName).toBe('ab\ufffd');
  });

  it.each([
    ['', 'the body is not JSON'],
    ['<html>OK</html>', 'the body is not JSON'],
    ['null', 'the body is not an object'],
    ['[]', 'the body is not an object'],
    [
      '{}',
      'id must be a UUID; tenantReference must be the one that was sent; gridLocations must be an array of at most 1000 grid locations',
    ],
    [BODY.slice(0, -2), 'the body is not JSON'],
    [BODY.replace(USER_ID, '1'), 'id must be a UUID'],
    [BODY.replace('customer-1', 'customer-2'), 'tenantReference must be the one that was sent'],
    [BODY.replace(EAN, '541448860004178018'), 'gridLocations must hold every EAN that was sent; 1 missing'],
    [
      BODY.replace(EAN, '5.41448860004178019e17'),
      'gridLocations[0].ean must be 18 digits without sign, fraction or exponent',
    ],
    [BODY.replace(LOCATION_ID, ''), 'gridLocations[0].id must be a UUID'],
    [
      BODY.replace(LOCATION_ID, '').replace(EAN, '1'),
      'gridLocations[0].id must be a UUID; gridLocations[0].ean must have 18 digits, not 1',
    ],
    [BODY.replace('[{', '[null,{'), 'gridLocations[0] must be a JSON object'],
    [
      BODY.replace('[{', `[{"id":"${LOCATION_ID}","ean":999999999999999999},{`),
      'gridLocations[1].id must not be repeated',
    ],
    [BODY.replace('[{', `[{"id":"${USER_ID}","ean":${EAN}},{`), 'gridLocations[1].ean must not be repeated'],
    [
      BODY.replace('"customer-1"', '"customer-1","tenantReference":"customer-1"'),
      'the body has an object with two values of one name',
    ],
    [
      BODY.replace('[{', `[${'{},'.repeat(1_000)}{`),
      'gridLocations must be an array of at most 1000 grid locations',
    ],
  ])('is unreadable: %.200s', (body, reason) => {
    expect(() => read(body)).toThrow(new UnreadableResponse(reason));
  });
});

describe('a user that a person confirms', () => {
  const user = JSON.parse(BODY.replace(EAN, `"${EAN}"`)) as object;
  const TIME = 'must be an ISO 8601 timestamp with Z or an offset, of the years 1 to 9999';
  it.each<[unknown, object[] | undefined]>([
    [user, undefined],
    [{ ...user, createdAt: null, updatedAt: undefined }, undefined],
    ['a user', [{ field: 'user', message: 'must be a JSON object' }]],
    [
      { ...user, createdAt: 'soon', updatedAt: '0000-01-01T00:00:00Z' },
      [
        { field: 'createdAt', message: TIME },
        { field: 'updatedAt', message: TIME },
      ],
    ],
  ])('%j has the faults %j', (value, faults) => {
    const read = readRemoteUser(value, REQUESTED, 'person');
    expect('faults' in read ? read.faults : undefined).toEqual(faults);
  });
});
