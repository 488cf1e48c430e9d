/** Why the text of a cell is perhaps not what a person has entered. */
export type Doubt = 'digits' | 'date' | 'zeros';

/** The cells of one column with the same doubt. */
export interface DoubtfulCells {
  readonly column: number;
  readonly doubt: Doubt;
  /** The numbers of the first rows with it, as Excel shows them. */
  readonly rows: readonly number[];
  readonly count: number;
}

/** A sheet of a workbook. All rows have the same number of cells. */
export interface Sheet {
  readonly name: string;
  readonly rows: readonly (readonly string[])[];
  readonly doubtful: readonly DoubtfulCells[];
  /** Why it cannot be imported at all, in words. */
  readonly fault?: string;
}

const WORDS: Readonly<Record<Doubt, string>> = {
  digits:
    'a number of 16 or more digits, of which Excel keeps 15: format the column as text, and enter these numbers again',
  date: 'a date, which Excel may have made of something else: format the column as text, and enter it again',
  zeros:
    'a number that Excel shows with zeros or a text before it, which the cell does not have: format the column as text, and enter it again',
};

/** In these columns the service refuses each long number, in its row. */
const CHECKED_BY_ROW: readonly string[] = ['tenantReference', 'ean'];

/** Returns the index of the row with the names of the columns, the first with any text; -1 without one. */
export const headerIndex = (rows: Sheet['rows']): number =>
  rows.findIndex((row) => row.some((cell) => cell.trim() !== ''));

/**
 * Returns which cells of a sheet cannot be imported, in words; undefined if all can. `uses`: for each column the field or `metadata.NAME`
 * that it becomes; empty if it is left out.
 */
export function cellFault({ rows, doubtful, fault }: Sheet, uses: readonly string[]): string | undefined {
  if (fault !== undefined) return fault;
  const [names = []] = rows.slice(headerIndex(rows));
  const found = doubtful.find(({ column, doubt }) => {
    const use = uses[column] ?? '';
    if (use === '') return false;
    if (doubt === 'zeros') return use === 'tenantReference';
    return doubt === 'date' ? !use.startsWith('metadata.') : !CHECKED_BY_ROW.includes(use);
  });
  if (found === undefined) return undefined;
  const { column, doubt, rows: first, count } = found;
  const more = count > first.length ? ` and ${count - first.length} more` : '';
  const name = names[column]?.trim() || `column ${column + 1}`;
  return `“${name}” has in ${count === 1 ? 'row' : 'rows'} ${first.join(', ')}${more} ${WORDS[doubt]}.`;
}

/** Returns rows as CSV, each on one line: a line break within a cell becomes a blank. */
export const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(quoted).join(',')).join('\r\n');

function quoted(cell: string): string {
  const line = cell.replace(/[\r\n]+/g, ' ');
  return /[",']|^\s|\s$/.test(line) ? `"${line.replaceAll('"', '""')}"` : line;
}

/** Returns whether these first bytes are those of a workbook: ZIP, or the format of older versions of Excel and of encrypted files. */
export const isWorkbook = (bytes: Uint8Array): boolean => isZip(bytes) || isCompound(bytes);

export const isZip = (bytes: Uint8Array): boolean => startsWith(bytes, [0x50, 0x4b]);
/** Returns whether these bytes begin a file of an older version of Excel, or an encrypted one. */
export const isCompound = (bytes: Uint8Array): boolean => startsWith(bytes, [0xd0, 0xcf, 0x11, 0xe0]);
const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((byte, index) => bytes[index] === byte);
