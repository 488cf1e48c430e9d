import { describe, expect, it } from '@jest/globals';
import { findDrift } from './find-drift.js';
import type { DocumentedFields } from '../remote/drift.js';

const DOCUMENTED: DocumentedFields = {
  id: 'UUID',
  at: 'timestamp',
  name: 'string',
  count: 'number',
  active: 'boolean',
  link: 'URL',
  life: 'anything',
  parts: [{ id: 'UUID' }],
};
const ID = '6f6e0a4e-7f7c-4b6f-9d0b-0e6f8f4b8f10';
const AS_DOCUMENTED = {
  id: ID,
  at: '2026-11-20T10:00:00+00:00',
  name: '',
  count: 18,
  active: false,
  link: 'https://example.test/x',
  life: null,
  parts: [{ id: ID }],
};

const found = (changed: Readonly<Record<string, unknown>>) =>
  findDrift({ ...AS_DOCUMENTED, ...changed }, DOCUMENTED).map(
    ({ kind, field, expected, found }) => `${kind} ${field}: ${expected} -> ${found}`,
  );

describe('drift', () => {
  it('is not found in a response as documented', () => expect(found({})).toEqual([]));

  it.each<[string, Readonly<Record<string, unknown>>, string[]]>([
    ['a new field', { phase: 'x' }, ['new_field phase: null -> string']],
    ['a new object, without its fields', { owner: { email: 'a@b' } }, ['new_field owner: null -> object']],
    ['another type', { count: '1' }, ['other_type count: number -> string']],
    ['a null', { active: null }, ['other_type active: boolean -> null']],
    ['a string of another form', { id: '12' }, ['other_type id: UUID -> another string']],
    ['a time without a zone', { at: '2026-11-20T10:00:00' }, ['other_type at: timestamp -> another string']],
    [
      'a time before the year 1',
      { at: '0001-01-01T00:00:00+02:00' },
      ['other_type at: timestamp -> timestamp outside the years 1 to 9999'],
    ],
    [
      'a date that does not exist',
      { at: '2026-02-31T00:00:00Z' },
      ['other_type at: timestamp -> another string'],
    ],
    ['an object instead of a list', { parts: {} }, ['other_type parts: array -> object']],
    [
      'the same difference in several elements of a list, once',
      { parts: [{ id: ID, serial: 1 }, { id: ID, serial: 2 }, { id: 7 }, 'x', { name: '' }] },
      [
        'new_field parts[].serial: null -> number',
        'other_type parts[].id: UUID -> number',
        'other_type parts[]: object -> string',
        'missing_field parts[].id: UUID -> null',
        'new_field parts[].name: null -> string',
      ],
    ],
  ])('is %s', (_what, changed, drifts) => expect(found(changed)).toEqual(drifts));

  it('is a documented field that is missing', () => {
    const { active: _, ...rest } = AS_DOCUMENTED;
    expect(findDrift(rest, DOCUMENTED)).toEqual([
      { kind: 'missing_field', field: 'active', expected: 'boolean', found: null },
    ]);
  });

  it.each([[null], [[]], ['text'], [7]])('is a body that is not an object: %j', (body) =>
    expect(findDrift(body, DOCUMENTED)).toMatchObject([{ kind: 'other_type', field: 'body' }]),
  );

  it('contains no value, and no name that may be personal data or a token', () => {
    const personal = {
      'jan.jansen@example.test': 1,
      '871687400000001042': 1,
      Jan_1042_Jansen: 1,
      [ID]: 1,
      'Jan Jansen': 1,
      canary_Qx7bZ2kLp9vRt4: 1,
      canaryWithoutDigitsAndAsLongAsAToken: 1,
      secret: 'canary-value',
      name: { firstName: 'canary-name' },
    };
    const text = JSON.stringify(found(personal));
    expect(text).not.toMatch(/ansen|canary|8716|6f6e0a4e/);
    expect(text).toContain('new_field *: null -> number');
  });

  it('is limited to 20 differences per response', () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`field${i}`, i]));
    expect(found(many)).toHaveLength(20);
  });
});
