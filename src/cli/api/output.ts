import { visibleText } from '../../observability/redaction/visible-text.js';
import { print, printError } from '../print.js';

/** Tables and one-line objects fit this width, unless a text that people need whole is longer. */
const WIDTH = 100;
const INSTANT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)[.\d]*Z$/;

export type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>;

export function printTable<Row>(columns: Columns<Row>, rows: readonly Row[]): void {
  if (rows.length === 0) printError('none');
  else tableOf(columns, rows).forEach((line) => print(line));
}

/** Prints an object of the API, one field a line. */
export const printFields = (value: object): void => fieldsOf(value).forEach((line) => print(line));

/** Shortens a text to `length` characters, with `…` at the end. Only for texts that nobody needs to copy. */
export const cut = (text: string | null, length: number): string | null =>
  text !== null && text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** Returns how long ago an instant was, such as `3h`. */
export function age(instant: string | Date | null): string | null {
  if (instant === null) return null;
  const seconds = Math.max(0, (Date.now() - new Date(instant).getTime()) / 1_000);
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

export const toSecond = (instant: string): string => instant.replace(INSTANT, '$1 $2$3Z');

function tableOf<Row>(columns: Columns<Row>, rows: readonly Row[], indent = ''): string[] {
  const titles = Object.keys(columns);
  const lines = [titles, ...rows.map((row) => Object.values(columns).map((of) => cellOf(of(row))))];
  const widths = titles.map((_, column) => Math.max(...lines.map((cells) => [...cells[column]!].length)));
  return lines.map((cells) => {
    const padded = cells.map((cell, column) => cell + ' '.repeat(widths[column]! - [...cell].length));
    return `${indent}${padded.join('  ')}`.trimEnd();
  });
}

function fieldsOf(value: object, indent = ''): string[] {
  const entries = Object.entries(value) as [string, unknown][];
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.flatMap(([name, part]) => {
    const line = `${indent}${name.padEnd(width)}  ${lineOf(part)}`;
    if (!isObject(part) || (isFlat(part) && line.length <= WIDTH)) return [line];
    const below = `${indent}  `;
    if (!Array.isArray(part)) return [`${indent}${name}`, ...fieldsOf(part, below)];
    const first: unknown = part[0];
    if (!isObject(first)) return [line];
    const columns: Columns<Record<string, unknown>> = Object.fromEntries(
      Object.keys(first).map((key) => [key, (row) => toMinute(row[key])]),
    );
    return [`${indent}${name}`, ...tableOf(columns, part as Record<string, unknown>[], below)];
  });
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isFlat = (value: object): boolean => !Object.values(value).some(isObject);
const toMinute = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(INSTANT, '$1 $2Z') : value;

function lineOf(value: unknown): string {
  if (!isObject(value)) return cellOf(value);
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(cellOf).join(', ');
  const given = Object.entries(value).filter(([, part]) => part !== null && part !== '');
  return given.length === 0 ? 'none' : given.map(([name, part]) => `${name} ${cellOf(part)}`).join(', ');
}

/** Escapes before the widths are measured. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  return visibleText(typeof value === 'string' ? value : JSON.stringify(value));
}
