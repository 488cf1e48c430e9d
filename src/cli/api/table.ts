import { visibleText } from '../../platform/redaction/visible-text.js';
import { print, printError } from '../print.js';

const INSTANT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)[.\d]*Z$/;

export type Cell = string | number | boolean | null | undefined;
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** Prints aligned columns. Callers shorten texts so that a row has at most 100 characters, unless people need a text whole. */
export function printTable<Row>(columns: Columns<Row>, rows: readonly Row[]): void {
  if (rows.length === 0) return printError('none');
  const titles = Object.keys(columns);
  const lines = [titles, ...rows.map((row) => Object.values(columns).map((of) => cellOf(of(row))))];
  const widths = titles.map((_, column) => Math.max(...lines.map((cells) => [...cells[column]!].length)));
  for (const cells of lines) {
    const padded = cells.map((cell, column) => cell + ' '.repeat(widths[column]! - [...cell].length));
    print(padded.join('  ').trimEnd());
  }
}

/** Returns the text of a cell, escaped before the widths are measured. */
const cellOf = (cell: Cell): string =>
  cell === null || cell === undefined || cell === '' ? '-' : visibleText(String(cell));

/** Shortens a text to `length` characters, with `…` at the end. Only for texts that nobody needs to copy. */
export const cut = (text: string | null, length: number): string | null =>
  text !== null && text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** Returns how long ago an instant was, such as `3h`, or `in 3h` if it is over a minute ahead: clocks may differ by seconds. */
export function age(instant: string | Date | null): string | null {
  if (instant === null) return null;
  const since = (Date.now() - new Date(instant).getTime()) / 1_000;
  if (since < -60) return `in ${spanOf(-since)}`;
  return spanOf(Math.max(0, since));
}

function spanOf(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
  ] as const;
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}

/** Returns the name of an event type, such as `session.online` for `pv.session.online.v1`. */
export const eventName = (type: string): string => type.replace(/^pv\.|\.v1$/g, '');

export const toSecond = (instant: string): string => instant.replace(INSTANT, '$1 $2Z');
