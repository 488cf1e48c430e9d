import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromExcelCell, toExcelCell } from './excel.rules.js';

const text = fc.string({
  unit: fc.constantFrom(
    '=',
    '+',
    '-',
    '@',
    '\t',
    '\r',
    '\n',
    "'",
    '"',
    '0',
    '7',
    'a',
    ' ',
    ';',
    ',',
    '/',
    'E',
    'mar',
    'true',
    '#',
    '$',
    '(',
  ),
});
/** Returns the parts into which a program may split a cell by another separator than ours, without blanks and quotes at their beginning. */
const beginnings = (cell: string) => cell.split(/[,;\t|\r\n]/).map((each) => each.replace(/^[ "]*/, ''));
const digits = fc.string({ unit: fc.constantFrom('0', '1', '9'), minLength: 1, maxLength: 20 });

describe('cells for a spreadsheet', () => {
  it('are never formulas, whatever separator a program splits by, except for a text', () => {
    fc.assert(
      fc.property(fc.oneof(text, digits), (each) => {
        const cell = toExcelCell(each);
        if (/^="[^"]*"$/.test(cell)) return;
        for (const beginning of beginnings(`x;${cell}`)) expect(beginning).not.toMatch(/^[=+\-@]/);
        expect(cell).not.toMatch(/^[\t\r]/);
      }),
    );
  });

  it('are read back as they were', () => {
    fc.assert(
      fc.property(fc.oneof(text, digits), (each) => {
        expect(fromExcelCell(toExcelCell(each))).toBe(each);
      }),
    );
  });

  it.each([
    ['541448820041865013', '="541448820041865013"'],
    ['00012', '="00012"'],
    ['C-12', 'C-12'],
    ['12', '12'],
    ['1E5', '="1E5"'],
    ['12-3', '="12-3"'],
    ['2026-11', '="2026-11"'],
    ['1/2', '="1/2"'],
    ['1.50', '="1.50"'],
    ['10:30 pm', '="10:30 pm"'],
    ['MAR-12', '="MAR-12"'],
    ['3 okt 2026', '="3 okt 2026"'],
    ['(5)', '="(5)"'],
    ['$5', '="$5"'],
    ['€ 1.50', '="€ 1.50"'],
    ['5 €', '="5 €"'],
    ['#N/A', '="#N/A"'],
    ['#DIV/0!', '="#DIV/0!"'],
    ['true', '="true"'],
    ['WAAR', '="WAAR"'],
    ['Faux', '="Faux"'],
    ['Trueman', 'Trueman'],
    ['#12 rear', '#12 rear'],
    ['Peeters 12', 'Peeters 12'],
    ['12 Kerkstraat', '12 Kerkstraat'],
    ['a;=1+1', "a;'=1+1"],
    ['a,"@x\n-2', `a,"'@x\n'-2`],
    ['\t=1', "'\t'=1"],
    ["a;'=1", "a;''=1"],
    ['see; this', 'see; this'],
    ['-12', "'-12"],
    ['=1+1', "'=1+1"],
    ["'=1+1", "''=1+1"],
    ["'s-Hertogenbosch", "'s-Hertogenbosch"],
  ])('of %s is %s', (each, cell) => expect(toExcelCell(each)).toBe(cell));
});
