// How what people type is written before it is stored or compared, so that what looks the same is the same.

const BLANK = /[\p{Zs}\t-\r\u0085\u2028\u2029]/u;
/** Matches more marks than any language writes on a letter. Normalising a long sequence of marks takes quadratic time. */
export const MANY_MARKS = /\p{M}{31}/u;
/** A text in a cell of a spreadsheet, which would otherwise be a number: ="00123" or =T("00123"). */
const TEXT_FORMULA = /^=(?:"([^"]*)"|T\("([^"]*)"\))$/i;

/**
 * Returns a reference in Unicode's composed form (NFC), without blanks at its ends and without the marks of text of a spreadsheet: an
 * apostrophe before it, or `="…"` around it.
 */
export function normaliseReference(text: string): string {
  const composed = MANY_MARKS.test(text) ? text : text.normalize('NFC');
  let start = 0;
  let end = composed.length;
  while (start < end && (BLANK.test(composed[start]!) || composed[start] === "'")) start += 1;
  while (start < end && BLANK.test(composed[end - 1]!)) end -= 1;
  const trimmed = composed.slice(start, end);
  const formula = TEXT_FORMULA.exec(trimmed);
  const inner = formula?.[1] ?? formula?.[2];
  return inner === undefined ? trimmed : normaliseReference(inner);
}

export const MAX_BRAND_LENGTH = 100;

/**
 * Returns a brand as it is stored and compared: in Unicode's composed form (NFC), with one space for each row of blanks. Otherwise, a
 * location would get a session for each spelling, although nobody sees a difference.
 */
export const normaliseBrand = (text: string): string =>
  text.length > 2 * MAX_BRAND_LENGTH ? text : text.normalize('NFC').replaceAll(/\p{Zs}+/gu, ' ');
