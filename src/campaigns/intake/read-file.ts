import { Problem } from '../../platform/problem/problem.js';
import type { CampaignFormat } from '../campaign.rules.js';
import { fromExcelCell } from '../excel.rules.js';
import { CsvReader } from './csv-reader.js';
import { ADOPT_COLUMNS, readAdoptRow } from './adopt-row.js';
import { decode } from './decode.js';
import type { CheckDigitRule } from './ean-cell.rules.js';
import { readHeader } from './headers.rules.js';
import { JSON_COLUMNS, readJsonRow } from './json-row.js';
import { LineReader, type FileLine } from './line-reader.js';
import { readCsvRow, type FileRow, type ReadRow } from './row.rules.js';
import {
  binaryKind,
  detectEncoding,
  detectLayout,
  isJsonArray,
  isNdjson,
  SAMPLE_BYTES,
} from './sample.rules.js';

/** A file whose format is known. Its rows are read once. */
export interface OpenFile {
  readonly format: CampaignFormat;
  readonly rows: AsyncIterable<ReadRow>;
}

/** Reads the beginning of a file, and returns its format and its rows. Throws Problem if no row of it can be used. */
export async function openFile(
  bytes: AsyncGenerator<Buffer, void>,
  rule: CheckDigitRule,
  adopts: boolean,
): Promise<OpenFile> {
  const sample = await readSample(bytes);
  const beginning = sample.toString('latin1');
  const kind = binaryKind(beginning);
  if (kind !== undefined)
    throw new Problem('unsupported_media_type', `This is ${kind}: export the table as CSV (UTF-8) instead`);
  const { encoding, bom } = detectEncoding(beginning);
  const [first, text] = await readFirst(decode(joined(sample, bytes), encoding));
  if (isJsonArray(first))
    throw new Problem('campaign_unreadable', 'This is a JSON array: send one object per line (NDJSON)');
  if (isNdjson(first)) {
    const format = {
      type: 'ndjson',
      encoding,
      bom,
      delimiter: null,
      columns: adopts ? ADOPT_COLUMNS : JSON_COLUMNS,
    } as const;
    const read = adopts ? readAdoptRow : readJsonRow;
    return { format, rows: readLines(text, new LineReader(encoding), (line) => read(line, rule)) };
  }
  if (adopts)
    throw new Problem(
      'unsupported_media_type',
      'What exists is adopted from NDJSON: one JSON object per line',
    );
  const { delimiter, quote, skipped } = detectLayout(first);
  const reader = new CsvReader(delimiter, quote, encoding);
  const rows = readRows(text, reader);
  // The row that names the delimiter is a row too.
  if (skipped > 0) await rows.next();
  const header = await rows.next();
  if (header.done === true) throw new Problem('campaign_empty', 'The file is empty');
  const { line, cells } = header.value;
  const read = header.value.isTooLong ? { fault: 'it is too long' } : readHeader(cells.map(fromExcelCell));
  if ('fault' in read) throw new Problem('campaign_columns', `Line ${line}, the header: ${read.fault}`);
  reader.columns = read.columns.map(({ name }) => name);
  const columns = read.columns.filter(({ kind: ofColumn }) => ofColumn !== 'skipped').map(({ name }) => name);
  return {
    format: { type: 'csv', encoding, bom, delimiter, columns },
    rows: interpret(rows, (row) => readCsvRow(row, read.columns, rule)),
  };
}

async function readSample(bytes: AsyncGenerator<Buffer, void>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let length = 0; length < SAMPLE_BYTES;) {
    const next = await bytes.next();
    if (next.done === true) break;
    parts.push(next.value);
    length += next.value.length;
  }
  return Buffer.concat(parts);
}

async function* joined(sample: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield sample;
  yield* rest;
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

async function* readRows(text: AsyncIterable<string>, reader: CsvReader): AsyncGenerator<FileRow, undefined> {
  for await (const part of text) yield* reader.read(part);
  yield* reader.end();
  return undefined;
}

async function* interpret(
  rows: AsyncIterable<FileRow>,
  read: (row: FileRow) => ReadRow,
): AsyncGenerator<ReadRow> {
  for await (const row of rows) yield read(row);
}

async function* readLines(
  text: AsyncIterable<string>,
  reader: LineReader,
  read: (line: FileLine) => ReadRow,
): AsyncGenerator<ReadRow> {
  for await (const part of text) for (const line of reader.read(part)) yield read(line);
  for (const line of reader.end()) yield read(line);
}
