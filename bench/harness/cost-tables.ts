import type { StatementCost } from './database.js';
import type { ProfilePart } from './profile.js';
import type { ResultTable } from './result.js';
import { rounded } from './statistics.js';

export const profileTable = (title: string, parts: readonly ProfilePart[]): ResultTable => ({
  title,
  columns: ['', 'of its own CPU'],
  rows: parts
    .filter(({ share }) => share >= 0.01)
    .map(({ part, share }) => [part, `${Math.round(share * 100)} %`]),
});

/** Returns a table of statement times per `unit`. PostgreSQL measures these times, which include waits for disk and CPU. */
export const statementTable = (
  title: string,
  statements: readonly StatementCost[],
  unit: string,
  count: number,
): ResultTable => ({
  title,
  columns: ['statement', `times per ${unit}`, 'rows at once', `µs per ${unit}`],
  rows: statements.map(({ text, calls, rows, totalMs }) => [
    `\`${text.slice(0, 60).trim()}\``,
    rounded(calls / count),
    Math.round(rows / calls),
    rounded((totalMs * 1_000) / count),
  ]),
});
