import { textErrors } from '../../platform/http/field-errors.js';
import { CALLER_LIMITS, JsonError, jsonNumberText, parseLossless } from '../../platform/json/lossless.js';
import { isPlainObject, type Metadata } from '../../users/metadata.rules.js';
import type { CheckDigitRule } from '../../users/ean.rules.js';
import { readTenantReference } from '../../users/tenant-reference.rules.js';
import { readEanValue } from './ean-cell.rules.js';
import type { FileLine } from './line-reader.js';
import { MAX_ROW_CHARACTERS, otherEanWarning, unreadable, withStatus, type ReadRow } from './row.rules.js';

/** The properties of a line of NDJSON. The columns of its row in result.csv have the same names. */
export const JSON_COLUMNS = [
  'tenantReference',
  'ean',
  'brand',
  'locale',
  'expectedInverters',
  'metadata',
  'eanConfirmed',
] as const;

type JsonObject<Name extends string> = Readonly<Partial<Record<Name, unknown>>>;

/** Interprets a line of NDJSON. */
export function readJsonRow(fileLine: FileLine, rule: CheckDigitRule): ReadRow {
  const read = readObject(fileLine, JSON_COLUMNS);
  if ('invalid' in read) return read.invalid;
  const { row } = read;
  const ean = readEanValue(row.ean, { rule, isConfirmed: row.eanConfirmed === true });
  const values = withStatus({ ...valuesOf(fileLine.line, row, JSON_COLUMNS), ean });
  const others = JSON_COLUMNS.filter((name) => name !== 'ean').flatMap((name) =>
    otherEanWarning(name, textOf(row[name]), values.ean),
  );
  return { ...values, problems: [...values.problems, ...others] };
}

/** Returns the values of an object, whose columns in result.csv have these names. */
export const valuesOf = (line: number, row: JsonObject<string>, names: readonly string[]) => ({
  line,
  tenantReference: textOf(row.tenantReference),
  eanConfirmed: textOf(row.eanConfirmed),
  brand: textOf(row.brand),
  locale: textOf(row.locale),
  expectedInverters: textOf(row.expectedInverters),
  // withStatus reports a value of another type.
  metadata: (row.metadata ?? {}) as Metadata,
  fields: names.map((name) => textOf(row[name])),
  nameOf: (name: string) => name,
  problems: [],
});

/** Returns the object of a line if it has only known names, else a row with the problem that makes it invalid. */
export function readObject<Name extends string>(
  { line, text, isTooLong }: FileLine,
  names: readonly Name[],
): { readonly row: JsonObject<Name> } | { readonly invalid: ReadRow } {
  const read = isTooLong
    ? { fault: `The line is longer than ${MAX_ROW_CHARACTERS.toLocaleString('en')} characters` }
    : parse(text, names);
  if ('row' in read) return read;
  const code = isTooLong ? 'row_too_long' : 'json_invalid';
  const reference = read.reference ?? referenceAtStart(text);
  const ofLine = readTenantReference(reference);
  const tenantReference = 'fault' in ofLine ? ofLine.meant : ofLine.reference;
  const message =
    tenantReference === null
      ? `${read.fault}. Other rows of this customer are registered without it, since its tenantReference cannot be read`
      : read.fault;
  return { invalid: unreadable(line, tenantReference, { column: null, code, message }) };
}

/** The object of a line, or its fault and, if it is an object, its reference. */
type Parsed<Name extends string> =
  { readonly row: JsonObject<Name> } | { readonly fault: string; readonly reference?: unknown };

function parse<Name extends string>(text: string, names: readonly Name[]): Parsed<Name> {
  let value: unknown;
  try {
    value = parseLossless(text, CALLER_LIMITS);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { fault: `This line is not a JSON object: ${error.message}` };
  }
  if (!isPlainObject(value)) return { fault: 'Each line must be a JSON object' };
  const reference = textOf(value.tenantReference);
  const [unusable] = textErrors(value);
  if (unusable !== undefined) return { fault: `${unusable.field} ${unusable.message}`, reference };
  const unknown = Object.keys(value).find((name) => !names.some((known) => known === name));
  return unknown === undefined
    ? { row: value as JsonObject<Name> }
    : { fault: `The name "${unknown.slice(0, 40)}" is not known`, reference };
}

const REFERENCE_AT_START = /^\s*\{\s*"tenantReference"\s*:\s*("(?:[^"\\]|\\.){0,1200}")/;

/** Returns the reference of a line that is not valid JSON, if it is the first value. A later text might be a part of another value. */
function referenceAtStart(text: string): unknown {
  const value = REFERENCE_AT_START.exec(text)?.[1];
  try {
    return value && JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** Returns a value as the text of a cell. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return jsonNumberText(value) ?? JSON.stringify(value);
}
