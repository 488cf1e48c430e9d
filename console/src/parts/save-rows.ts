import { csvOf } from '../rules/csv.js';
import { saveFile } from './save.js';
import type { Column } from './table.js';

function textOf<Row>({ of, text }: Column<Row>, row: Row): string | number | null {
  if (text !== undefined) return text(row);
  const shown = of(row);
  return typeof shown === 'string' || typeof shown === 'number' ? shown : null;
}

/** Returns whether a row contains a text in any of these columns. */
export function has<Row>(columns: readonly Column<Row>[], row: Row, text: string): boolean {
  const term = text.trim().toLowerCase();
  return columns.some((column) =>
    String(textOf(column, row) ?? '')
      .toLowerCase()
      .includes(term),
  );
}

/** Offers the rows as a file. Omits columns without any value. */
export function saveRows<Row>(name: string, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const filled = columns.filter((column) => rows.some((row) => textOf(column, row) !== null));
  const cells = rows.map((row) => filled.map((column) => textOf(column, row)));
  const day = new Date().toISOString().slice(0, 10);
  const file = `${name.toLowerCase().replaceAll(' ', '-')}-${day}.csv`;
  saveFile(file, 'text/csv;charset=utf-8', csvOf([filled.map(({ title }) => title), ...cells]));
}
