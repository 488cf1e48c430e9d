import { describe, expect, it } from '@jest/globals';
import {
  isLongNumber,
  readTenantReference,
  tenantReferenceFault,
  warnOfReference,
} from './tenant-reference.rules.js';

const NO_VALUE =
  'is what a program writes where it has no value, such as #N/A: take it from your system again';

describe('a tenantReference', () => {
  it.each([
    'a',
    'customer 4711',
    'Zo\u00eb/42',
    '客户',
    '😀',
    'x'.repeat(200),
    '1E10',
    '1.5E10',
    '#12',
    'Nullens',
    '1234567890123456.7',
    '123456789012345678',
  ])('may be %j', (value) => {
    expect(readTenantReference(value)).toEqual({ reference: value, isNormalised: false });
  });

  it.each([
    ['Zoe\u0308', 'Zo\u00eb'],
    [' a', 'a'],
    ['a\u00a0', 'a'],
    ['\u2003a\t', 'a'],
    ['a\r\n', 'a'],
    ["'00123", '00123'],
    ["' ''00123", '00123'],
    ['="00123"', '00123'],
    ['=T("00123")', '00123'],
    [`=" '00123 "`, '00123'],
    ["='x'", "='x'"],
    ["a'b'", "a'b'"],
    ['\u212b1', '\u00c51'],
  ])('%j is stored as %j', (value, reference) => {
    expect(readTenantReference(value)).toEqual({ reference, isNormalised: reference !== value });
    expect(readTenantReference(reference)).toEqual({ reference, isNormalised: false });
  });

  it.each([
    [undefined, 'must be a string'],
    [null, 'must be a string'],
    [4711, 'must be a string'],
    [['a'], 'must be a string'],
    ['', 'must have 1 to 200 characters, not 0'],
    ["' ", 'must have 1 to 200 characters, not 0'],
    ['x'.repeat(201), 'must have 1 to 200 characters, not 201'],
    ['a\nb', 'must not contain control characters or line breaks'],
    ['a\0b', 'must not contain control characters or line breaks'],
    ['a\u2028b', 'must not contain control characters or line breaks'],
    ['a\u0085b', 'must not contain control characters or line breaks'],
    ['a\ud800b', 'must not contain half a surrogate pair'],
    ['\udc00', 'must not contain half a surrogate pair'],
  ])('may not be %j', (value, fault) => {
    expect(tenantReferenceFault(value)).toBe(fault);
  });

  it.each([
    ...['#N/A', '#NV', '#REF!', '#VERW!', '#naam?', '#DIV/0!', 'Err:502', '####'],
    ...['undefined', 'null', 'NULL', 'None', 'NaN', '<NA>', '[object Object]', " '#N/A "],
    ...[
      '-',
      ' -   ',
      '--',
      '–',
      '- -',
      '?',
      '????',
      '#',
      '.',
      '...',
      '…',
      '"',
      '〃',
      '- "',
      'idem',
      'Dito',
      'n.v.t.',
      'N/A',
      'NA',
      'n.a.',
      'nil',
    ],
    ...['\\N', '(null)', '[NULL]', '<null>', '(blank)', '(leeg)', '(Leer)', '(vide)'],
    ...[
      '#FELD!',
      '#ÜBERLAUF!',
      '#GETTING_DATA',
      'Loading...',
      '[Table]',
      'n.v.t.',
      '""',
      '”',
      'Idem',
      'zie boven',
    ],
    ...['0', '000', '0,00', '0000-00-00', '00000000-0000-0000-0000-000000000000', 'TRUE', 'Onwaar', 'faux'],
    ...['unknown', '(Onbekend)', '<unbekannt>', 'inconnue', 'n/d', 'N.N.', 'TBD', '<none>', '(empty)'],
    ...['{}', '[]', '{"a":1}', "['C-1']", '{{customer.id}}', '${id}', '[object Undefined]'],
    ...['=VLOOKUP(A2;Blad1!B:C;2;0)', '=_xlfn.XLOOKUP(A2,B:B,C:C)', "'=TEXT(A2)", '=A2', '=$AB$12'],
    ...['=-ZÄHLENWENN(A:A;B2)', '=Blad1!A2', "='Klanten 2026'!$A$2", '=A2&B2'],
  ])('may not be %j, which programs write for a missing value', (value) => {
    expect(tenantReferenceFault(value)).toBe(NO_VALUE);
  });

  it.each([
    '-1',
    '=1+1',
    '=A',
    'NA-1',
    'Idema',
    'NVT1',
    'nil.',
    'C?',
    '#1',
    '*',
    '/',
    '😀',
    'Null-1',
    '(x)',
    '.5',
    '100',
    '0-1',
    'C-{0}',
    '[1] 2',
    'Unknown 1',
    '<b>',
  ])('may be %j', (value) => {
    expect(tenantReferenceFault(value)).toBeUndefined();
  });

  it.each([
    '1.23E+11',
    '1,23E+11',
    '4.00123456E17',
    '1.23457e+17',
    ' 5E+17',
    "'1.2E+10",
    '40000012345678912.0',
    '4000001234567891,00',
  ])('may not be %j, whose last digits are lost', (value) =>
    expect(readTenantReference(value)).toMatchObject({ code: 'reference_rounded' }),
  );

  it.each([
    ...[
      '00ad',
      '034f',
      '061c',
      '115f',
      '180e',
      '200b',
      '200d',
      '200e',
      '202e',
      '2060',
      '2066',
      '206f',
      '2800',
      '3164',
    ],
    ...['fe0f', 'feff', 'ffa0', 'fffe', 'ffff', '1d159', '10ffff', 'e0001', 'e0041'],
  ])('may not contain U+%s, which nobody sees', (code) => {
    const character = String.fromCodePoint(parseInt(code, 16));
    for (const value of [`a${character}b`, `${character}ab`, `ab${character}`])
      expect(readTenantReference(value)).toEqual({
        code: 'reference_invalid',
        fault: `contains a character that nobody sees (U+${code.toUpperCase()}): type it again`,
        meant: 'ab',
      });
  });

  // Otherwise, Müller and Möller are one customer after a program has lost the letter.
  it.each(['fffd', 'fffc', 'e000', 'f8ff', '10fffd'])('may not contain U+%s, for a lost character', (code) =>
    expect(readTenantReference(`M${String.fromCodePoint(parseInt(code, 16))}ller`)).toMatchObject({
      code: 'reference_invalid',
      fault: `contains a sign for a character that a program could not read (U+${code.toUpperCase()}): type it again`,
    }),
  );

  it('is read in linear time, whatever its length', () => {
    const long = `${' '.repeat(100_000)}x${"'".repeat(100_000)}${' '.repeat(100_000)}x`;
    expect(tenantReferenceFault(long)).toMatch(/^must have 1 to 200 characters/);
  });

  it('has at most 30 marks on a letter, since composing a long sequence takes quadratic time', () => {
    const marks = (count: number) => '\u0316'.repeat(count);
    expect(readTenantReference(`a${marks(29)}\u0300`)).toMatchObject({ reference: `\u00e0${marks(29)}` });
    for (const text of [`a${marks(30)}\u0300`, marks(100_000)])
      expect(readTenantReference(text)).toEqual({
        code: 'reference_invalid',
        fault: 'must not have more than 30 marks on one letter',
        meant: null,
      });
  });

  it('has a warning if it is stored in another form, looks like others, or looks rounded', () => {
    const codes = (...given: Parameters<typeof warnOfReference>) =>
      warnOfReference(...given).map(({ code }) => code);
    expect(codes('400000123456789000', true, 2)).toEqual([
      'reference_normalised',
      'reference_alike',
      'reference_rounded',
    ]);
    for (const reference of ['4000001234567890', '123.0', '4711,0'])
      expect(codes(reference, false, 0)).toEqual(['reference_rounded']);
    for (const reference of ['400000123456789', '4000001234567891', 'ABC0000000000000000', 'A12.0', '12.05'])
      expect(codes(reference, false, 0)).toEqual([]);
  });

  it.each([
    [1, '1 other tenantReference looks like this one'],
    [2, '2 other tenantReferences look like this one'],
  ])('has a warning that counts those that look like it: %i', (alike, message) =>
    expect(warnOfReference('C', false, alike)).toMatchObject([{ code: 'reference_alike', message }]),
  );

  it.each([
    ['1000000000000000', true],
    ['100000000000000', false],
    ['0100000000000000', false],
    ['A1000000000000000', false],
    ['1000000000000000A', false],
  ])('%s is a long number: %s', (reference, is) => expect(isLongNumber(reference)).toBe(is));
});
