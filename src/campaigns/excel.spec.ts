import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromExcelCell, toExcelCell } from './excel.rules.js';

const text = fc.string({
  unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', "'", '"', '0', '7', 'a', ' '),
});
const digits = fc.string({ unit: fc.constantFrom('0', '1', '9'), minLength: 1, maxLength: 20 });

describe('cells for a spreadsheet', () => {
  it('are never formulas, except for the text of digits', () => {
    fc.assert(
      fc.property(fc.oneof(text, digits), (each) => {
        expect(toExcelCell(each)).toMatch(/^(?![=+\-@\t\r])|^="\d+"$/);
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
    ['-12', "'-12"],
    ['=1+1', "'=1+1"],
    ["'=1+1", "''=1+1"],
    ["'s-Hertogenbosch", "'s-Hertogenbosch"],
  ])('of %s is %s', (each, cell) => expect(toExcelCell(each)).toBe(cell));
});
