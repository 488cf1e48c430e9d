import { describe, expect, it } from '@jest/globals';
import { strToU8, type Zippable } from 'fflate';
import { sheetXml, workbookOf } from '../../test/setup/workbook.js';
import { cellFault } from './sheet.rules.js';
import { readWorkbook } from './workbook.js';

const read = (bytes: Uint8Array) => readWorkbook(Uint8Array.from(bytes));
const oneSheet = async (rows: Parameters<typeof sheetXml>[0]) => {
  const [sheet] = await read(workbookOf({ Sheet1: rows }));
  return sheet!;
};
const empty = '<worksheet><sheetData></sheetData></worksheet>';

describe('a workbook', () => {
  it('is read with its text exact, and its rows where they are', async () => {
    const text = [' 541448820041865017', '=1+1', '<script>alert(1)</script>', "'x", 'Ünïcode 日本'];
    expect(await oneSheet([text, [], [1.5, 20, 1e14, 0.1 + 0.2, -3]])).toEqual({
      name: 'Sheet1',
      rows: [text, ['', '', '', '', ''], ['1.5', '20', '100000000000000', '0.30000000000000004', '-3']],
      doubtful: [],
    });
  });

  it('has the characters that a program wrote as numbers, and is refused with text that the library leaves out', async () => {
    const cell = (xml: string) => ({ xml: `<c t="inlineStr"><is><t>${xml}</t></is></c>` });
    const { rows } = await oneSheet([
      [
        'a&#x20BB7;',
        '&#128512;',
        '&#x00e9;&#x0001F600;',
        '&#xD83D;&#xDE00;',
        '&#26085;',
        '&#x0000003C;b&#x41;',
      ].map(cell),
    ]);
    expect(rows).toEqual([['a𠮷', '😀', 'é😀', '😀', '日', '<bA']]);
    expect((await oneSheet([[cell('<!-- by a program -->C-1')]])).rows).toEqual([['C-1']]);
    const [marked] = await read(workbookOf({ A: `\ufeff<?xml version="1.0"?>${sheetXml([['C-1']])}` }));
    expect(marked!.rows).toEqual([['C-1']]);
    for (const lost of ['<![CDATA[C-1]]>', '00<!-- -->1', '00 <?x?>1'])
      await expect(oneSheet([[cell(lost)]])).rejects.toThrow('save a copy');
  });

  it('has the results and errors of its formulas, its logical values and its dates as text', async () => {
    const { rows, doubtful } = await oneSheet([
      [
        { xml: '<c t="str"><f>"a"&amp;"b"</f><v>ab</v></c>' },
        { xml: '<c><f>1+1</f><v>2</v></c>' },
        { xml: '<c t="str"><f>""</f><v></v></c>' },
        { xml: '<c t="b"><v>1</v></c>' },
        { xml: '<c s="1"><v>45000</v></c>' },
        { xml: '<c s="1"><v>45000.5</v></c>' },
        { xml: '<c t="e"><v>#N/A</v></c>' },
        'end',
      ],
    ]);
    expect(rows).toEqual([['ab', '2', '', 'true', '2023-03-15', '2023-03-15 12:00:00', '#N/A', 'end']]);
    expect(doubtful).toEqual([
      { column: 4, doubt: 'date', rows: [1], count: 1 },
      { column: 5, doubt: 'date', rows: [1], count: 1 },
    ]);
  });

  it('has long numbers as Excel shows them, and names their cells', async () => {
    const long = Array.from({ length: 7 }, (_, row) => [
      'C',
      { xml: `<c><v>54144882004186501${row}</v></c>` },
    ]);
    const sheet = await oneSheet([['Klantnummer', 'Phone'], ...long, ['C', 999_999_999_999_999]]);
    expect(sheet.rows.slice(1, 3)).toEqual([
      ['C', '5.41448820041865E+17'],
      ['C', '5.41448820041865E+17'],
    ]);
    expect(sheet.doubtful).toEqual([{ column: 1, doubt: 'digits', rows: [2, 3, 4, 5, 6], count: 7 }]);
    expect(cellFault(sheet, ['tenantReference', 'metadata.phone'])).toBe(
      '“Phone” has in rows 2, 3, 4, 5, 6 and 2 more a number of 16 or more digits, of which Excel keeps 15: format the column as text, and enter these numbers again.',
    );
    expect(cellFault(sheet, ['tenantReference', 'ean'])).toBeUndefined();
    expect(cellFault(sheet, ['tenantReference', ''])).toBeUndefined();
  });

  it('names the rows that a filter hides, but only of their sheet', async () => {
    const filtered = sheetXml([['a'], ['b'], ['c']]).replace('<row r="2"', '$& hidden="1"');
    const sheets = await read(workbookOf({ Empty: empty, Filtered: filtered, Whole: [['a']] }));
    expect(sheets.map((sheet) => [sheet.name, cellFault(sheet, [''])?.slice(0, 15)])).toEqual([
      ['Filtered', 'Row 2 is hidden'],
      ['Whole', undefined],
    ]);
  });

  it('has no dates where a field is expected', async () => {
    const sheet = await oneSheet([['Customer'], [{ xml: '<c s="1"><v>45000</v></c>' }]]);
    expect(cellFault(sheet, ['tenantReference'])).toMatch(/^“Customer” has in row 2 a date/);
    expect(cellFault(sheet, ['metadata.since'])).toBeUndefined();
  });

  it('has no numbers that Excel shows with zeros or a text before them where a reference is expected', async () => {
    const cell = (xml: string, style = 2) => ({ xml: `<c s="${style}">${xml}</c>` });
    const numbers = [
      '<v>123</v>',
      '<f>B1+1</f><v>99</v>',
      '<v>12345</v>',
      '<v>123.0</v>',
      '<v>1.23E2</v>',
    ].map((xml) => [cell(xml)]);
    const prefixed = [cell('<v>12345</v>', 3)];
    const sheet = await oneSheet([
      ['Customer'],
      ...numbers,
      prefixed,
      [{ xml: '<c s="2" t="str"><v>12</v></c>' }],
    ]);
    expect(cellFault(sheet, ['tenantReference'])).toMatch(
      /^“Customer” has in rows 2, 3, 5, 6, 7 a number that .* zeros/,
    );
    expect(cellFault(sheet, ['metadata.customer'])).toBeUndefined();
  });

  it('has all sheets with any cell, by their names', async () => {
    const book = workbookOf({ 'Klanten & co': [['a']], Empty: empty, Lists: [['b'], ['c']] });
    expect((await read(book)).map(({ name, rows }) => [name, rows.length])).toEqual([
      ['Klanten & co', 1],
      ['Lists', 2],
    ]);
  });

  const half: Zippable[string] = [new Uint8Array(50_000_000), { level: 1 }];
  it.each<[string, Uint8Array, RegExp]>([
    ['of an old version', Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 1, 2), /old version of Excel/],
    [
      'encrypted',
      Buffer.concat([
        Buffer.of(0xd0, 0xcf, 0x11, 0xe0),
        Buffer.alloc(64),
        Buffer.from('EncryptedPackage', 'utf16le'),
      ]),
      /protected with a password/,
    ],
    ['binary', workbookOf({}, { 'xl/workbook.bin': strToU8('x') }), /\.xlsb/],
    ['another file', strToU8('a;b'), /no Excel workbook/],
    ['cut', workbookOf({ A: [['a']] }).subarray(0, 400), /damaged/],
    ['whose sheet is cut', workbookOf({ A: sheetXml([['a']]).slice(0, -20) }), /damaged/],
    ['whose XML is wrong', workbookOf({ A: '<worksheet><sheetData><c r=1</worksheet>' }), /damaged/],
    [
      'a bomb in parts',
      workbookOf({ A: [['a']] }, { 'xl/1.xml': half, 'xl/2.xml': half }),
      /more than 100 MB/,
    ],
  ])('is refused: %s', async (_, bytes, message) => {
    await expect(read(bytes)).rejects.toThrow(message);
  });

  it('is refused if a long text in many of its cells is more than 100 million characters', async () => {
    const cell = { xml: '<c t="s"><v>0</v></c>' };
    const book = workbookOf(
      { A: Array.from({ length: 1_100 }, () => [cell]) },
      { 'xl/sharedStrings.xml': strToU8(`<sst><si><t>${'x'.repeat(100_000)}</t></si></sst>`) },
    );
    await expect(read(book)).rejects.toThrow('more than 100 million characters');
  });

  it('is refused if it states a smaller size than it has, without being unpacked whole', async () => {
    const book = workbookOf(
      { A: empty },
      { 'xl/worksheets/sheet1.xml': [new Uint8Array(50_000_000), { level: 1 }] },
    );
    const size = Buffer.alloc(4);
    size.writeUInt32LE(50_000_000);
    for (let at = book.indexOf(size); at >= 0; at = book.indexOf(size)) book.writeUInt32LE(1_000, at);
    await expect(read(book)).rejects.toThrow('damaged');
  });

  it('is refused, and not read for minutes, if its sheet is a text of unclosed tags', async () => {
    const xml = `<worksheet><sheetData>${'<c '.repeat(2_000_000)}</sheetData></worksheet>`;
    await expect(read(workbookOf({ A: xml }))).rejects.toThrow('damaged');
  });
});
