import { describe, expect, it } from '@jest/globals';
import { proposedField } from './column-names.rules.js';
import { hiddenFault, paddedCells, sheetFault, sheetPaths } from './sheet-xml.rules.js';
import { cellFault, csvOf, headerIndex, isCompound, isWorkbook, isZip } from './sheet.rules.js';

const sheet = (rows: string) =>
  `<worksheet><cols><col r="A0"/></cols><sheetData>${rows}</sheetData></worksheet>`;
const value = (place: string) => `<row><c r="${place}"><v>1</v></c></row>`;
const DAMAGED = expect.stringContaining('damaged') as unknown as string;
const tooLarge = (row: number, column: number) =>
  expect.stringMatching(`row ${row} and column ${column}, `) as unknown as string;
const noResult = (row: number, column: number) =>
  expect.stringContaining(`row ${row}, column ${column} has no result`) as unknown as string;

describe('the XML of a sheet', () => {
  it.each<[xml: string, fault: string | undefined]>([
    ['<a><row r="0"/></a>', undefined],
    ['<x:worksheet><x:sheetData/></x:worksheet> \n', undefined],
    ['<worksheet><sheetData/></worksheet><a/>', DAMAGED],
    [sheet('<row r="0"/>'), DAMAGED],
    [sheet('<row r="1e9"/>'), DAMAGED],
    [sheet("<row r='1048577'/>"), DAMAGED],
    [sheet('<row r="1048576"/>'), undefined],
    [sheet('<row r="1048576"/><row/>'), DAMAGED],
    [sheet('<row><c r="A900000000"/></row>'), DAMAGED],
    [sheet('<row r = "0"/>'), DAMAGED],
    [sheet('<row><c r="1A"/></row>'), DAMAGED],
    [sheet('<row><c r="1A1"/></row>'), DAMAGED],
    [sheet('<row><c r="A1B"/></row>'), DAMAGED],
    [sheet('<row><c r="A1048577"/></row>'), DAMAGED],
    [sheet('<row><c r="ZZZZ1"/></row>'), DAMAGED],
    [sheet('<row><c r="XFE1"/></row>'), DAMAGED],
    [sheet('<row><c r="xfd1048576"/></row>'), undefined],
    [sheet('<row><c r="XFD1"/><c/></row>'), DAMAGED],
    [sheet('<row><c r="XFD1"/></row><row><c/></row>'), undefined],
    [sheet(value('XFD1048576')), tooLarge(1_048_576, 16_384)],
    [sheet(value('ALL5000')), undefined],
    [sheet(value('ALL5001')), tooLarge(5_001, 1_000)],
    [sheet(value('A5001') + value('ALL1')), tooLarge(5_001, 1_000)],
    [sheet('<row r="7"><c/><c><f>A1</f></c></row>'), noResult(7, 2)],
    [sheet('<row><c><f>A1</f><v/></c></row>'), noResult(1, 1)],
    [sheet('<row><c><f>A1</f><v></v></c></row>'), noResult(1, 1)],
    [sheet('<row><c><f>A1</f><v>1</v></c><c><f/></c></row>'), noResult(1, 2)],
    [sheet('<x:row><x:c><x:f>A1</x:f></x:c></x:row>'), noResult(1, 1)],
    [sheet('<row><c><f>A1</f><v>1</v></c><c></c></row>'), undefined],
    [sheet('<row><c t="str"><f>A1</f><v></v></c></row>'), undefined],
    [sheet(`<row><c><v>${'1'.repeat(200_000)}</v></c></row>`), undefined],
    [sheet(`<row><c><v>${'1'.repeat(200_001)}</v></c></row>`), DAMAGED],
    [`<a>${'<'.repeat(200_001)}`, DAMAGED],
    [`<a ${' '.repeat(200_000)}>`, DAMAGED],
    ['<a>'.repeat(100_000), undefined],
  ])('is refused or read: case %#', (xml, fault) => expect(sheetFault(xml)).toEqual(fault));

  it.each<[rows: string, fault: string | undefined]>([
    [`<row hidden="1"><c/></row><row hidden='true'/>${value('A3')}`, undefined],
    ['<row hidden="0"><c><v>1</v></c></row><row hidden="false"><c><v>1</v></c></row>', undefined],
    ['<x:row/><x:row r="4" hidden="true"><x:c><v>1</v></x:c><c><v>2</v></c></x:row>', 'Row 4 is hidden, '],
    ['<row hidden="1"><c><v>1</v></c></row>'.repeat(3), '3 rows, from row 1 on, are hidden, '],
  ])('tells the rows that are hidden: case %#', (rows, fault) =>
    expect(hiddenFault(sheet(rows))?.slice(0, fault?.length)).toBe(fault),
  );

  it('is found by its place in the workbook', () =>
    expect(
      sheetPaths(
        `<x:sheets><sheet name="a>'b" sheetId="3" r:id="b"/><x:sheet q:id='a' name=""/><sheet r:id="c"/></x:sheets>`,
        '<Relationships><Relationship Id="a" Target="/xl/a.xml"/><Relationship Target="b/b.xml" Id="b"/></Relationships>',
      ),
    ).toEqual(['xl/b/b.xml', 'xl/a.xml', undefined]));
});

it.each([
  ...['00000', '00000_);(00000)', '[Blue]00000', '[$-413]00000', '[<=999]0000;00000', '#0000', '0####'],
  ...[
    '000 000',
    '00000-000',
    '00/000',
    '0000.',
    '"K"#',
    '"K"General',
    'General" K"',
    '\\K0',
    '[$K-413]0',
    'K0',
    '"K"@',
  ],
])('the format %s shows 123 with zeros or a text', (code) =>
  expect(padded(code)).toEqual([{ row: 2, column: 1 }]),
);

it.each([
  ...[
    '0',
    '#,##0',
    '000',
    '00,0',
    '0.00',
    '_-* #,##0_-;_-* "K"#,##0',
    '#,##0\\ ',
    '"" 0',
    '@',
    ';;;',
    '[Red]0',
    'General',
  ],
])('the format %s shows 123 as it is', (code) => expect(padded(code)).toEqual([]));

function padded(code: string) {
  const format = (formatCode: string) =>
    `<numFmt numFmtId="164" formatCode="${formatCode.replaceAll('"', '&quot;')}"/>`;
  const styles = `<styleSheet><numFmts count="1">${format(code)}</numFmts><cellXfs count="1"><xf numFmtId="164"/></cellXfs><dxfs><dxf>${format('0')}</dxf></dxfs></styleSheet>`;
  return paddedCells('<row r="2"><c r="A2"><v>123</v></c></row>', styles);
}

describe('the cells of a sheet', () => {
  const rows = [
    [' ', ''],
    ['Nr', ' ', '0'],
  ];
  const doubtful = [
    { column: 0, doubt: 'digits', rows: [3, 4], count: 3 },
    { column: 1, doubt: 'date', rows: [3], count: 1 },
    { column: 2, doubt: 'digits', rows: [5], count: 1 },
  ] as const;

  it.each([
    [['', ''], undefined],
    [[], undefined],
    [['ean', 'metadata.day'], undefined],
    [['brand'], /^“Nr” has in rows 3, 4 and 1 more a number of 16 .* again\.$/],
    [['tenantReference', 'locale'], /^“column 2” has in row 3 a date, .* again\.$/],
    [['', '', 'metadata.x'], /^“0” has in row 5 a number/],
    [['ean', 'brand', 'brand'], /^“column 2” has/],
  ])('cannot be imported as %j: %s', (uses, fault) => {
    const found = cellFault({ name: 'A', rows, doubtful }, uses);
    expect(found).toEqual(fault && expect.stringMatching(fault));
  });

  it('stand below the first row with any text', () => {
    expect([headerIndex(rows), headerIndex([[' ']]), headerIndex([])]).toEqual([1, -1, -1]);
    expect(cellFault({ name: 'A', rows: [], doubtful }, ['brand'])).toMatch(/^“column 1” has/);
  });

  it('are CSV, each row on one line', () => {
    const cells = ['a b', 'a\r\n\nb', ' a', 'a\t', 'a,b', 'a"b', "a'b"];
    expect(csvOf([cells, ['c', '']])).toBe(`a b,a b," a","a\t","a,b","a""b","a'b"\r\nc,`);
  });
});

it.each([
  ['Klant-nr.', 'tenantReference'],
  ['ZÄHLPUNKT', 'ean'],
  ['EAN 18', 'ean'],
  ['Hersteller', 'brand'],
  ['Taal', 'locale'],
  ["Nombre d'onduleurs", 'expectedInverters'],
  ['EAN confirmé', 'eanConfirmed'],
  ['EAN of the neighbour', undefined],
  ['', undefined],
  [`ean${'\u0301'.repeat(97)}`, 'ean'],
  [`ean${'\u0301'.repeat(98)}`, undefined],
])('the column %j is probably %s', (name, field) => expect(proposedField(name)).toBe(field));

it.each([
  ['PK', true, false],
  ['P', false, false],
  ['xK', false, false],
  ['\xd0\xcf\x11\xe0', false, true],
  ['\xd0\xcf\x11', false, false],
])('%j begins a ZIP: %s, an old workbook: %s', (text, zip, compound) => {
  const bytes = Buffer.from(text, 'latin1');
  expect([isZip(bytes), isCompound(bytes), isWorkbook(bytes)]).toEqual([zip, compound, zip || compound]);
});
