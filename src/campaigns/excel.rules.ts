// Excel treats a cell of a CSV file that begins with =, +, -, @, a tab or a CR as a formula, and turns a text that looks like a number or a
// date into one. `toExcelCell` writes cells that Excel shows unchanged. `fromExcelCell` is its inverse, so that a result can be uploaded
// again. The Excel of another country splits lines at another separator, even within quotes. So a cell may also begin after that separator.
const FORMULA = /(?=[=+\-@\t\r])(?<=^'*)|(?=[=+\-@])(?<=(?:^|[,;\t|\r\n])[ "]*'*)/g;
const ESCAPED = /'(?=[=+\-@\t\r])(?<=^'*)|'(?=[=+\-@])(?<=(?:^|[,;\t|\r\n])[ "]*'*)/g;
/** Matches a number that Excel shows unchanged. Excel drops leading zeros, and rounds or abbreviates a number of 12 digits or more. */
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
/** Matches true and false in the same languages, and errors such as #N/A. Excel treats all of them as values, not as text. */
const VALUE = /^(true|false|waar|onwaar|wahr|falsch|vrai|faux|#[\p{L}\d/_]+[!?]?)$/iu;
const TEXT = /^="([^"]*)"$/;

const isChanged = (text: string): boolean =>
  VALUE.test(text) ||
  (!PLAIN_NUMBER.test(text) && /\d/.test(text) && (NUMERIC.test(text) || DATE.test(text)));

/**
 * Returns the text of a cell for a spreadsheet. A text that Excel would change becomes a formula whose value is the text. Excel and
 * LibreOffice show this value in every locale, but would show or lose an apostrophe or tab before the text. A text that looks like a
 * formula gets an apostrophe, which makes it text.
 */
export function toExcelCell(text: string): string {
  return isChanged(text) ? `="${text}"` : text.replace(FORMULA, "'");
}

/** Returns the text that `toExcelCell` has written as this cell. */
export function fromExcelCell(cell: string): string {
  return TEXT.exec(cell)?.[1] ?? cell.replace(ESCAPED, '');
}
