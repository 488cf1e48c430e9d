/** Returns rows as CSV, each on one line: a line break within a cell becomes a blank. */
export const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(quoted).join(',')).join('\r\n');

function quoted(cell: string): string {
  const line = cell.replace(/[\r\n]+/g, ' ');
  return /[",']|^\s|\s$/.test(line) ? `"${line.replaceAll('"', '""')}"` : line;
}
