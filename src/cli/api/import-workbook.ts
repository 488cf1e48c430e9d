import { FIELDS } from '../../spreadsheet/column-names.rules.js';
import { csvOf, cellFault, headerIndex, type Sheet } from '../../spreadsheet/sheet.rules.js';
import { readWorkbook, WorkbookError } from '../../spreadsheet/workbook.js';
import { CommandError } from '../command-error.js';

/** How a workbook is read. */
export interface WorkbookOptions {
  /** The name of the sheet, needed if there are several. */
  readonly sheet?: string;
  readonly columns?: string;
}

/** Returns a sheet of a workbook as CSV, each row on the line that has its number in Excel. Throws CommandError. */
export async function csvOfWorkbook(
  bytes: Uint8Array<ArrayBuffer>,
  { sheet: name, columns = '' }: WorkbookOptions,
): Promise<string> {
  const sheets = await readWorkbook(bytes).catch((error: unknown) => {
    if (error instanceof WorkbookError) throw new CommandError('workbook', error.message);
    throw error;
  });
  const sheet = chosen(sheets, name);
  const [header = []] = sheet.rows.slice(headerIndex(sheet.rows));
  const fault = cellFault(
    sheet,
    header.map((each) => useOf(each, columns)),
  );
  if (fault !== undefined) throw new CommandError('workbook', fault);
  return csvOf(sheet.rows);
}

function chosen(sheets: readonly Sheet[], name: string | undefined): Sheet {
  const [only, another] = sheets;
  if (only === undefined) throw new CommandError('workbook', 'The workbook has no cells.');
  const found = name === undefined ? only : sheets.find((each) => each.name === name);
  if (found !== undefined && (name !== undefined || another === undefined)) return found;
  const names = sheets.map((each) => `“${each.name}”`).join(', ');
  throw new CommandError(
    'workbook',
    name === undefined
      ? `The workbook has several sheets: ${names}. Choose one with --sheet NAME.`
      : `The workbook has no sheet “${name}”, or it is empty. It has: ${names}.`,
  );
}

const plain = (text: string): string => text.toLowerCase().replace(/[\s_-]/g, '');

/** Returns what a column becomes, as the service will decide; empty if it will leave the column out or refuse it. */
function useOf(name: string, columns: string): string {
  const pair = columns.split(',').find((each) => plain(each.slice(0, each.lastIndexOf(':'))) === plain(name));
  const becomes = pair === undefined ? name.trim() : pair.slice(pair.lastIndexOf(':') + 1).trim();
  const field = FIELDS.find((each) => plain(each) === plain(becomes));
  return field ?? (/^metadata\./i.test(becomes) ? becomes.toLowerCase() : '');
}
