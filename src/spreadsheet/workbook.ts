import { strToU8, unzipSync, zipSync } from 'fflate';
// Its other builds unpack in workers that they make of text, which the policy of the console forbids.
import readXlsxFile from 'read-excel-file/universal';
import { type Doubt, type DoubtfulCells, type Sheet, isCompound, isZip } from './sheet.rules.js';
import { hiddenFault, paddedCells, readable, sheetFault, sheetPaths } from './sheet-xml.rules.js';

/** The most bytes that a workbook has unpacked, and characters that its cells have in all: a string may be in many cells. */
const MOST_UNPACKED = 100_000_000;
/** The most rows of doubtful cells that a message names. */
const NAMED_ROWS = 5;
/** From 16 digits on, a number in a workbook is not what was entered. */
const FIRST_LOST = 1e15;

/** Why a workbook cannot be read, in words for the person who has it. */
export class WorkbookError extends Error {}

/** Returns the sheets that have any cell. Text is exact; nothing in the workbook is executed. Throws WorkbookError. */
export async function readWorkbook(bytes: Uint8Array<ArrayBuffer>): Promise<Sheet[]> {
  if (isCompound(bytes)) throw new WorkbookError(compoundFault(bytes));
  if (!isZip(bytes)) throw new WorkbookError('This is no Excel workbook.');
  const files = unpack(bytes);
  const xmlOf = (path: string) => new TextDecoder('latin1').decode(files[path]);
  for (const path of Object.keys(files)) {
    const xml = xmlOf(path);
    const fault = sheetFault(xml);
    if (fault !== undefined) throw new WorkbookError(fault);
    if (/&#|t=["']e["']/.test(xml)) files[path] = strToU8(readable(new TextDecoder().decode(files[path])));
  }
  const styles = xmlOf('xl/styles.xml');
  const paths = sheetPaths(xmlOf('xl/workbook.xml'), xmlOf('xl/_rels/workbook.xml.rels'));
  const sheets = await readXlsxFile(zipSync(files, { level: 0 }).slice().buffer, {
    trim: false,
    parseNumber: (text) => new CellNumber(text),
  }).catch(() => {
    throw new WorkbookError('The workbook is damaged: open it in Excel, and save a copy.');
  });
  const count = { characters: 0 };
  return sheets.flatMap(({ sheet, data }, index) => {
    const xml = xmlOf(paths[index] ?? '');
    const read = readSheet(sheet, data ?? [], paddedCells(xml, styles), count);
    const fault = hiddenFault(xml);
    return read.rows.length === 0 ? [] : [{ ...read, ...(fault && { fault }) }];
  });
}

const encrypted = [...'EncryptedPackage'].map((letter) => `${letter}\0`).join('');

function compoundFault(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes).includes(encrypted)
    ? 'This workbook is protected with a password: save a copy without one.'
    : 'This is a workbook of an old version of Excel (.xls): open it in Excel, and save it as .xlsx.';
}

/** Returns the XML files of a workbook. Counts the stated size of each before it is unpacked into a buffer of that size, which cannot grow. */
function unpack(bytes: Uint8Array): Record<string, Uint8Array> {
  let size = 0;
  const names = new Set<string>();
  let files: Record<string, Uint8Array>;
  try {
    files = unzipSync(bytes, {
      filter: (file) => {
        names.add(file.name);
        if (!/\.xml(\.rels)?$/.test(file.name)) return false;
        size += Math.max(file.size, file.originalSize);
        if (size > MOST_UNPACKED)
          throw new WorkbookError(
            'The workbook has more than 100 MB once it is unpacked: delete what is not needed, or save the sheet as CSV.',
          );
        return true;
      },
    });
  } catch (error) {
    if (error instanceof WorkbookError) throw error;
    throw new WorkbookError('The workbook is damaged: open it in Excel, and save a copy.');
  }
  if (names.has('xl/workbook.bin'))
    throw new WorkbookError('This is a binary workbook (.xlsb): save it as .xlsx.');
  if (!names.has('xl/workbook.xml')) throw new WorkbookError('This is no Excel workbook.');
  return files;
}

/** A number as the workbook has it. */
class CellNumber {
  constructor(readonly text: string) {}
}

function readSheet(
  name: string,
  data: readonly (readonly unknown[])[],
  padded: readonly { readonly row: number; readonly column: number }[],
  count: { characters: number },
): Sheet {
  const doubtful = new Map<string, DoubtfulCells & { rows: number[]; count: number }>();
  const add = (column: number, row: number, doubt: Doubt) => {
    const key = `${column} ${doubt}`;
    const found = doubtful.get(key) ?? { column, doubt, rows: [], count: 0 };
    found.count += 1;
    if (found.rows.length < NAMED_ROWS) found.rows.push(row);
    doubtful.set(key, found);
  };
  const rows = data.map((cells, row) =>
    cells.map((cell, column) => {
      const [text, doubt] = textOf(cell);
      if (doubt !== undefined) add(column, row + 1, doubt);
      count.characters += text.length;
      if (count.characters > MOST_UNPACKED)
        throw new WorkbookError('The workbook has more than 100 million characters: save the sheet as CSV.');
      return text;
    }),
  );
  for (const { row, column } of padded) add(column - 1, row, 'zeros');
  return { name, rows, doubtful: [...doubtful.values()] };
}

function textOf(cell: unknown): [text: string, doubt?: Doubt] {
  if (cell === null || cell === undefined) return [''];
  if (cell instanceof Date) {
    const text = cell.toISOString();
    return [
      text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 19).replace('T', ' '),
      'date',
    ];
  }
  if (typeof cell === 'boolean') return [String(cell)];
  if (!(cell instanceof CellNumber)) return [typeof cell === 'string' ? cell : ''];
  const number = Number(cell.text);
  if (Math.abs(number) < FIRST_LOST) return [String(number)];
  // As Excel writes it into a CSV, which the service refuses as an EAN and as a reference.
  return [number.toExponential(14).toUpperCase(), 'digits'];
}
