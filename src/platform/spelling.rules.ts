// How what people type is written before it is stored or compared, so that what looks the same is the same.

const CONTROL_CHARACTER = /[\p{Cc}\u2028\u2029]/u;
const BLANK_AT_AN_END = /^\s|\s$/u;
/**
 * Matches a character that nobody sees or that changes the direction of text. The last two are a pattern of Braille and a note: both blank.
 */
const INVISIBLE =
  /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\u2800\u{1d159}]/u;
/** Matches what a program writes in the place of a character that it cannot read. Two texts may differ in that character alone. */
const LOST = /[\p{Co}\ufffc\ufffd]/u;
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

/** Returns why `value` is not one line of 1 to `maxLength` characters, else undefined. */
export function lineFault(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length === 0 || value.length > maxLength)
    return `must have 1 to ${maxLength} characters, not ${value.length}`;
  if (CONTROL_CHARACTER.test(value)) return 'must not contain control characters or line breaks';
  if (!value.isWellFormed()) return 'must not contain half a surrogate pair';
  if (BLANK_AT_AN_END.test(value)) return 'must not begin or end with a blank';
  return undefined;
}

/** Names the first character of a text that nobody sees or that a program has lost. Returns undefined if there is none. */
export function invisibleFault(text: string): string | undefined {
  return (
    characterFault(text, INVISIBLE, 'a character that nobody sees') ??
    characterFault(text, LOST, 'a sign for a character that a program could not read')
  );
}

function characterFault(text: string, pattern: RegExp, what: string): string | undefined {
  const [character] = pattern.exec(text) ?? [];
  if (character === undefined) return undefined;
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return `contains ${what} (U+${code}): type it again`;
}

/** Returns why `value` is not one line of 1 to `maxLength` characters that people see, else undefined. */
export const visibleLineFault = (value: unknown, maxLength: number): string | undefined =>
  lineFault(value, maxLength) ?? invisibleFault(value as string);

/** Returns a text without the characters that nobody sees, which may have been copied with it. */
export const withoutInvisible = (text: string): string =>
  [...text].filter((each) => !INVISIBLE.test(each)).join('');

/** Matches an empty text, and what people and programs write in the place of the value of the row above. */
const NONE_OR_AS_ABOVE =
  /^(?:[-–—−\s.…'"“”„‟″〃]*|idem|dito|ditto|id\.|do\.|(?:zie|see) (?:boven|above)|siehe oben)$/i;
/**
 * Matches a formula that calls a function or begins with a cell, perhaps of another sheet, and the error of a formula in any language. Not a
 * TEXT_FORMULA. PostgreSQL reads the same pattern.
 */
export const FORMULA =
  /^(?:#(?:n\/[abd]|nv|getting_data|[^\s"!?]+[!?])|err:\d{3}|=(?!t\(")(?:[^\s"(]+\(|(?:[^"!|]+!)?\$?[a-z]{1,3}\$?\d).*)$/i;
/**
 * Matches a number in a column that is too narrow, letters that an encoding lacks, zeros, a list, an object or a placeholder in braces, and
 * what programs and people write for a missing value.
 */
const NO_VALUE =
  /^(?:#+|\{.*\}|\[.*\]|\$\{.*\}|[\s.,:/-]*0[0\s.,:/-]*|undefined|none|nan|nat|nil|n\/?[ad]|n\.[abdn]\.|n\.?v\.?t\.?|k\.a\.|[(<]?(?:na|null|none)[)>]?|[(<](?:blank|empty|leeg|leer|vide|no value)[)>]|\\n|true|false|(?:on)?waar|wahr|falsch|vrai|faux|tbd|loading\.{3}|invalid date|\?+)$/i;

/** Matches what people write for a customer whom they do not know. The remote service may know a brand of that name. */
const UNKNOWN = /^[(<]?(?:unknown|onbekend|unbekannt|inconnue?)[)>]?$/i;
const NOTHING = [NONE_OR_AS_ABOVE, FORMULA, NO_VALUE];

/** Returns whether a text names nothing, so that its row may belong to the row above, as in a table with merged cells. */
export const isNoneOrAsAbove = (text: string): boolean => NONE_OR_AS_ABOVE.test(text);

/** Returns why a text names nothing, else undefined. Otherwise, it would name the same customer or brand for several rows. */
const noValueFault = (text: string, patterns: readonly RegExp[] = NOTHING): string | undefined =>
  patterns.some((pattern) => pattern.test(text))
    ? 'is what a program writes where it has no value, such as #N/A: take it from your system again'
    : undefined;

/** Returns why a text names no customer, else undefined. */
export const noCustomerFault = (text: string): string | undefined =>
  noValueFault(text, [...NOTHING, UNKNOWN]);

/** Returns why `value` is not a valid brand, else undefined. The interface lists no brands, so any other name is valid. */
export function brandFault(value: unknown): string | undefined {
  const fault = visibleLineFault(value, MAX_BRAND_LENGTH);
  if (fault !== undefined) return fault;
  const noValue = noValueFault(value as string);
  return noValue && `${noValue}, or leave it out`;
}
