import Papa from 'papaparse';
import { eansIn, hasOtherEan } from '../../../src/platform/ean-digits.rules.js';
import { decodeGuessed, markedEncoding } from '../../../src/spreadsheet/encoding.rules.js';
import { misreadFault, readTwiceFault } from '../../../src/spreadsheet/misread.rules.js';
import { csvOf, cellFault, headerIndex, type Sheet } from '../../../src/spreadsheet/sheet.rules.js';
import { texts } from '../texts.js';
import { proposalOf, type Use } from './columns.js';

/** A file as rows of cells. */
export interface TableFile {
  readonly name: string;
  readonly headers: readonly string[];
  /** The rows below the names of the columns. Some may be empty, so that each keeps its number. */
  readonly rows: readonly (readonly string[])[];
  /** The number of the first of these rows, as a spreadsheet shows it. */
  readonly firstRow: number;
  /** Returns which cells cannot be imported in columns of this use, in words. */
  readonly faultOf: (uses: readonly Use[]) => string | undefined;
}

/** The most bytes that are read in the browser. The command line uploads larger files. */
export const MOST_BYTES = 20_000_000;
const DELIMITERS = [',', ';', '\t', '|'];
/** How many characters are made by one call, whose arguments the stack must hold. */
const CHUNK = 8_192;

/**
 * Decodes a file as its byte order mark says, else as UTF-8 or, if it is none, as Windows-1252, as older versions of Excel write it. Throws
 * Error, as the service refuses such a file, if it mixes encodings or is probably of another one.
 */
export function decode(bytes: Uint8Array): string {
  const marked = markedEncoding(latin1(bytes.subarray(0, 3)));
  try {
    return new TextDecoder(marked ?? 'utf-8', { fatal: true }).decode(bytes);
  } catch {
    const text = decodeGuessed(latin1(bytes));
    if (marked !== undefined || text.includes('\ufffd')) throw new Error(texts.import.mixedEncodings);
    for (const line of text.split('\n')) {
      const fault = /[^\0-\x7f]/.test(line) ? misreadFault(line, texts.import.otherEncoding) : undefined;
      if (fault !== undefined) throw new Error(fault);
    }
    return text;
  }
}

/** Returns each byte as the character with its number. */
function latin1(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK)
    parts.push(String.fromCharCode(...bytes.subarray(at, at + CHUNK)));
  return parts.join('');
}

/** Reads a text of rows, whose separator is detected. Throws Error with what is wrong, in words. */
export function readTable(name: string, text: string): TableFile {
  const body = text.replace(/^\uFEFF?(sep=.\r?\n)?/, '');
  const { data, errors } = Papa.parse<string[]>(body, { delimiter: delimiterOf(body) });
  const readTwice = readTwiceFault(body, texts.import.readTwice);
  if (readTwice !== undefined) throw new Error(readTwice);
  const quotes = errors.find(({ type }) => type === 'Quotes');
  if (quotes !== undefined) throw new Error(texts.import.openQuote((quotes.row ?? 0) + 1));
  return tableOf(name, data, () => undefined);
}

/** Returns the separator with which most names of columns are known; if none are, the one that splits the first rows most evenly. */
function delimiterOf(body: string): string {
  // Empty rows are kept for their numbers, and would mislead the detection.
  const options = { preview: 20, skipEmptyLines: 'greedy' } as const;
  const knownBy = (delimiter: string) => {
    const [names = []] = Papa.parse<string[]>(body, { ...options, delimiter }).data;
    return proposalOf(names).filter((use) => use !== '').length;
  };
  const [best] = DELIMITERS.toSorted((one, other) => knownBy(other) - knownBy(one));
  return knownBy(best!) > 0
    ? best!
    : Papa.parse(body, { ...options, delimitersToGuess: DELIMITERS }).meta.delimiter;
}

/** Returns a sheet of a workbook as a file. Throws Error with what is wrong, in words. */
export const sheetTable = (name: string, sheet: Sheet): TableFile =>
  tableOf(name, sheet.rows, (uses) => cellFault(sheet, uses));

function tableOf(name: string, all: TableFile['rows'], faultOf: TableFile['faultOf']): TableFile {
  const header = headerIndex(all);
  const rows = all.slice(header + 1, all.findLastIndex(hasText) + 1);
  if (header < 0 || rows.length === 0) throw new Error(texts.import.noRows);
  return { name, headers: all[header]!.map((each) => each.trim()), rows, firstRow: header + 2, faultOf };
}

export const hasText = (row: readonly string[]): boolean => row.some((cell) => cell.trim() !== '');

/** Returns the index of the first column that is not used and has further EANs, without which the customers would be registered. */
export function unusedEans(rows: TableFile['rows'], uses: readonly Use[]): number | undefined {
  const eanOf = (row: readonly string[]) => eansIn(row[uses.indexOf('ean')] ?? '')[0] ?? null;
  const found = uses.findIndex(
    (use, column) => use === '' && rows.some((row) => hasOtherEan(row[column] ?? '', eanOf(row))),
  );
  return found < 0 ? undefined : found;
}

/** Returns the CSV to upload: the columns that are used, under the names that the API knows. Row n is on line n + 2. */
export function csvFor(rows: TableFile['rows'], uses: readonly Use[]): string {
  const used = uses.flatMap((use, index) => (use === '' ? [] : [index]));
  return csvOf([
    used.map((index) => uses[index]!),
    ...rows.map((row) => [...used.map((index) => row[index] ?? ''), ...row.slice(uses.length)]),
  ]);
}
