import { expect, it } from '@jest/globals';
import { csvFor, decode, readTable, sheetTable, unusedEans } from './table-file.js';

it.each([
  ['a comma', 'a,b\n1,2\n'],
  ['a semicolon, as Excel writes it', 'sep=;\r\na;b\r\n1;2\r\n'],
  ['a tab, as a paste from a spreadsheet has it', 'a\tb\n1\t2'],
  ['a byte order mark', '\uFEFFa,b\n1,2\n\n\n'],
])('reads rows with %s', (_, text) => {
  expect(readTable('file', text)).toMatchObject({ name: 'file', headers: ['a', 'b'], rows: [['1', '2']] });
});

it('reads rows by the separator with which the names of the columns are known', () => {
  const rows = [
    'Klantnr;EAN;Adres',
    'C-1;5;Dorp 1, 2000, Antwerpen, BE',
    'C-2;6;Dorp 2, 2000, Antwerpen, BE',
  ];
  expect(readTable('file', rows.join('\n')).headers).toEqual(['Klantnr', 'EAN', 'Adres']);
});

it('finds a further EAN in a column that is not used', () => {
  const [one, two] = ['541448820051007155', '541448820051007520'];
  const uses = ['', 'ean', ''] as const;
  expect(unusedEans([[one, one, '0471 12 34 56']], uses)).toBeUndefined();
  expect(
    unusedEans(
      [
        ['', one, ''],
        ['', one, '5414488 20051-007520'],
      ],
      uses,
    ),
  ).toBe(2);
  expect(unusedEans([['', one, two]], ['', 'ean', 'metadata.note'])).toBeUndefined();
});

it.each([
  ['a,b\n', 'There must be a line with the names'],
  ['', 'There must be a line with the names'],
  ['a,b\n"1,2\n', 'A quote is not closed'],
  ['a,b\nRenÃ©e,2\n', 'a word of the file is "RenÃ©e", probably "Renée"'],
])('refuses %j: %s', (text, message) => {
  expect(() => readTable('file', text)).toThrow(message);
});

it('keeps the number of each row, also below empty ones', () => {
  const table = readTable('file', '\n\na,b\n1,2\n\n3,4\n,\n');
  expect(table).toMatchObject({ headers: ['a', 'b'], rows: [['1', '2'], [''], ['3', '4']], firstRow: 4 });
});

it('says which cells of a sheet cannot be imported', () => {
  const doubtful = [{ column: 1, doubt: 'digits', rows: [2], count: 1 }] as const;
  const sheet = {
    name: 'A',
    rows: [
      ['Klant', 'Telefoon'],
      ['1', '3.1E+16'],
    ],
    doubtful,
  };
  const { faultOf } = sheetTable('file', sheet);
  expect(faultOf(['tenantReference', 'metadata.phone'])).toContain('“Telefoon” has in row 2 a number');
  expect(faultOf(['tenantReference', ''])).toBeUndefined();
});

it('decodes Windows-1252 and UTF-16, too', () => {
  expect(decode(Uint8Array.of(0x4e, 0xe9))).toBe('Né');
  expect(decode(new Uint8Array(new TextEncoder().encode('Né')))).toBe('Né');
  expect(decode(Uint8Array.of(0xff, 0xfe, 0x41, 0x00))).toBe('A');
  expect(decode(Uint8Array.of(0xfe, 0xff, 0x00, 0x41))).toBe('A');
});

it.each([
  ['cp850', 'a,b\nRen\x82e,K\x94ln', 'as cp850 it is "Renée"'],
  ['of an old Macintosh', 'a,b\nRen\x8ee,1', 'as macintosh "Renée"'],
  ['of two encodings', 'a,b\nRen\xc3\xa9e,No\xebl', 'not a text in one encoding'],
  ['of UTF-8 by its mark alone', '\xef\xbb\xbfa,b\nNo\xebl,1', 'not a text in one encoding'],
])('refuses a file that is %s, as the service does', (_, bytes, message) => {
  expect(() => decode(Uint8Array.from(bytes, (each) => each.charCodeAt(0)))).toThrow(message);
});

it('writes the used columns under the names of the API, each row on one line', () => {
  expect(csvFor([['7', 'x', 'two\nlines']], ['tenantReference', '', 'metadata.note'])).toBe(
    'tenantReference,metadata.note\r\n7,two lines',
  );
});

it('keeps the cells beyond the names of the columns, so that the service sees that the row is shifted', () => {
  const rows = [
    ['Jansen', ' P.', 'C-1', '5'],
    ['Piet', 'C-2', '6', ''],
  ];
  expect(csvFor(rows, ['', 'tenantReference', 'ean'])).toBe('tenantReference,ean\r\n" P.",C-1,5\r\nC-2,6,');
});
