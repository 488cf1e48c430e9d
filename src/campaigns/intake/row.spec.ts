import { describe, expect, it } from '@jest/globals';
import { newValidEan } from '../../../test/setup/ean.js';
import { readAdoptRow } from './adopt-row.js';
import type { CheckDigitRule } from '../../users/ean.rules.js';
import { readEanCell, readEanValue } from './ean-cell.rules.js';
import { readHeader } from './headers.rules.js';
import { readJsonRow } from './json-row.js';
import type { RowProblem } from '../campaign.rules.js';
import { addRow, noLooks, roundedFileFault, roundedLines } from './rounded.rules.js';
import { readCsvRow, type FileRow, type ReadRow } from './row.rules.js';

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
    ["5414'48820041865017", 'ean_invalid'],
    ['54144882004186501O', 'ean_invalid'],
    [WRONG, 'ean_check_digit'],
  ])('%p has the problem %p', (cell, code) => expect(readCell(cell).problem?.code).toBe(code));

  it('with 17 digits has probably lost its first one', () =>
    expect(readCell(EAN.slice(1)).problem!.message).toContain('leading digit'));

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
    expect(valueOf('"5414 4882 0041 8650 17"')).toMatchObject({ status: 'accepted', ean: EAN });
    for (const missing of [null, undefined])
      expect(readEanValue(missing, { rule: 'warn', isConfirmed: false })).toMatchObject({
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
    expect(read('C-1', EAN).fields).toStrictEqual(['C-1', EAN]);
    expect(read('C-1', EAN, '', '', '', '', '', '', ' ').status).toBe('accepted');
    expect(read('C-1', EAN, '', '', '', '', '', 'x', '')).toMatchObject({
      problems: [{ code: 'too_many_cells' }],
      fields: ['C-1', EAN, '', '', '', '', 'x'],
    });
  });

  it('names each of its problems with the column', () => {
    const { status, metadata, problems } = read('C\u200b', '1', 'xx', '0', 'm'.repeat(5_000));
    expect([status, metadata]).toEqual(['invalid', {}]);
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
    const several = `a\n${rows}`;
    expect(read('C-1', EAN, '', '', several).problems).toMatchObject([{ code: 'cell_has_rows' }]);
    for (const cell of ['Dam 1, Amsterdam\nsecond, or third, floor', 'a\nb,c,d,e', 'a,b,c,d,e,f,g'])
      expect(read('C-1', EAN, '', '', cell).problems).toEqual([]);
    expect(read('C-1', EAN, '', '', '', '', '', 'a\nb,c,d,e,f,g,h,i').problems).toMatchObject([
      { code: 'too_many_cells' },
    ]);
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

  it.each(['', " ' ", '\u00a0'])('needs a reference: %j', (reference) => {
    expect(read(reference, EAN)).toMatchObject({
      tenantReference: null,
      problems: [
        { column: 'tenantReference', code: 'required', message: 'The customer reference is missing' },
      ],
    });
  });

  it('has no look of an EAN that it has not', () => {
    expect(read('C-1', '').looks).toStrictEqual([]);
    expect(readRow({ line: 2, cells: ['C-1', EAN], isTooLong: true }).looks).toEqual([]);
  });

  it('has a locale that begins with its language', () =>
    expect(read('C-1', EAN, 'xnl').problems).toMatchObject([{ code: 'locale_unknown' }]));

  it('belongs to the customer that a faulty reference probably means', () => {
    expect(read('C\u200b1', EAN)).toMatchObject({ status: 'invalid', tenantReference: 'C1' });
    expect(read('a\nb', EAN)).toMatchObject({ status: 'invalid', tenantReference: null });
  });

  it.each([
    ['400000123456789000', 'accepted', 'reference_rounded'],
    ['1,23E+11', 'invalid', 'reference_rounded'],
    ['1.23E+11', 'invalid', 'reference_rounded'],
    ['40000012345678912.0', 'invalid', 'reference_rounded'],
    ['4711.0', 'accepted', 'reference_rounded'],
    ['#N/B', 'invalid', 'reference_invalid'],
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
    const location = (ean: string, at: number) =>
      `{"id":"0b3c1c53-8f43-4c7e-8a55-0a5a3c1e7d1${at}","ean":${ean}}`;
    const locations = [EAN, '541448820041865000'].map(location).join();
    const user = `{"id":"7f1f1b0e-5c0a-4d5b-9f57-3d2f3a9f6b11","gridLocations":[${locations}]}`;
    const text = `{"tenantReference":"C-1","user":${user}}`;
    expect(readAdoptRow({ line: 1, text, isTooLong: false }, 'warn')).toMatchObject({
      status: 'accepted',
      problems: [{ column: 'user.gridLocations[1].ean', code: 'ean_perhaps_rounded' }],
      looks: [{}, {}],
    });
  });

  const [ID, OTHER_ID] = ['7f1f1b0e-5c0a-4d5b-9f57-3d2f3a9f6b11', '0b3c1c53-8f43-4c7e-8a55-0a5a3c1e7d10'];
  const idOf = (index: number) => ID.slice(0, 32) + (1_000 + index);
  const faultsOf = (sessions: unknown, gridLocations: unknown = [{ id: ID, ean: EAN }]) => {
    const user = { id: ID, gridLocations };
    const text = JSON.stringify({ tenantReference: 'C-1', user, sessions });
    const { problems, status } = readAdoptRow({ line: 1, text, isTooLong: false }, 'warn');
    expect(status).toBe(problems.length === 0 ? 'accepted' : 'invalid');
    return problems.map(({ column, code }) => [column, code]);
  };
  it.each([
    [[{ id: ID }, { id: OTHER_ID, gridLocationId: ID, brand: 'Acme' }], []],
    [{ id: ID }, ['sessions']],
    [[{ id: ID }, null], ['sessions[1]']],
    [[ID], ['sessions[0]']],
    [[{ id: ID }, { id: OTHER_ID, state: 'online' }], ['sessions[1]']],
    [
      [{ id: ID }, { id: 7 }, {}],
      ['sessions[1].id', 'sessions[2].id'],
    ],
    [[{ id: ID }, { id: OTHER_ID }, { id: ID.toUpperCase() }], ['sessions[2].id']],
    [[{ id: ID }, { id: OTHER_ID, brand: 'b'.repeat(101) }], ['sessions[1].brand']],
    [[{ id: ID }, { id: OTHER_ID, gridLocationId: OTHER_ID }], ['sessions[1].gridLocationId']],
  ])('to adopt with the sessions %j has faults in %j', (sessions, columns) => {
    expect(faultsOf(sessions)).toEqual(columns.map((column) => [column, 'adopt_invalid']));
  });

  it.each([
    [1_000, 1, []],
    [1_001, 1, [['sessions', 'adopt_invalid']]],
    [0, 100, []],
    [0, 101, [['user.gridLocations', 'adopt_invalid']]],
  ])('to adopt with %d sessions and %d locations has the faults %j', (length, locations, faults) => {
    const sessions = Array.from({ length }, (_, index) => ({ id: idOf(index) }));
    const places = Array.from({ length: locations }, (_, index) => ({ id: idOf(index), ean: newValidEan() }));
    expect(faultsOf(sessions, places)).toEqual(faults);
  });

  it('of JSON has the value of each name', () => {
    const row = { tenantReference: 'C-1', ean: EAN, brand: 'acme', locale: 'nl', metadata: { a: 'b' } };
    const text = JSON.stringify({ ...row, expectedInverters: 2 });
    const read = readJsonRow({ line: 1, text, isTooLong: false }, 'warn');
    expect(read).toMatchObject({ ...row, expectedInverters: 2, status: 'accepted', problems: [] });
  });

  it('of JSON may have as many names as a body', () => {
    const names = Array.from({ length: 1_001 }, (_, index) => `"n${index}":0`).join();
    const row = {
      line: 1,
      text: `{"tenantReference":"C-1","ean":"${EAN}","metadata":{${names}}}`,
      isTooLong: false,
    };
    const message = expect.stringContaining('More than 1000 names in an object') as unknown;
    expect(readJsonRow(row, 'warn').problems).toMatchObject([{ code: 'json_invalid', message }]);
  });

  it.each([
    ['C-1', 'C-1'],
    ['C\u200b-1', 'C-1'],
    [`'C-1`, 'C-1'],
    ['', null],
  ])('that is no JSON has the reference of its beginning, %j, as %j', (reference, tenantReference) => {
    const row = { line: 1, text: `{"tenantReference":"${reference}","ean":"5"`, isTooLong: false };
    expect(readJsonRow(row, 'warn')).toMatchObject({ status: 'invalid', tenantReference });
  });

  it.each([
    ['locale', 'NL', 'nl', undefined],
    ['locale', 'fr_BE', 'fr', undefined],
    ['locale', 'nld', null, 'locale_unknown'],
    ['locale', 'n', null, 'locale_unknown'],
    ['locale', 'es', null, 'locale_unknown'],
    ['expectedInverters', '1', 1, undefined],
    ['expectedInverters', '1000', 1_000, undefined],
    ['expectedInverters', '1001', null, 'inverters_invalid'],
    ['expectedInverters', '00001', null, 'inverters_invalid'],
    ['expectedInverters', '1.5', null, 'inverters_invalid'],
    ['expectedInverters', 'x1', null, 'inverters_invalid'],
    ['brand', ' Acme ', 'Acme', undefined],
    ['brand', 'Cafe\u0301\u00a0 Sol', 'Caf\u00e9 Sol', undefined],
    ['brand', 'b'.repeat(100), 'b'.repeat(100), undefined],
    ['brand', 'b'.repeat(101), null, 'brand_invalid'],
    ['brand', 'Ac\u200bme', null, 'brand_invalid'],
  ] as const)('with the %s %j has %j, with the problem %s', (field, cell, value, code) => {
    const withField = readHeader(['tenantReference', 'ean', field]);
    const row = { line: 2, cells: ['C-1', EAN, cell], isTooLong: false };
    const result = readCsvRow(row, 'columns' in withField ? withField.columns : [], ',', 'warn');
    expect(result).toMatchObject({ status: code === undefined ? 'accepted' : 'invalid', [field]: value });
    expect(result.problems.map((each) => [each.column, each.code])).toEqual(
      code === undefined ? [] : [[field, code]],
    );
  });

  it.each([
    ['TRUE', undefined],
    ['Waar', undefined],
    ['vrai', undefined],
    ['', 'ean_rounded'],
    ['false', 'ean_rounded'],
    ['ONWAAR', 'ean_rounded'],
    ['yes', 'ean_rounded'],
  ])('with eanConfirmed %j has an EAN with the problem %s', (cell, code) => {
    const confirmed = readHeader(['tenantReference', 'EAN', 'eanConfirmed']);
    const row = { line: 2, cells: ['C-1', '541448820041000000', cell], isTooLong: false };
    const { problems } = readCsvRow(row, 'columns' in confirmed ? confirmed.columns : [], ',', 'warn');
    expect(problems.find(({ column }) => column === 'EAN')?.code).toBe(code ?? 'ean_check_digit');
    expect(problems.some(({ column }) => column === 'eanConfirmed')).toBe(cell === 'yes');
  });

  it('of NDJSON with an unknown name keeps the reference, wherever that stands', () => {
    const text = `{"ean":"${EAN}","tenantReference":"C-1","zip":1}`;
    expect(readJsonRow({ line: 2, text, isTooLong: false }, 'warn')).toMatchObject({
      ...{ line: 2, status: 'invalid', tenantReference: 'C-1' },
      problems: [{ code: 'json_invalid', message: 'The name "zip" is not known' }],
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

describe('a file', () => {
  const [TRUE_ROUNDED, WRONG_ROUNDED] = ['541448820041865000', '541448820041000000'];
  const looksOf = (rows: readonly Partial<ReadRow>[]) => {
    const looks = noLooks();
    for (const [index, row] of rows.entries())
      addRow(looks, {
        line: index + 2,
        looks: [],
        tenantReference: 'C-1',
        problems: [],
        ...row,
      } as unknown as ReadRow);
    return looks;
  };
  const withEans = (...eans: string[]) => looksOf(eans.map((ean) => ({ looks: [readCell(ean).look!] })));
  const withReferences = (...references: string[]) =>
    looksOf(
      references.map((tenantReference) => ({ tenantReference, problems: problems('reference_rounded') })),
    );
  const problems = (...codes: RowProblem['code'][]) =>
    codes.map((code) => ({ column: null, code, message: '' }));

  it('is refused if most of its EANs look rounded and one is wrong, with the first of their lines', () => {
    const rounded = withEans(EAN, TRUE_ROUNDED, WRONG_ROUNDED);
    expect(roundedFileFault(rounded, 'warn', true)).toMatch(
      /^2 of 3 EANs look rounded, the first on lines 3, 4, .* Excel, .*write true in a column eanConfirmed$/,
    );
    expect(roundedFileFault(withEans(EAN, EAN, TRUE_ROUNDED, WRONG_ROUNDED), 'warn', false)).toBeUndefined();
  });

  it.each([
    ['line 2', [2]],
    ['lines 2, 3', [1, 2]],
    ['lines 2, 3, 4', [1, 1, 1, 1]],
  ])('that is refused names %s of rows with %j rounded EANs', (lines, counts) => {
    const rows = counts.map((count) => ({ looks: Array(count).fill(readCell(WRONG_ROUNDED).look!) }));
    expect(roundedFileFault(looksOf(rows), 'warn', false)).toContain(`, the first on ${lines}, so `);
  });

  it('is refused although none is wrong only if check digits prove nothing', () => {
    const right = withEans(TRUE_ROUNDED, TRUE_ROUNDED);
    expect(roundedFileFault(right, 'off', false)).toMatch(/^2 of 2 EANs/);
    for (const rule of ['warn', 'enforce'] as const)
      expect(roundedFileFault(right, rule, false)).toBeUndefined();
  });

  it('is refused if most of its long references look rounded, unless they are confirmed', () => {
    const rounded = withReferences('400000123456789000', '400000123456790000', '400000123456789123', 'C-1');
    expect(roundedFileFault(rounded, 'warn', false)).toMatch(
      /^2 of 3 references of 16 digits and more look rounded, the first on lines 2, 3, .*referencesConfirmed=true$/,
    );
    expect(roundedFileFault(rounded, 'warn', true)).toBeUndefined();
    const short = (code: RowProblem['code']) =>
      looksOf([1, 2].map(() => ({ tenantReference: null, problems: problems('ean_invalid', code) })));
    expect(roundedFileFault(short('reference_rounded'), 'off', false)).toMatch(/^2 of 2 .*1\.23E\+17/);
    expect(roundedFileFault(short('required'), 'off', false)).toBeUndefined();
  });

  it('that is not refused has rounded EANs in the lines whose form is mostly wrong', () => {
    const looks = withEans(...Array<string>(9).fill(EAN), WRONG_ROUNDED, TRUE_ROUNDED, WRONG_ROUNDED);
    expect(roundedLines(looks, 'warn')).toEqual([12]);
    expect(roundedLines(looks, 'off')).toEqual([]);
    expect(roundedLines(withEans(EAN, WRONG_ROUNDED, TRUE_ROUNDED), 'warn')).toEqual([]);
  });
});
