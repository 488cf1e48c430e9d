import Papa from 'papaparse';
import type { Use } from './columns.js';

/** A file as rows of cells. */
export interface TableFile {
  readonly name: string;
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The most bytes that are read in the browser. The command line uploads larger files. */
export const MOST_BYTES = 20_000_000;

/** Decodes a file as UTF-8 or, if it is none, as Windows-1252, as older versions of Excel write it. */
export function decode(bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Reads a text of rows, whose separator is detected. Throws Error with what is wrong, in words. */
export function readTable(name: string, text: string): TableFile {
  const body = text.replace(/^\uFEFF?(sep=.\r?\n)?/, '');
  const { data, errors } = Papa.parse<string[]>(body, {
    skipEmptyLines: 'greedy',
    delimitersToGuess: [',', ';', '\t', '|'],
  });
  const quotes = errors.find(({ type }) => type === 'Quotes');
  if (quotes !== undefined) throw new Error(`A quote is not closed, after row ${(quotes.row ?? 0) + 1}.`);
  const [headers = [], ...rows] = data;
  if (rows.length === 0)
    throw new Error('There must be a line with the names of the columns, and a row below.');
  return { name, headers: headers.map((each) => each.trim()), rows };
}

/** Returns the CSV to upload: the columns that are used, under the names that the API knows. Row n is on line n + 2. */
export function csvFor(rows: readonly (readonly string[])[], uses: readonly Use[]): string {
  const used = uses.flatMap((use, index) => (use === '' ? [] : [index]));
  const oneLine = (cell: string | undefined) => (cell ?? '').replace(/[\r\n]+/g, ' ');
  return Papa.unparse(
    [used.map((index) => uses[index]!), ...rows.map((row) => used.map((index) => oneLine(row[index])))],
    { newline: '\r\n' },
  );
}
