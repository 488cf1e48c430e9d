const NAMES = ['tenantReference', 'ean', 'brand', 'locale', 'expectedInverters', 'eanConfirmed'] as const;
const REQUIRED: readonly ColumnName[] = ['tenantReference', 'ean'];
/** Columns that result.csv adds. They are skipped, so that a corrected result can be uploaded. */
const OF_RESULT = ['status', 'problems', 'registrationId', 'userId', 'invitationUrl'];
const METADATA = 'metadata.';
/** JavaScript gives these names a special meaning. */
const RESERVED = ['__proto__', 'constructor'];
export const MAX_COLUMNS = 200;

export type ColumnName = (typeof NAMES)[number];

/** The content of a column: a field, a value of the metadata, or text that is skipped. */
export type Column =
  | { readonly kind: 'field'; readonly field: ColumnName; readonly name: string }
  | { readonly kind: 'metadata'; readonly key: string; readonly name: string }
  | { readonly kind: 'skipped'; readonly name: string };

/** Returns a name without case, spaces, `_` and `-`. */
const plain = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');
const byPlainName = new Map<string, ColumnName>(NAMES.map((name) => [plain(name), name]));
const skipped = new Set(OF_RESULT.map(plain));

/** Returns the name that a column has in the file. */
export const columnNameOf = (columns: readonly string[], field: ColumnName): string =>
  columns.find((name) => plain(name) === plain(field)) ?? field;

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

/** Returns the columns of a header, or its fault, in words for the person with the spreadsheet. */
export function readHeader(
  cells: readonly string[],
): { readonly columns: readonly Column[] } | { readonly fault: string } {
  const names = withoutEmptyEnd(cells);
  if (names.length > MAX_COLUMNS)
    return { fault: `it has ${names.length} columns; at most ${MAX_COLUMNS} are allowed` };
  const columns: Column[] = [];
  const unknown: number[] = [];
  for (const [index, name] of names.entries()) {
    const where = `column ${index + 1}`;
    if (name.trim() === '') return { fault: `${where} has no name: name it, or delete the column` };
    if (plain(name) === METADATA)
      return {
        fault: `${where} ("${shown(name)}") has no name after the dot: name it, or delete the column`,
      };
    const column = columnOf(name);
    if (column === undefined) {
      unknown.push(index);
      continue;
    }
    if (column.kind === 'metadata' && RESERVED.includes(column.key))
      return { fault: `${where} ("${shown(name)}") has a name that is not allowed` };
    const first = columns.find((each) => keyOf(each) === keyOf(column));
    if (first !== undefined) {
      const other = `column ${names.indexOf(first.name) + 1} ("${shown(first.name)}")`;
      return { fault: `${where} ("${shown(name)}") has the same name as ${other}` };
    }
    columns.push(column);
  }
  const missing = REQUIRED.filter((name) => !columns.some((each) => keyOf(each) === name));
  const ofMissing = `${missing.map((name) => `the column "${name}"`).join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`;
  if (unknown.length > 0) {
    const list = (text: (index: number) => string) => unknown.map(text).join(' and ');
    const columnList = list((index) => `column ${index + 1} ("${shown(names[index]!)}")`);
    const newNames = list((index) => `"metadata.${shown(names[index]!)}"`);
    const [are, them, their] = unknown.length === 1 ? ['is', 'it', 'its'] : ['are', 'them', 'their'];
    return {
      fault:
        missing.length === 0
          ? `${columnList} ${are} not known: delete ${them}, or name ${them} ${newNames} to keep ${their} values`
          : `${columnList} ${are} not known, and ${ofMissing}: name the columns so, and others "metadata.NAME", or delete them`,
    };
  }
  return missing.length === 0 ? { columns } : { fault: ofMissing };
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
const shown = (name: string): string =>
  name.trim().length > 40 ? `${name.trim().slice(0, 40)}…` : name.trim();
