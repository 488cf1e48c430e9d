// Excel treats a cell of a CSV file that begins with one of these characters as a formula, and makes a number or a date of a text that looks
// like one. `toExcelCell` writes cells that Excel shows as they are, and `fromExcelCell` is its inverse, so that a result can be uploaded again.
// The Excel of another country splits a line by another separator than ours, whatever the quotes: then a cell begins after that.
const FORMULA = /(?=[=+\-@\t\r])(?<=^'*)|(?=[=+\-@])(?<=(?:^|[,;\t|\r\n])[ "]*'*)/g;
const ESCAPED = /'(?=[=+\-@\t\r])(?<=^'*)|'(?=[=+\-@])(?<=(?:^|[,;\t|\r\n])[ "]*'*)/g;
/** Matches a number that Excel shows unchanged. It drops leading zeros, and rounds or abbreviates a number of 12 digits or more. */
const PLAIN_NUMBER = /^(0|[1-9]\d{0,10})$/;
/** Matches what may be a number, an amount, a date or a time, such as 1.50, 1E5, (5), €5, 12-3, 1/2 or 10:30 pm. */
const NUMERIC = /^[\d.,(\p{Sc}][\d.,:/+\-%E ()\p{Sc}]*([ap]m?)?$/iu;
/** The beginnings of the months in English, Dutch, German and French. */
const MONTHS =
  'jan|feb|fév|mar|mrt|maa|mär|mae|apr|avr|may|mai|mei|jun|jui|jul|aug|aoû|sep|oct|okt|nov|dec|dez|déc';
/** Matches what may be a date with the name of a month, such as MAR-12 or 3 okt 2026. */
const DATE = new RegExp(
  `^(\\d{1,4}[ .,/-]*)?(${MONTHS})\\p{L}{0,6}[ .,/-]*(\\d{1,4}([ .,/-]+\\d{1,4})?)?$`,
  'iu',
);
/** True and false in the same languages, and errors such as #N/A, which are values of their own. */
const VALUE = /^(true|false|waar|onwaar|wahr|falsch|vrai|faux|#[\p{L}\d/_]+[!?]?)$/iu;
const TEXT = /^="([^"]*)"$/;

const isChanged = (text: string): boolean =>
  VALUE.test(text) ||
  (!PLAIN_NUMBER.test(text) && /\d/.test(text) && (NUMERIC.test(text) || DATE.test(text)));

/**
 * Returns the text of a cell for a spreadsheet. What Excel would change becomes a formula whose value is the text: Excel and LibreOffice show
 * it in every locale, where a leading apostrophe or tab would be shown or lost. A formula gets an apostrophe, which makes it text.
 */
export function toExcelCell(text: string): string {
  return isChanged(text) ? `="${text}"` : text.replace(FORMULA, "'");
}

/** Returns the text that `toExcelCell` has written as this cell. */
export function fromExcelCell(cell: string): string {
  return TEXT.exec(cell)?.[1] ?? cell.replace(ESCAPED, '');
}
