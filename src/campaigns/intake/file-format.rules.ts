import { DELIMITERS, type CampaignFormat } from '../campaign.rules.js';
import { recognisedColumns } from './headers.rules.js';

type Delimiter = NonNullable<CampaignFormat['delimiter']>;

const BINARY: readonly (readonly [beginning: string, name: string])[] = [
  ['PK', 'an Excel workbook (.xlsx) or a ZIP file'],
  ['\xd0\xcf\x11\xe0', 'an Excel workbook (.xls)'],
  ['\x1f\x8b', 'compressed (gzip)'],
  ['\x28\xb5\x2f\xfd', 'compressed (zstd)'],
  ['BZh', 'compressed (bzip2)'],
  ['\xfd7zXZ', 'compressed (xz)'],
  ['7z\xbc\xaf', 'a 7-Zip file'],
  ['%PDF', 'a PDF'],
];

/** Returns the type of a file that is certainly neither CSV nor NDJSON, else undefined. */
export const binaryKind = (beginning: string): string | undefined =>
  BINARY.find(([magic]) => beginning.startsWith(magic))?.[1];

/** The line in which some programs name the delimiter for Excel. */
const DELIMITER_LINE = /^sep=([,;\t|])\r?\n/i;

/** The layout of a CSV file. `skipped`: the length of a line before the header, which names the delimiter. */
interface Layout {
  readonly delimiter: Delimiter;
  readonly quote: '"' | "'";
  readonly skipped: number;
}

/** Returns the layout of a text. Chooses the delimiter with which most column names are recognised, and of these the most frequent. */
export function detectLayout(text: string): Layout {
  const [line = '', given] = DELIMITER_LINE.exec(text) ?? [];
  const header = text
    .slice(line.length)
    .replace(/^[\r\n]+/, '')
    .split(/[\r\n]/)[0]!;
  const quote = header.startsWith("'") ? "'" : '"';
  const cellsBy = (delimiter: Delimiter) => header.replaceAll(quote, '').split(delimiter);
  const score = (delimiter: Delimiter) =>
    recognisedColumns(cellsBy(delimiter)) * 1_000 + cellsBy(delimiter).length;
  const detected = [...DELIMITERS].sort((one, other) => score(other) - score(one))[0]!;
  return { delimiter: (given as Delimiter | undefined) ?? detected, quote, skipped: line.length };
}

/** Returns whether a text is NDJSON: the header of a CSV file never begins with a brace. */
export const isNdjson = (text: string): boolean => /^\s*\{/.test(text);

/** Returns whether a text is a JSON array, which cannot be read row by row. */
export const isJsonArray = (text: string): boolean => /^\s*\[/.test(text);
