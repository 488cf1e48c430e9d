import { DELIMITERS, type CampaignFormat } from '../campaign.rules.js';
import { recognisedColumns } from './headers.rules.js';

/**
 * The number of bytes that are read before the layout of a file is detected. Its encoding is detected from as many bytes, from the first
 * byte beyond ASCII on.
 */
export const SAMPLE_BYTES = 65_536;

type Encoding = CampaignFormat['encoding'];
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

const BYTE_ORDER_MARKS: readonly (readonly [mark: string, encoding: Encoding])[] = [
  ['\xef\xbb\xbf', 'utf-8'],
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
];

/** Matches the bytes of a UTF-8 character beyond ASCII, or one byte beyond ASCII that is not part of such a character. */
export const BEYOND_ASCII =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;
/** Matches the beginning of a character of UTF-8 at the end of a part. */
export const CUT_CHARACTER = /[\xc2-\xf4][\x80-\xbf]{0,2}$/;

/** Returns the encoding that the byte order mark of a file names, or undefined if it has none. */
export const markedEncoding = (beginning: string): Encoding | undefined =>
  BYTE_ORDER_MARKS.find(([mark]) => beginning.startsWith(mark))?.[1];

/**
 * Returns the encoding of a sample without a byte order mark, whose bytes are given as characters. If it has bytes beyond ASCII and none is
 * UTF-8, the encoding is Windows-1252, else UTF-8. If only some are UTF-8, the reader refuses the lines that contain the other bytes.
 */
export function detectEncoding(bytes: string): Encoding {
  const found = bytes.replace(CUT_CHARACTER, '').match(BEYOND_ASCII) ?? [];
  return found.length > 0 && found.every((each) => each.length === 1) ? 'windows-1252' : 'utf-8';
}

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
