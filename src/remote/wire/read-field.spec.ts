import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jsonNumberText } from '../../platform/json/lossless.js';
import { UnreadableResponse } from './read-response.js';
import {
  asObject,
  readArray,
  readBoolean,
  readInstant,
  readObject,
  readString,
  readUuid,
} from './read-field.js';

const ID = '6F6E0A4E-7f7c-4b6f-9d0b-0e6f8f4b8f10';
const reason = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof UnreadableResponse) return error.message;
    throw error;
  }
  return 'read';
};

const TWICE = 'the body has an object with two values of one name';

describe('R23: a hostile body is refused, by name and without quoting it', () => {
  it.each([
    ['', 'the body is not JSON'],
    ['\0', 'the body is not JSON'],
    ['{"a":1', 'the body is not JSON'],
    ['<!doctype html><title>Sign in</title>', 'the body is not JSON'],
    ['{"secret":"s3cret" oops', 'the body is not JSON'],
    ['{"finished":true,"finished":false}', TWICE],
    ['{"inverters":[{"id":1,"i\\u0064":1}]}', TWICE],
    ['null', 'the body is not an object'],
    ['[]', 'the body is not an object'],
    ['""', 'the body is not an object'],
    ['1', 'the body is not an object'],
    ['['.repeat(64) + ']'.repeat(64), 'the body is not an object'],
    ['{"a":'.repeat(65), 'the body is nested deeper than 64'],
  ])('%.40j', (body, expected) => expect(reason(() => readObject(body))).toBe(expected));

  it('reads a byte order mark, and brackets and quotes inside strings', () => {
    expect(readObject('\ufeff{"a":1}')).toEqual({ a: 1 });
    const text = `${'[{'.repeat(100)}\\"${'[{'.repeat(100)}`;
    expect(readObject(JSON.stringify({ text, more: { deep: [[]] } }))).toEqual({
      text,
      more: { deep: [[]] },
    });
  });

  it('refuses no body that JSON.parse reads within the depth', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(readObject(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('counts parts outside strings, and refuses more than 50,000', () => {
    const list = (length: number) => `{"a":[0,${Array.from({ length }, () => '{"id":","}').join()}]}`;
    expect(reason(() => readObject(list(24_999)))).toBe('read');
    expect(reason(() => readObject(list(25_000)))).toBe('the body has more than 50000 parts');
  });

  it('keeps all digits, but writes a number as JSON.parse reads it', () => {
    const read = readObject('{"ean":871234567890123456}');
    expect(jsonNumberText(read.ean)).toBe('871234567890123456');
    expect(JSON.stringify(read)).toBe('{"ean":871234567890123500}');
  });

  it('does not read inherited properties as fields', () => {
    expect(reason(() => readString({}, 'constructor'))).toBe('constructor is not a string');
    expect(
      reason(() => readArray(JSON.parse('{"__proto__":[]}') as Record<string, unknown>, 'length')),
    ).toMatch(/not an array/);
  });
});

const WRONG = [undefined, null, '', 0, 1, -1, 1e300, true, [], {}, 'x', '\ud800', 'a\0b', NaN];

describe('fields', () => {
  it.each([
    ['readUuid', readUuid, [ID.slice(1), `${ID} `, `0${ID}`, [ID], `{${ID}}`, 871234567890123456n]],
    [
      'readInstant',
      readInstant,
      [
        '2026-11-20',
        '2026-11-20T10:00:00',
        '2026-13-20T10:00:00Z',
        '20 Nov 2026',
        1_795_000_000,
        '2026-11-20T25:00:00Z',
        '2026-11-20T24:00:00Z',
        '2026-02-31T10:00:00Z',
      ],
    ],
    ['readArray', readArray, ['[]', { length: 0 }]],
    ['readBoolean', readBoolean, ['true', 1, 0]],
  ] as const)('%s names the wrong field, and never throws another error', (name, read, wrong) => {
    const right = { readUuid: [], readInstant: [], readArray: [[]], readBoolean: [true] }[name] as unknown[];
    for (const value of [...WRONG, ...wrong].filter(
      (v) => !right.some((r) => JSON.stringify(r) === JSON.stringify(v)),
    )) {
      expect(reason(() => read({ field: value }, 'field'))).toMatch(/^field is not /);
    }
  });

  it('reads what the interface shows', () => {
    expect(readUuid({ id: ID }, 'id')).toBe(ID.toLowerCase());
    expect(readBoolean({ finished: false }, 'finished')).toBe(false);
    expect(readString({ name: '' }, 'name')).toBe('');
    expect(readArray({ inverters: [] }, 'inverters')).toEqual([]);
    expect(readInstant({ at: '2026-11-20T10:00:00.123456Z' }, 'at')).toEqual(
      new Date('2026-11-20T10:00:00.123Z'),
    );
    expect(readInstant({ at: '2026-11-20T11:00:00+01:00' }, 'at')).toEqual(new Date('2026-11-20T10:00:00Z'));
    expect(asObject('inverters[0]', { id: ID })).toEqual({ id: ID });
  });

  it('reads an instant before the year 1 or after the year 9999 as the first or the last', () => {
    const read = (at: string) => readInstant({ at }, 'at').toISOString();
    expect(read('0001-01-01T00:00:00+02:00')).toBe('0001-01-01T00:00:00.000Z');
    expect(read('9999-12-31T23:59:59-23:59')).toBe('9999-12-31T23:59:59.999Z');
  });

  it('refuses text that PostgreSQL cannot store', () => {
    expect(reason(() => readString({ name: 'a\0b' }, 'name'))).toBe('name holds a NUL or a lone surrogate');
    expect(reason(() => readString(readObject('{"name":"\\ud800"}'), 'name'))).toBe(
      'name holds a NUL or a lone surrogate',
    );
    expect(readString({ name: '🌞' }, 'name')).toBe('🌞');
  });
});
