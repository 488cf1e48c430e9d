import { FIELDS, proposedField, type Field } from '../../spreadsheet/column-names.rules.js';

const REQUIRED: readonly ColumnName[] = ['tenantReference', 'ean'];
/** The columns that result.csv adds. They are skipped, so that a corrected result can be uploaded. */
export const OF_RESULT = ['status', 'problems', 'registrationId', 'userId', 'invitationUrl'];
const METADATA = 'metadata.';
/** JavaScript gives these names a special meaning. */
const RESERVED = ['__proto__', 'constructor'];
export const MAX_COLUMNS = 200;

export type ColumnName = Field;

/** The content of a column: a field, a value of the metadata, or text that is skipped. */
export type Column =
  | { readonly kind: 'field'; readonly field: ColumnName; readonly name: string }
  | { readonly kind: 'metadata'; readonly key: string; readonly name: string }
  | { readonly kind: 'skipped'; readonly name: string };

/** Returns a name without case, spaces, `_` and `-`. */
const plain = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');
const byPlainName = new Map<string, ColumnName>(FIELDS.map((name) => [plain(name), name]));
const skipped = new Set(OF_RESULT.map(plain));

/** What the columns of a file become that have names of their own: a field, `metadata.NAME`, or nothing, by the plain name. */
export type Mapping = ReadonlyMap<string, { readonly name: string; readonly becomes: string }>;
export const NO_MAPPING: Mapping = new Map();

/** Reads a text such as `Klantnummer:tenantReference,Straat:`, or returns its fault. */
export function readMapping(text: string): { readonly mapping: Mapping } | { readonly fault: string } {
  const mapping = new Map<string, { name: string; becomes: string }>();
  for (const pair of text.split(',')) {
    const at = pair.lastIndexOf(':');
    const name = pair.slice(0, at).trim();
    const becomes = pair.slice(at + 1).trim();
    if (at < 0 || name === '')
      return { fault: 'must be NAME:FIELD pairs, such as Klantnummer:tenantReference,EAN-code:ean' };
    const column = columnOf(becomes);
    if (becomes !== '' && (column === undefined || column.kind === 'skipped'))
      return {
        fault: `"${shown(becomes)}" is no field: use ${FIELDS.join(', ')}, metadata.NAME, or nothing to leave the column out`,
      };
    if (mapping.has(plain(name))) return { fault: `names the column "${shown(name)}" twice` };
    mapping.set(plain(name), { name, becomes });
  }
  return { mapping };
}

/** Returns the name that the column of a field has in the file. */
export const columnNameOf = (columns: readonly Column[], field: ColumnName): string =>
  columns.find((each) => each.kind === 'field' && each.field === field)?.name ?? field;

/** Returns how many of these cells are names of columns. */
export const recognisedColumns = (cells: readonly string[]): number =>
  cells.filter((cell) => columnOf(cell) !== undefined).length;

function columnOf(cell: string): Column | undefined {
  const name = cell.trim();
  const field = byPlainName.get(plain(name));
  if (field !== undefined) return { kind: 'field', field, name };
  const key = name.slice(METADATA.length).trim();
  if (plain(name).startsWith(METADATA) && /^metadata\./i.test(name) && key !== '')
    return { kind: 'metadata', key, name };
  return skipped.has(plain(name)) ? { kind: 'skipped', name } : undefined;
}

/** Returns the column of this name in the file, which a mapping may give another meaning. */
function mappedColumn(name: string, mapping: Mapping): Column | undefined {
  const mapped = mapping.get(plain(name));
  if (mapped === undefined) return columnOf(name);
  if (mapped.becomes === '') return { kind: 'skipped', name };
  const column = columnOf(mapped.becomes);
  return column && { ...column, name };
}

/** Returns the columns of a header, or its fault, in words for the person with the spreadsheet. */
export function readHeader(
  cells: readonly string[],
  mapping: Mapping = NO_MAPPING,
): { readonly columns: readonly Column[] } | { readonly fault: string } {
  const names = withoutEmptyEnd(cells).map((cell) => cell.trim());
  if (names.length > MAX_COLUMNS)
    return { fault: `it has ${names.length} columns; at most ${MAX_COLUMNS} are allowed` };
  const columns: Column[] = [];
  const unknown: number[] = [];
  for (const [index, name] of names.entries()) {
    const where = `column ${index + 1}`;
    if (name === '') return { fault: `${where} has no name: name it, or delete the column` };
    if (plain(name) === METADATA)
      return {
        fault: `${where} ("${shown(name)}") has no name after the dot: name it, or delete the column`,
      };
    const column = mappedColumn(name, mapping);
    if (column === undefined) {
      unknown.push(index);
      continue;
    }
    if (column.kind === 'metadata' && RESERVED.includes(column.key))
      return { fault: `${where} ("${shown(name)}") has a name that is not allowed` };
    const first = columns.find((each) => keyOf(each) === keyOf(column));
    if (first !== undefined) {
      const other = `column ${names.indexOf(first.name) + 1} ("${shown(first.name)}")`;
      const isNamed = mapping.size > 0 && column.kind !== 'skipped';
      const says = isNamed ? `is ${keyOf(column)}, and so is` : 'has the same name as';
      return { fault: `${where} ("${shown(name)}") ${says} ${other}` };
    }
    columns.push(column);
  }
  const absent = [...mapping].find(([key]) => !names.some((name) => plain(name) === key));
  if (absent !== undefined)
    return { fault: `it has no column "${shown(absent[1].name)}", which \`columns\` names` };
  const missing = REQUIRED.filter((name) => !columns.some((each) => keyOf(each) === name));
  const ofMissing = `${missing.map((name) => `the column "${name}"`).join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`;
  if (unknown.length > 0) {
    const list = (text: (index: number) => string) => unknown.map(text).join(' and ');
    const columnList = list((index) => `column ${index + 1} ("${shown(names[index]!)}")`);
    const newNames = list((index) => `"metadata.${shown(names[index]!)}"`);
    const [are, them, their] = unknown.length === 1 ? ['is', 'it', 'its'] : ['are', 'them', 'their'];
    const proposed = proposalFor(
      unknown.map((index) => names[index]!),
      columns,
    );
    return {
      fault:
        missing.length === 0
          ? `${columnList} ${are} not known: delete ${them}, or name ${them} ${newNames} to keep ${their} values${proposed}`
          : `${columnList} ${are} not known, and ${ofMissing}: name the columns so, and others "metadata.NAME", or delete them${proposed}`,
    };
  }
  return missing.length === 0 ? { columns } : { fault: ofMissing };
}

/** Returns the parameter that names the unknown columns whose fields can be guessed, as the end of a message. */
function proposalFor(unknown: readonly string[], columns: readonly Column[]): string {
  const known = new Set(columns.map(keyOf));
  const pairs = unknown.flatMap((name) => {
    const field = proposedField(name);
    if (field === undefined || known.has(field) || /[,:]/.test(name)) return [];
    known.add(field);
    return `${name}:${field}`;
  });
  return pairs.length === 0 ? '' : `. If this is right, upload it with columns=${pairs.join(',')}`;
}

function keyOf(column: Column): string {
  if (column.kind === 'field') return column.field;
  return column.kind === 'metadata' ? METADATA + column.key : `skipped ${plain(column.name)}`;
}

/** Returns the cells without the empty ones at the end, which Excel writes where columns were used once. */
export function withoutEmptyEnd(cells: readonly string[]): readonly string[] {
  const last = cells.findLastIndex((cell) => cell.trim() !== '');
  return cells.slice(0, last + 1);
}

/** Shortens a name for a message. */
const shown = (name: string): string => (name.length > 40 ? `${name.slice(0, 40)}…` : name);
