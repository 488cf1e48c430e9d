// Excel treats a cell of a CSV file that begins with one of these characters as a formula, and rounds a number of more than 15 digits.
// `toExcelCell` writes cells that Excel shows as they are, and `fromExcelCell` is its inverse, so that a result can be uploaded again.
const FORMULA = /^'*[=+\-@\t\r]/;
const ESCAPED = /^'+[=+\-@\t\r]/;
/** A number that Excel would change: it drops leading zeros, and rounds or abbreviates a number of 12 digits or more. */
const CHANGED_NUMBER = /^(0\d+|\d{12,})$/;
const TEXT_OF_DIGITS = /^="(\d+)"$/;

/**
 * Returns the text of a cell for a spreadsheet. Digits become a formula whose value is their text: Excel and LibreOffice show all of them
 * in every locale, where a leading apostrophe or tab would be shown or lost. A formula gets an apostrophe, which makes it text.
 */
export function toExcelCell(text: string): string {
  if (CHANGED_NUMBER.test(text)) return `="${text}"`;
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Returns the text that `toExcelCell` has written as this cell. */
export function fromExcelCell(cell: string): string {
  const digits = TEXT_OF_DIGITS.exec(cell)?.[1];
  return digits ?? (ESCAPED.test(cell) ? cell.slice(1) : cell);
}
