import { Problem } from '../../platform/problem/problem.js';
import type { CampaignFormat } from '../campaign.rules.js';
import { fromExcelCell } from '../excel.rules.js';
import { CsvReader } from './csv-reader.js';
import { ADOPT_COLUMNS, readAdoptRow } from './adopt-row.js';
import { misreadFault, readTwiceFault } from '../../spreadsheet/misread.rules.js';
import type { CheckDigitRule } from '../../users/ean.rules.js';
import { FileText, readSample } from './file-text.js';
import type { CampaignOptions } from './intake.store.js';
import { columnNameOf, readHeader, type ColumnName } from './headers.rules.js';
import { JSON_COLUMNS, readJsonRow } from './json-row.js';
import { LineReader } from './line-reader.js';
import { readCsvRow, type ReadRow } from './row.rules.js';
import { binaryKind, detectLayout, isJsonArray, isNdjson } from './file-format.rules.js';

/** A file whose rows can be read once. */
interface OpenFile {
  /** The encoding may change until the last row is read. */
  readonly format: CampaignFormat;
  readonly rows: AsyncIterable<ReadRow>;
  /** Returns the name that a field has in the file. */
  readonly nameOf: (field: ColumnName) => string;
}

/** Reads the beginning of a file, and returns its format and its rows. Throws Problem if no row of it can be used. */
export async function openFile(
  bytes: AsyncGenerator<Buffer, void>,
  rule: CheckDigitRule,
  { adopts, encoding, mapping }: Pick<CampaignOptions, 'adopts' | 'encoding' | 'mapping'>,
): Promise<OpenFile> {
  const sample = await readSample(bytes);
  const kind = binaryKind(sample.toString('latin1', 0, 8));
  if (kind !== undefined)
    throw new Problem('unsupported_media_type', `This is ${kind}: export the table as CSV (UTF-8) instead`);
  const file = new FileText(sample, bytes, encoding);
  const [first, text] = await readFirst(file.parts());
  const formatOf = (layout: Pick<CampaignFormat, 'type' | 'delimiter' | 'columns'>): CampaignFormat => ({
    ...layout,
    bom: file.bom,
    get encoding() {
      return file.encoding;
    },
  });
  if (isJsonArray(first))
    throw new Problem('campaign_unreadable', 'This is a JSON array: send one object per line (NDJSON)');
  if (isNdjson(first)) {
    if (mapping.size > 0)
      throw new Problem('campaign_columns', 'Columns are named for CSV alone; this is NDJSON');
    const columns = adopts ? ADOPT_COLUMNS : JSON_COLUMNS;
    const read = adopts ? readAdoptRow : readJsonRow;
    return {
      format: formatOf({ type: 'ndjson', delimiter: null, columns }),
      rows: interpret(readRows(text, new LineReader(file)), (line) => {
        refuseMisread(file, line.line, [line.text]);
        return read(line, rule);
      }),
      nameOf: (field) => field,
    };
  }
  if (adopts)
    throw new Problem(
      'unsupported_media_type',
      'What exists is adopted from NDJSON: one JSON object per line',
    );
  const { delimiter, quote, skipped } = detectLayout(first);
  const reader = new CsvReader(delimiter, quote, file);
  const rows = readRows(text, reader);
  // Skips the row that names the delimiter.
  if (skipped > 0) await rows.next();
  const header = await rows.next();
  if (header.done === true) throw new Problem('campaign_empty', 'The file is empty');
  const { line, cells } = header.value;
  refuseMisread(file, line, cells);
  const read = header.value.isTooLong
    ? { fault: 'it is too long' }
    : readHeader(cells.map(fromExcelCell), mapping);
  if ('fault' in read) throw new Problem('campaign_columns', `Line ${line}, the header: ${read.fault}`);
  reader.columns = read.columns.map(({ name }) => name);
  const columns = read.columns.filter(({ kind: ofColumn }) => ofColumn !== 'skipped').map(({ name }) => name);
  return {
    format: formatOf({ type: 'csv', delimiter, columns }),
    rows: interpret(rows, (row) => {
      refuseMisread(file, row.line, row.cells, reader.columns);
      return readCsvRow(row, read.columns, delimiter, rule);
    }),
    nameOf: (field) => columnNameOf(read.columns, field),
  };
}

const READ_AGAIN =
  'Take the file from your system again, and open it as UTF-8; if the word is right, send the file with encoding=utf-8';
const OTHER_ENCODING =
  'Send the file again with the encoding in which the word is right, such as encoding=cp850, or export it in UTF-8';

/** Throws Problem if the sender named no encoding, and a cell has a word that is probably of another one than was assumed, here or earlier. */
function refuseMisread(
  file: FileText,
  line: number,
  cells: readonly string[],
  columns: readonly string[] = [],
): void {
  if (file.isNamed) return;
  for (const [index, cell] of cells.entries()) {
    const fault = file.isGuessed ? misreadFault(cell, OTHER_ENCODING) : readTwiceFault(cell, READ_AGAIN);
    if (fault === undefined) continue;
    const column = columns[index];
    const place = column === undefined ? `Line ${line}` : `Line ${line}, column ${column}`;
    throw new Problem('campaign_unreadable', `${place}: ${fault}`);
  }
}

/** Returns the first part of a text, and all of its parts. */
async function readFirst(
  text: AsyncGenerator<string>,
): Promise<[first: string, all: AsyncGenerator<string>]> {
  const { value: first = '' } = (await text.next()) as { value?: string };
  async function* all(): AsyncGenerator<string> {
    yield first;
    yield* text;
  }
  return [first, all()];
}

interface Reader<Row> {
  read(part: string): Iterable<Row>;
  end(): Iterable<Row>;
}

async function* readRows<Row>(
  text: AsyncIterable<string>,
  reader: Reader<Row>,
): AsyncGenerator<Row, undefined> {
  for await (const part of text) yield* reader.read(part);
  yield* reader.end();
  return undefined;
}

async function* interpret<Row>(
  rows: AsyncIterable<Row>,
  read: (row: Row) => ReadRow,
): AsyncGenerator<ReadRow> {
  for await (const row of rows) yield read(row);
}
