/** What Excel itself allows. */
const MOST_ROWS = 1_048_576;
const MOST_COLUMNS = 16_384;
/** The most cells of a sheet, with the empty ones between and beside the others: the library makes them all. */
const MOST_CELLS = 5_000_000;

/** The most characters of a tag or of the text between two; a cell has at most 32,767. The library reads longer ones again and again. */
const MOST_BETWEEN = 200_000;

/** Matches text that the library leaves out: that of a section, and what stands before a comment or an instruction. */
const LOST_TEXT = /<!\[CDATA\[|>\s*[^<>\s][^<>]*<[!?]/;

const TAG = /<(\/?)(?:\w+:)?(row|c|v|f)(?=[\s/>])([^<>]*)>/g;
const DAMAGED = 'The workbook is damaged: open it in Excel, and save a copy.';

/**
 * Returns why a sheet must not be given to the library, in words; undefined if it may. A few bytes can state a cell of the row 900,000,000,
 * and a formula that was never calculated would be read as empty.
 */
export function sheetFault(xml: string): string | undefined {
  if (longestPart(xml) > MOST_BETWEEN || LOST_TEXT.test(xml)) return DAMAGED;
  if (!xml.includes('sheetData')) return undefined;
  if (!/<\/(?:\w+:)?worksheet>\s*$/.test(xml)) return DAMAGED;
  let row = 0;
  let column = 0;
  let rows = 0;
  let columns = 0;
  let type: string | undefined;
  let isFormula = false;
  let valueFrom: number | undefined;
  let hasValue = false;
  for (const { 1: end, 2: name, 3: rest = '', 0: tag, index } of xml.matchAll(TAG)) {
    const isEmpty = rest.endsWith('/');
    if (name === 'row' && end === '') {
      row = Number(attributeOf('r', rest) ?? row + 1);
      column = 0;
      if (!(row > 0 && row <= MOST_ROWS)) return DAMAGED;
    } else if (name === 'c' && end === '') {
      const place = placeOf(attributeOf('r', rest)) ?? { row, column: column + 1 };
      ({ row, column } = place);
      if (!(row > 0 && row <= MOST_ROWS && column <= MOST_COLUMNS)) return DAMAGED;
      type = attributeOf('t', rest);
      isFormula = false;
      hasValue = false;
      if (isEmpty) continue;
      rows = Math.max(rows, row);
      columns = Math.max(columns, column);
      if (rows * columns > MOST_CELLS)
        return `A sheet reaches to row ${rows} and column ${columns}, which is more than 5 million cells: delete what is beyond the table, or save the sheet as CSV.`;
    } else if (name === 'f') {
      isFormula = true;
    } else if (name === 'v' && !isEmpty) {
      if (end === '') valueFrom = index + tag.length;
      else hasValue = valueFrom !== undefined && index > valueFrom;
    } else if (name === 'c' && isFormula && !hasValue && type !== 'str') {
      return `The formula in row ${row}, column ${column} has no result: open the workbook in Excel, and save it.`;
    }
  }
  return undefined;
}

/**
 * Returns XML with the characters beyond U+FFFF that it has as numbers, of which the library would read others, and with the errors of
 * formulas as texts, which it would leave out.
 */
export const readable = (xml: string): string =>
  xml
    .replace(ERROR_CELL, '$1"str"')
    .replace(/&#(?:x([\da-f]{5,8})|(\d{5,8}));/gi, (reference, hex?: string, decimal?: string) => {
      const code = hex === undefined ? Number(decimal) : parseInt(hex, 16);
      return code > 0xffff && code <= 0x10ffff ? String.fromCodePoint(code) : reference;
    });

/** Matches the beginning of a cell with an error such as #N/A, as far as its type. */
const ERROR_CELL = /(<(?:\w+:)?c(?=\s)[^<>]*\st=)["']e["']/g;

const ROW = /<(?:\w+:)?row(?=[\s/>])/;
const FILLED_CELL = /<(?:\w+:)?c(?=[\s>])[^<>]*(?<!\/)>/;

/** Returns why a sheet must not be imported, in words, if a person has hidden some of its rows, such as by a filter. */
export function hiddenFault(xml: string): string | undefined {
  if (!xml.includes('hidden')) return undefined;
  let row = 0;
  const hidden = xml
    .split(ROW)
    .slice(1)
    .flatMap((part) => {
      const [attributes = ''] = part.split('>', 1);
      row = Number(attributeOf('r', attributes) ?? row + 1);
      const isHidden = /^(1|true)$/.test(attributeOf('hidden', attributes) ?? '');
      return isHidden && !attributes.endsWith('/') && FILLED_CELL.test(part) ? [row] : [];
    });
  const [first] = hidden;
  if (first === undefined) return undefined;
  return `${hidden.length === 1 ? `Row ${first} is` : `${hidden.length} rows, from row ${first} on, are`} hidden, perhaps by a filter: show all rows, or copy those to import into a workbook of their own.`;
}

const NUMBER =
  /<(?:\w+:)?c(\s[^<>]*)>\s*(?:<(?:\w+:)?f[^<>]*>(?:[^<>]*<\/(?:\w+:)?f>)?\s*)?<(?:\w+:)?v>([^<>]*)</g;

/** Returns the places of the numbers of a sheet that Excel shows with zeros before them, or a text, as by the format "K"00000. */
export function paddedCells(xml: string, styles: string): { row: number; column: number }[] {
  const [, formats = ''] = styles.split(/<\/?(?:\w+:)?numFmts/);
  const codes = new Map(
    tags('numFmt', formats).map((rest) => [attributeOf('numFmtId', rest), attributeOf('formatCode', rest)]),
  );
  const [, cellStyles = ''] = styles.split(/<\/?(?:\w+:)?cellXfs/);
  const digits = tags('xf', cellStyles).map((rest) =>
    shownDigits((codes.get(attributeOf('numFmtId', rest)) ?? '').replaceAll('&quot;', '"')),
  );
  if (!digits.some((count) => count > 1)) return [];
  return [...xml.matchAll(NUMBER)].flatMap(([, rest = '', text = '']) => {
    const shown = digits[Number(attributeOf('s', rest) ?? 0)] ?? 0;
    const isNumber = (attributeOf('t', rest) ?? 'n') === 'n';
    // Some programs write 123 as 123.0 or 1.23E2.
    const { length } = String(Math.trunc(Number(text)));
    return isNumber && length < shown ? (placeOf(attributeOf('r', rest)) ?? []) : [];
  });
}

/** Matches the parts of a format code that are texts, widths, colours, conditions and languages. */
const MARKS = /"[^"]*"|\\.|[_*].|\[[^\][]*\]/g;
const SHOWN_MARK = /^(?:"\s*[^\s"]|\\\S|\[\$[^\]-])/;

/** Returns how many digits a format of numbers shows at least; Infinity if it shows a text with them. */
function shownDigits(code: string): number {
  const [section = ''] = code
    .replace(MARKS, (mark) => (SHOWN_MARK.test(mark) ? '"' : ''))
    .replace(/\s/g, '')
    .split(';', 1);
  const integer = /^[#?,]*(0[0#?,]*)?(?:\.[0#?]*)?$/.exec(section);
  if (integer !== null) return (integer[1] ?? '').replaceAll(',', '').length;
  return /[0#?]|.@|@.|.General|General./i.test(section) ? Infinity : 0;
}

/** Returns the length of the longest tag or text. */
function longestPart(xml: string): number {
  let longest = 0;
  for (let at = 0; at < xml.length;) {
    const from = xml.indexOf('<', at);
    const to = from < 0 ? -1 : xml.indexOf('>', from);
    longest = Math.max(longest, (from < 0 ? xml.length : from) - at, (to < 0 ? xml.length : to) - from);
    at = to < 0 ? xml.length : to + 1;
  }
  return longest;
}

/** Returns the paths of the sheets of a workbook, in their order. */
export function sheetPaths(workbook: string, relations: string): (string | undefined)[] {
  const targets = new Map(
    tags('Relationship', relations).map((rest) => [attributeOf('Id', rest), attributeOf('Target', rest)]),
  );
  return tags('sheet', workbook).map((rest) =>
    targets
      .get(attributeOf('\\w+:id', rest))
      ?.replace(/^(?!\/)/, 'xl/')
      .replace(/^\//, ''),
  );
}

const tags = (name: string, xml: string): string[] =>
  [...xml.matchAll(new RegExp(`<(?:\\w+:)?${name}(\\s(?:[^<>"']|"[^"]*"|'[^']*')*)>`, 'g'))].map(
    ([, rest]) => rest!,
  );

const attributeOf = (name: string, rest: string): string | undefined =>
  new RegExp(`\\s${name}\\s*=\\s*["']([^"']*)["']`).exec(rest)?.[1];

/** Returns the place of a cell by its name, such as B3. */
function placeOf(name: string | undefined): { row: number; column: number } | undefined {
  const [, letters, digits] = /^([A-Za-z]{1,4})(\d{1,9})$/.exec(name ?? '') ?? [];
  if (letters === undefined) return name === undefined ? undefined : { row: 0, column: 0 };
  const column = [...letters.toUpperCase()].reduce((sum, each) => sum * 26 + each.charCodeAt(0) - 64, 0);
  return { row: Number(digits), column };
}
