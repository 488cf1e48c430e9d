import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CsvReader } from './csv-reader.js';
import { MAX_ROW_CHARACTERS, type FileRow } from './row.rules.js';

function read(text: string, partLength = text.length, delimiter = ',', quote = '"'): FileRow[] {
  const reader = new CsvReader(delimiter, quote, { encoding: 'utf-8' });
  const rows: FileRow[] = [];
  for (let at = 0; at < text.length; at += Math.max(1, partLength))
    rows.push(...reader.read(text.slice(at, at + Math.max(1, partLength))));
  return [...rows, ...reader.end()];
}

const cells = (rows: readonly FileRow[]) => rows.map((row) => row.cells);

const faultOf = (text: string): string => {
  try {
    read(text);
  } catch (error) {
    return (error as { detail: string }).detail;
  }
  return 'none';
};

const cell = fc.string({ unit: fc.constantFrom('a', 'é', ' ', ',', ';', '"', "'", '\r', '\n', '\t', '1') });
const table = fc
  .array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 })
  .filter((rows) => rows.every((row) => row.some((each) => each.trim() !== '')));

describe('the reader of CSV', () => {
  it('reads what was written, in whatever parts it arrives', () => {
    const ends = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(table, fc.nat({ max: 9 }), ends, fc.constantFrom('"', "'"), (rows, length, end, quote) => {
        const text = rows
          .map((row) => row.map((each) => quote + each.replaceAll(quote, quote + quote) + quote).join(';'))
          .join(end);
        expect(cells(read(text, length, ';', quote))).toEqual(rows);
      }),
    );
  });

  it('gives each row the line on which it begins, whatever ends the lines', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['a,b', `"c${end}${end}d",e`, '', ' ,', 'f,g'].join(end);
      for (const length of [1, 2, 100]) expect(read(text, length).map(({ line }) => line)).toEqual([1, 2, 7]);
    }
  });

  it('reads no row of the character that ends a file of DOS', () => {
    for (const end of ['\r\n\x1a', '\r\n\x1a\r\n'])
      expect(cells(read(`a,b\r\n1,2${end}`))).toEqual([
        ['a', 'b'],
        ['1', '2'],
      ]);
  });

  it('takes a quote within a cell literally if the cell does not begin with one', () => {
    for (const length of [1, 2, 100])
      expect(cells(read('12" pipe,5\' 6"\n', length))).toEqual([['12" pipe', '5\' 6"']]);
  });

  it('names line and column of what it cannot read', () => {
    expect(faultOf('a,b\n1,"2\n3,4')).toContain('Line 2, column 2: a quote begins a cell here');
    expect(faultOf('a,b\n"1"x,2')).toContain('Line 2, column 1: text follows the quote');
    expect(faultOf('a,b\n1,2\0')).toContain('Line 2, column 2: there is a byte 0');
    expect(faultOf('a,b\n"\ufffd",2')).toContain('Line 2, column 1: there is a byte that is not utf-8');
  });

  it('cuts the long cell of a row that is too long, and goes on behind it', () => {
    const long = 'x'.repeat(MAX_ROW_CHARACTERS);
    const rows = read(`a,b\n1,"${long}${long}",3\n4,${long.slice(2)}\n`, 1_000);
    expect(rows.map(({ line, isTooLong }) => [line, isTooLong])).toEqual([
      [1, false],
      [2, true],
      [3, false],
    ]);
    expect(cells(rows.slice(1))).toEqual([
      ['1', long.slice(0, 500), '3'],
      ['4', long.slice(2)],
    ]);
  });

  it('refuses a cell of several lines in a row that is too long, since rows may be in it', () => {
    const long = 'x'.repeat(MAX_ROW_CHARACTERS);
    expect(faultOf(`a,b\n1,"x\n2,y\n3,${long}\n4","z"`)).toContain(
      'Line 2, column 2: a quote begins a cell here',
    );
  });
});
