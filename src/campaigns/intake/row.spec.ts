import { describe, expect, it } from '@jest/globals';
import { readAdoptRow } from './adopt-row.js';
import type { CheckDigitRule } from '../../users/ean.rules.js';
import { readEanCell, readEanValue } from './ean-cell.rules.js';
import { readHeader } from './headers.rules.js';
import { readJsonRow } from './json-row.js';
import { readCsvRow, type FileRow } from './row.rules.js';

const EAN = '541448820041865017';
const WRONG = '541448820041865014';

const readCell = (cell: string, rule: CheckDigitRule = 'warn', isConfirmed = false) =>
  readEanCell(cell, { rule, isConfirmed });

describe('the EAN of a cell', () => {
  it.each([
    [EAN, undefined],
    ['5414 4882 0041 8650 17', undefined],
    [`'${EAN}`, undefined],
    [`\u200b${EAN}\u00a0`, undefined],
    [`\ufeff\u200e\u202a${EAN}\u202c`, undefined],
    ['', 'required'],
    ["'", 'required'],
    ['5,41449E+17', 'ean_rounded'],
    ['5.41448820041865e17', 'ean_rounded'],
    [`${EAN}.0`, 'ean_rounded'],
    ['541448820041000000', 'ean_rounded'],
    ['541448820041865000', 'ean_perhaps_rounded'],
    // The shortest digits of a double, all digits of one, and those of 15 digits that became one.
    ['541448860004178050', 'ean_rounded'],
    ['541448860004178048', 'ean_rounded'],
    ['871685019095645056', 'ean_rounded'],
    [EAN.slice(1), 'ean_length'],
    [`${EAN}0`, 'ean_length'],
    [`0${EAN.slice(1)}`, 'ean_invalid'],
    ["5414'4882'0041'8650'17", 'ean_invalid'],
    ['54144882004186501O', 'ean_invalid'],
    [WRONG, 'ean_check_digit'],
  ])('%p has the problem %p', (cell, code) => expect(readCell(cell).problem?.code).toBe(code));

  it('with a wrong check digit is used, used with a warning, or refused', () => {
    expect(readCell(WRONG, 'off')).toEqual({ ean: WRONG, look: { form: undefined, isWrong: true } });
    expect(readCell(WRONG, 'warn')).toMatchObject({ ean: WRONG, problem: { code: 'ean_check_digit' } });
    expect(readCell(WRONG, 'enforce')).toMatchObject({ ean: null, problem: { code: 'ean_check_digit' } });
  });

  it('that looks rounded is used if the check digit proves nothing, or if the row confirms it', () => {
    const rounded = '541448860004178048';
    expect(readCell(rounded, 'off')).toMatchObject({ ean: rounded, look: { form: 'all_digits' } });
    expect(readCell(rounded, 'off').problem).toBeUndefined();
    expect(readCell(rounded, 'warn', true)).toMatchObject({
      ean: rounded,
      problem: { code: 'ean_check_digit' },
    });
    expect(readCell('541448820041865000', 'warn', true).problem).toBeUndefined();
  });

  it('of JSON may be a number that was not rounded', () => {
    const valueOf = (text: string) =>
      readJsonRow({ line: 1, text: `{"tenantReference":"C","ean":${text}}`, isTooLong: false }, 'warn');
    expect(valueOf(EAN)).toMatchObject({ status: 'accepted', ean: EAN });
    expect(valueOf('541448820041865100').problems).toMatchObject([{ code: 'ean_rounded' }]);
    expect(valueOf('541448820041865000')).toMatchObject({
      status: 'accepted',
      problems: [{ code: 'ean_perhaps_rounded' }],
    });
    expect(valueOf('5.41448820041865e17').problems).toMatchObject([{ code: 'ean_rounded' }]);
    expect(valueOf('true').problems).toMatchObject([{ code: 'ean_invalid' }]);
    expect(readEanValue(null, { rule: 'warn', isConfirmed: false })).toMatchObject({
      problem: { code: 'required' },
    });
  });
});

describe('a row', () => {
  const names = [
    'tenantReference',
    'ean',
    'locale',
    'expectedInverters',
    'metadata.a',
    'metadata.b',
    'status',
  ];
  const header = readHeader(names);
  const columns = 'columns' in header ? header.columns : [];
  const readRow = (row: FileRow) => readCsvRow(row, columns, ',', 'warn');
  const read = (...cells: string[]) => readRow({ line: 2, cells, isTooLong: false });

  it('has the values of its cells, and the cells as sent, without those of a result', () => {
    expect(read('C-1', `="${EAN}"`, 'nl-BE', '3', 'x', '', 'invalid')).toEqual({
      line: 2,
      status: 'accepted',
      tenantReference: 'C-1',
      ean: EAN,
      brand: null,
      locale: 'nl',
      expectedInverters: 3,
      metadata: { a: 'x' },
      fields: ['C-1', EAN, 'nl-BE', '3', 'x', ''],
      looks: [{ form: undefined, isWrong: false }],
      problems: [],
    });
  });

  it('may lack cells at its end, or have empty ones', () => {
    expect(read('C-1', EAN).status).toBe('accepted');
    expect(read('C-1', EAN, '', '', '', '', '', '', ' ').status).toBe('accepted');
    expect(read('C-1', EAN, '', '', '', '', '', 'x', '')).toMatchObject({
      problems: [{ code: 'too_many_cells' }],
      fields: ['C-1', EAN, '', '', '', '', 'x'],
    });
  });

  it('names each of its problems with the column', () => {
    const { status, problems } = read('C\u200b', '1', 'xx', '0', 'm'.repeat(5_000));
    expect(status).toBe('invalid');
    expect(problems.map(({ column, code }) => `${column}:${code}`)).toEqual([
      'tenantReference:reference_invalid',
      'ean:ean_length',
      'locale:locale_unknown',
      'expectedInverters:inverters_invalid',
      'metadata:metadata_invalid',
    ]);
  });

  it('has a warning if a cell seems to have rows in it', () => {
    const rows = 'a\nC-2,541448820041865024,,,,,b';
    expect(read('C-1', EAN, '', '', rows)).toMatchObject({
      status: 'accepted',
      problems: [{ column: 'metadata.a', code: 'cell_has_rows' }],
    });
    expect(read('C-1', EAN, '', '', '', '', rows).problems).toMatchObject([
      { column: 'status', code: 'cell_has_rows' },
    ]);
    expect(read(rows, EAN).problems).toMatchObject([
      { column: 'tenantReference', code: 'reference_invalid' },
      {
        column: 'tenantReference',
        code: 'cell_has_rows',
        message: expect.stringContaining('quote') as unknown,
      },
    ]);
    expect(read('C-1', EAN, '', '', 'Dam 1, Amsterdam\nsecond, or third, floor').problems).toEqual([]);
  });

  it.each([
    ['C\u200b1', 'U+200B'],
    ['\u202aC-1', 'U+202A'],
    ['\ufeffC-1', 'joined'],
  ])('%# has a reference with characters that nobody sees, which are named', (reference, name) => {
    const message = expect.stringContaining(name) as unknown;
    expect(read(reference, EAN).problems).toMatchObject([{ code: 'reference_invalid', message }]);
  });

  it('has a reference in one form, with a warning if it was sent in another', () => {
    const [normalised] = ['reference_normalised'];
    for (const [cell, reference] of [
      [' C-1\u00a0', 'C-1'],
      ["'00123", '00123'],
      ['Zoe\u0308', 'Zo\u00eb'],
    ] as const)
      expect(read(cell, EAN)).toMatchObject({
        status: 'accepted',
        tenantReference: reference,
        problems: [{ column: 'tenantReference', code: normalised }],
      });
  });

  it('belongs to the customer that a faulty reference probably means', () => {
    expect(read('C\u200b1', EAN)).toMatchObject({ status: 'invalid', tenantReference: 'C1' });
    expect(read('a\nb', EAN)).toMatchObject({ status: 'invalid', tenantReference: null });
  });

  it.each([
    ['400000123456789000', 'accepted', 'reference_rounded'],
    ['1,23E+11', 'invalid', 'reference_rounded'],
    ['1.23E+11', 'invalid', 'reference_rounded'],
    ['1E10', 'accepted', undefined],
    ['400000123456789123', 'accepted', undefined],
  ])('with the reference %s is %s, with the problem %s', (reference, status, code) => {
    const row = read(reference, EAN);
    expect([row.status, row.problems[0]?.code]).toEqual([status, code]);
  });

  it('of a file that was joined may be its header', () => {
    const message = expect.stringContaining('joined') as unknown;
    expect(readCell('\ufeffean').problem).toMatchObject({ code: 'ean_invalid', message });
  });

  it('to adopt may have an EAN that is perhaps rounded', () => {
    const location = '{"id":"0b3c1c53-8f43-4c7e-8a55-0a5a3c1e7d10","ean":541448820041865000}';
    const user = `{"id":"7f1f1b0e-5c0a-4d5b-9f57-3d2f3a9f6b11","gridLocations":[${location}]}`;
    const text = `{"tenantReference":"C-1","user":${user}}`;
    expect(readAdoptRow({ line: 1, text, isTooLong: false }, 'warn')).toMatchObject({
      status: 'accepted',
      problems: [{ column: 'user.gridLocations[0].ean', code: 'ean_perhaps_rounded' }],
    });
  });

  it('that is too long keeps the reference alone', () => {
    const row = { line: 2, cells: ['C-1', EAN], isTooLong: true };
    expect(readRow(row)).toMatchObject({
      status: 'invalid',
      tenantReference: 'C-1',
      ean: null,
      fields: [],
      problems: [{ column: null, code: 'row_too_long' }],
    });
  });
});
