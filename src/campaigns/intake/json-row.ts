import { textErrors } from '../../platform/http/field-errors.js';
import { JsonError, jsonNumberText, parseLossless } from '../../platform/json/lossless.js';
import { isPlainObject, type Metadata } from '../../users/metadata.rules.js';
import type { RowProblem } from '../campaign.rules.js';
import { readEanValue, type CheckDigitRule } from './ean-cell.rules.js';
import type { FileLine } from './line-reader.js';
import { MAX_ROW_CHARACTERS, withStatus, type ReadRow } from './row.rules.js';

/** The names that an object of NDJSON may have, which are its columns in result.csv. */
export const JSON_COLUMNS = [
  'tenantReference',
  'ean',
  'brand',
  'locale',
  'expectedInverters',
  'metadata',
] as const;

type JsonRow = Readonly<Partial<Record<(typeof JSON_COLUMNS)[number], unknown>>>;

/** Interprets a line of NDJSON. */
export function readJsonRow({ line, text, isTooLong }: FileLine, rule: CheckDigitRule): ReadRow {
  const read = isTooLong
    ? { fault: `The line is longer than ${MAX_ROW_CHARACTERS.toLocaleString('en')} characters` }
    : parse(text);
  if ('fault' in read) {
    const code = isTooLong ? 'row_too_long' : 'json_invalid';
    return unreadable(line, { column: null, code, message: read.fault });
  }
  const { row } = read;
  const metadata = row.metadata ?? {};
  return withStatus({
    line,
    tenantReference: textOf(row.tenantReference),
    ean: readEanValue(row.ean, rule),
    brand: textOf(row.brand),
    locale: textOf(row.locale),
    expectedInverters: textOf(row.expectedInverters),
    // The type of another value is one of its faults.
    metadata: metadata as Metadata,
    fields: JSON_COLUMNS.map((name) => textOf(row[name])),
    nameOf: (name) => name,
    problems: [],
  });
}

function parse(text: string): { readonly row: JsonRow } | { readonly fault: string } {
  let value: unknown;
  try {
    value = parseLossless(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { fault: `This line is not a JSON object: ${error.message}` };
  }
  if (!isPlainObject(value)) return { fault: 'Each line must be a JSON object' };
  const [unusable] = textErrors(value);
  if (unusable !== undefined) return { fault: `${unusable.field} ${unusable.message}` };
  const unknown = Object.keys(value).find((name) => !JSON_COLUMNS.some((known) => known === name));
  return unknown === undefined
    ? { row: value }
    : { fault: `The name "${unknown.slice(0, 40)}" is not known` };
}

const unreadable = (line: number, problem: RowProblem): ReadRow => ({
  line,
  status: 'invalid',
  tenantReference: null,
  ean: null,
  brand: null,
  locale: null,
  expectedInverters: null,
  metadata: {},
  fields: [],
  problems: [problem],
});

/** Returns a value as the text of a cell. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return jsonNumberText(value) ?? JSON.stringify(value);
}
