/** Begins a cell that a spreadsheet would run as a formula. */
const FORMULA = /^[\s]*[=+\-@\t\r]/;

/** Returns a CSV file. A text that a spreadsheet would run as a formula begins with an apostrophe. */
export const csvOf = (rows: readonly (readonly (string | number | null)[])[]): string =>
  `\uFEFF${rows.map((row) => row.map(cellOf).join(',')).join('\r\n')}\r\n`;

function cellOf(value: string | number | null): string {
  if (value === null || typeof value === 'number') return String(value ?? '');
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
