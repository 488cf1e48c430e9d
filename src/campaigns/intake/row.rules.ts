import { brandFault, isNoneOrAsAbove, normaliseBrand } from '../../platform/spelling.rules.js';
import { MAX_INVERTERS } from '../../invitations/invitation.rules.js';
import { LOCALES, type Locale } from '../../platform/env/locale.rules.js';
import { metadataFault, type Metadata } from '../../users/metadata.rules.js';
import { hasOtherEan } from '../../platform/ean-digits.rules.js';
import type { CheckDigitRule } from '../../users/ean.rules.js';
import type { Look } from '../../users/rounded.rules.js';
import { mayBeRewritten, readTenantReference } from '../../users/tenant-reference.rules.js';
import type { RowProblem, RowProblemCode } from '../campaign.rules.js';
import type { Adoption } from '../adoption/adoption.rules.js';
import { fromExcelCell } from '../excel.rules.js';
import { JOINED, readEanCell, type ReadEan } from './ean-cell.rules.js';
import { withoutEmptyEnd, type Column, type ColumnName } from './headers.rules.js';

/** A row of the file, as the readers return it. */
export interface FileRow {
  /** The line on which it begins. */
  readonly line: number;
  /** If the row is too long, the cells beyond the limit are shortened, not dropped. */
  readonly cells: readonly string[];
  readonly isTooLong: boolean;
}

/** A row as it is stored. A field is null if it is missing or faulty. */
export interface ReadRow {
  readonly line: number;
  readonly status: 'accepted' | 'invalid';
  readonly tenantReference: string | null;
  readonly ean: string | null;
  readonly brand: string | null;
  readonly locale: Locale | null;
  readonly expectedInverters: number | null;
  readonly metadata: Metadata;
  /** The cells as sent, without the cells of skipped columns. Cells beyond the last column stand at the end. */
  readonly fields: readonly string[];
  readonly problems: readonly RowProblem[];
  /** What its EANs look like. It is counted, not stored. */
  readonly looks: readonly Look[];
  /** The user and sessions that exist at the remote service; only in a row to adopt. */
  readonly adoption?: Adoption;
}

export const MAX_ROW_CHARACTERS = 65_536;

/** The values of a row, and the name of each field in the file. */
interface RowValues {
  readonly line: number;
  readonly tenantReference: string;
  readonly ean: ReadEan;
  readonly eanConfirmed: string;
  readonly brand: string;
  readonly locale: string;
  readonly expectedInverters: string;
  readonly metadata: Metadata;
  readonly fields: readonly string[];
  readonly nameOf: (field: ColumnName | 'metadata') => string;
  /** Problems that were found while the row was read; each makes it invalid. */
  readonly problems: readonly RowProblem[];
}

export function readCsvRow(
  row: FileRow,
  columns: readonly Column[],
  delimiter: string,
  rule: CheckDigitRule,
): ReadRow {
  const cells = withoutEmptyEnd(row.cells.map(fromExcelCell));
  const cellOf = (index: number) => cells[index] ?? '';
  const indexOf = (field: ColumnName) =>
    columns.findIndex((column) => column.kind === 'field' && column.field === field);
  const textOf = (field: ColumnName) => cellOf(indexOf(field)).trim();
  // A row may have far fewer cells than the header has columns.
  const metadata = cells.flatMap((cell, index) => {
    const column = columns[index];
    return column?.kind === 'metadata' && cell !== '' ? [[column.key, cell] as const] : [];
  });
  const eanConfirmed = textOf('eanConfirmed');
  const read = withStatus({
    line: row.line,
    tenantReference: cellOf(indexOf('tenantReference')),
    ean: readEanCell(cellOf(indexOf('ean')), { rule, isConfirmed: isConfirmed(eanConfirmed) === true }),
    eanConfirmed,
    brand: textOf('brand'),
    locale: textOf('locale'),
    expectedInverters: textOf('expectedInverters'),
    metadata: Object.fromEntries(metadata),
    fields: fieldsOf(cells, columns),
    nameOf: (field) => columns[indexOf(field as ColumnName)]?.name ?? 'metadata',
    problems: cellProblems(cells.length, columns.length),
  });
  if (row.isTooLong)
    return unreadable(row.line, read.tenantReference, {
      column: null,
      code: 'row_too_long',
      message: `The row is longer than ${MAX_ROW_CHARACTERS.toLocaleString('en')} characters: is a quote missing that ends a cell?`,
    });
  const warnings = cells.slice(0, columns.length).flatMap((cell, index) => {
    const { name } = columns[index]!;
    const ofRows = rowsWarning(name, index, cell, delimiter);
    return ofRows.length > 0 || index === indexOf('ean') ? ofRows : otherEanWarning(name, cell, read.ean);
  });
  return { ...read, problems: [...read.problems, ...warnings] };
}

/** Returns the cells to store. Those of the last columns are missing if they are empty, unless the row has too many cells. */
function fieldsOf(cells: readonly string[], columns: readonly Column[]): string[] {
  return [
    ...columns
      .slice(0, cells.length)
      .flatMap((column, index) => (column.kind === 'skipped' ? [] : [cells[index]!])),
    ...cells.slice(columns.length),
  ];
}

/**
 * Warns about a cell that probably lacks its closing quote. Such a cell includes whole rows, and ends at the opening quote of the same
 * column in a later row. So its last line contains all cells before that column in the later row, and is not shorter than `index` cells.
 */
function rowsWarning(column: string, index: number, cell: string, delimiter: string): RowProblem[] {
  const lines = cell.split(/[\r\n]/);
  if (lines.length === 1 || lines.at(-1)!.split(delimiter).length <= Math.max(1, index)) return [];
  const message = 'This cell contains several lines that look like rows: is a quote missing?';
  return [{ column, code: 'cell_has_rows', message }];
}

/** Warns about an EAN in a cell that is not read as one, since the customer would be registered without it. */
export function otherEanWarning(column: string, cell: string, ean: string | null): RowProblem[] {
  if (!hasOtherEan(cell, ean)) return [];
  const message =
    'An EAN that is not read stands here: a further EAN of a customer needs a row of its own, with the same reference';
  return [{ column, code: 'ean_in_other_column', message }];
}

function cellProblems(length: number, columns: number): RowProblem[] {
  if (length <= columns) return [];
  const message = `The row has ${length} cells, the header ${columns}: put quotes around a cell that contains the separator`;
  return [{ column: null, code: 'too_many_cells', message }];
}

/** Returns a row of which only the customer is known, with the problem that makes it invalid. */
export const unreadable = (line: number, tenantReference: string | null, problem: RowProblem): ReadRow => ({
  line,
  status: 'invalid',
  tenantReference,
  ean: null,
  brand: null,
  locale: null,
  expectedInverters: null,
  metadata: {},
  fields: [],
  looks: [],
  problems: [problem],
});

/** Checks the values, and decides whether the row can be registered. */
export function withStatus(values: RowValues): ReadRow {
  const { line, nameOf, ean, fields, metadata } = values;
  const { tenantReference, fault: ofReference, warnings } = readReference(values.tenantReference);
  const named = normaliseBrand(values.brand);
  const brand = named === '' ? undefined : brandFault(named);
  const locale = localeOf(values.locale);
  const inverters = invertersOf(values.expectedInverters);
  const ofMetadata = metadataFault(metadata);
  const faults = [...values.problems];
  const fault = (field: ColumnName | 'metadata', code: RowProblemCode, message: string) =>
    void faults.push({ column: nameOf(field), code, message });
  if (ofReference) fault('tenantReference', ofReference.code, ofReference.message);
  if (ean.ean === null && ean.problem) fault('ean', ean.problem.code, ean.problem.message);
  if (isConfirmed(values.eanConfirmed) === undefined)
    fault('eanConfirmed', 'ean_invalid', 'Must be true, false or empty');
  if (brand) fault('brand', 'brand_invalid', `The brand ${brand}`);
  if (locale === undefined)
    fault('locale', 'locale_unknown', `The language must be one of ${LOCALES.join(', ')}`);
  if (inverters === undefined)
    fault('expectedInverters', 'inverters_invalid', `Must be a whole number from 1 to ${MAX_INVERTERS}`);
  if (ofMetadata) fault('metadata', 'metadata_invalid', `The metadata ${ofMetadata}`);
  const ofEan = ean.ean !== null && ean.problem ? [{ column: nameOf('ean'), ...ean.problem }] : [];
  return {
    line,
    status: faults.length === 0 ? 'accepted' : 'invalid',
    tenantReference,
    ean: ean.ean,
    brand: brand || named === '' ? null : named,
    locale: locale ?? null,
    expectedInverters: inverters ?? null,
    metadata: ofMetadata ? {} : metadata,
    fields,
    looks: ean.look === undefined ? [] : [ean.look],
    problems: [
      ...faults,
      ...ofEan,
      ...warnings.map((warning) => ({ column: nameOf('tenantReference'), ...warning })),
    ],
  };
}

type Problem = Pick<RowProblem, 'code' | 'message'>;

/** Reads the reference of a row. If it has a fault, the row still belongs to the reference that was probably meant. */
function readReference(text: string): {
  readonly tenantReference: string | null;
  readonly fault?: Problem;
  readonly warnings: readonly Problem[];
} {
  if (isNoneOrAsAbove(text)) return faulty('required', 'The customer reference is missing');
  if (text.startsWith('\ufeff')) return faulty('reference_invalid', JOINED);
  const read = readTenantReference(text);
  if ('fault' in read) return faulty(read.code, `The reference ${read.fault}`, read.meant);
  const warnings: Problem[] = [];
  if (read.isNormalised) warnings.push({ code: 'reference_normalised', message: NORMALISED });
  if (mayBeRewritten(read.reference))
    warnings.push({ code: 'reference_rounded', message: REFERENCE_ROUNDED });
  return { tenantReference: read.reference, warnings };
}

const faulty = (code: RowProblemCode, message: string, tenantReference: string | null = null) => ({
  tenantReference,
  fault: { code, message },
  warnings: [],
});

const NORMALISED =
  'The reference is stored in another form: composed (NFC), without blanks at its ends and the apostrophe of Excel';
const REFERENCE_ROUNDED =
  'The last digits of the reference may have been rounded: compare it with your system';

const CONFIRMED = ['true', 'waar', 'wahr', 'vrai'];
const NOT_CONFIRMED = ['', 'false', 'onwaar', 'falsch', 'faux'];

/**
 * Returns the value of a cell that says whether an EAN is confirmed, as Excel writes it in each language. Returns undefined for another
 * text.
 */
function isConfirmed(text: string): boolean | undefined {
  const value = text.toLowerCase();
  return CONFIRMED.includes(value) || (NOT_CONFIRMED.includes(value) ? false : undefined);
}

/** Returns the language of a cell such as `NL` or `nl-BE`. Returns null if the cell is empty, undefined if we do not have the language. */
function localeOf(text: string): Locale | null | undefined {
  if (text === '') return null;
  const language = /^([a-z]{2})([-_].*)?$/i.exec(text)?.[1]?.toLowerCase();
  return LOCALES.find((locale) => locale === language);
}

/** Returns the number in a cell. Returns null if the cell is empty, undefined if it does not contain a number of inverters. */
function invertersOf(text: string): number | null | undefined {
  if (text === '') return null;
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= MAX_INVERTERS ? number : undefined;
}
