import type { CampaignFormat } from '../campaign.rules.js';
import type { CampaignRow } from '../campaigns.store.js';
import { toExcelCell } from '../excel.rules.js';
import { OF_RESULT } from '../intake/headers.rules.js';

/** Excel takes a CSV file for UTF-8 only if it begins with this. */
const BYTE_ORDER_MARK = '\ufeff';

/** The delimiter if the file was NDJSON. Excel uses it in most countries where a language of the owner's page is spoken. */
const DEFAULT_DELIMITER = ';';

/** A row with its link. */
export interface ResultRow extends CampaignRow {
  readonly invitationUrl: string | null;
}

/**
 * Returns the parts of result.csv: the columns as sent, and the result of each row. Cells beyond the last column stay at the end of their
 * row, so that the row has too many cells again if nobody corrects it. The delimiter is that of the file, because the Excel of its author
 * splits by it.
 */
export async function* resultCsv(
  { columns, delimiter }: CampaignFormat,
  pages: AsyncIterable<readonly ResultRow[]>,
): AsyncGenerator<string> {
  const separator = delimiter ?? DEFAULT_DELIMITER;
  const lineOf = (cells: readonly string[]) =>
    `${cells.map((cell) => quoted(toExcelCell(cell), separator)).join(separator)}\r\n`;
  yield BYTE_ORDER_MARK + lineOf([...columns, ...OF_RESULT]);
  for await (const rows of pages) {
    yield rows
      .map((row) =>
        lineOf([
          ...columns.map((_, index) => row.fields[index] ?? ''),
          row.status,
          row.problems.map(({ column, message }) => (column ? `${column}: ${message}` : message)).join('; '),
          row.registrationId ?? '',
          row.userId ?? '',
          row.invitationUrl ?? '',
          ...row.fields.slice(columns.length),
        ]),
      )
      .join('');
  }
}

const quoted = (cell: string, delimiter: string): string =>
  cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
