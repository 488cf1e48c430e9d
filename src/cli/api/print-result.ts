import { print, printError, printYaml } from '../print.js';
import {
  defaultColumns,
  kebab,
  typeOf,
  type Operation,
  type Resolve,
  type Schema,
} from './operation.rules.js';
import { age, cut, eventName, printTable, type Cell, type Columns } from './table.js';

type Item = Readonly<Record<string, unknown>>;

/**
 * Prints the result of an operation for people. `own`: columns whose text needs more than one field; they replace those of the same title.
 */
export function printResult(resolve: Resolve, operation: Operation, data: unknown, own: Columns<never> = {}) {
  const { returns, inputs } = operation;
  if (typeof data !== 'object' || data === null) return print(String(data));
  if (returns === undefined)
    return printError(`${'deleted' in data ? 'deleted' : 'done'} ${(data as { id?: string }).id ?? ''}`);
  const list = resolve(returns[1].properties?.items);
  const { items, next } = data as { readonly items?: readonly Item[]; readonly next?: string | null };
  if (Array.isArray(data)) return printYaml(withoutSecrets(resolve, returns[1], data) as object);
  if (items === undefined || typeOf(list.items ?? {}) !== 'object')
    return printObject(resolve, returns[1], data as Item);
  if (hasTables(resolve, list))
    return items.forEach((item) => {
      printObject(resolve, resolve(list.items), item);
      print('');
    });
  printTable({ ...tableOf(resolve, list), ...own }, items as readonly never[]);
  const nextBy = ['cursor', 'after'].find((name) => inputs.some((input) => input.name === name));
  // The feed of events has a next page for ever.
  if (next && nextBy && items.length > 0) printError(`there are more: add --${nextBy} ${next}`);
}

/** Prints an object as YAML, then those of its lists that have columns as tables. A secret that is shown only once is printed alone. */
export function printObject(resolve: Resolve, schema: Schema, value: Item): void {
  const propertyOf = (name: string) => resolve(schema.properties?.[name]);
  const names = Object.keys(value);
  const secret = names.find((name) => propertyOf(name)['x-secret'] === 'once');
  if (secret !== undefined) return printSecret(secret, value);
  const lists = names.filter((name) => propertyOf(name)['x-columns'] || hasTables(resolve, propertyOf(name)));
  const rest = Object.fromEntries(Object.entries(value).filter(([name]) => !lists.includes(name)));
  printYaml(withoutSecrets(resolve, schema, rest) as object);
  for (const name of lists) {
    const list = propertyOf(name);
    const items = value[name] as readonly Item[];
    if (items.length > 0) print('');
    if (list['x-columns'] === undefined)
      for (const item of items) printObject(resolve, resolve(list.items), item);
    else if (items.length > 0) printTable(tableOf(resolve, list), items);
  }
}

/** Prints a secret alone to the standard output, so that it can be piped. */
function printSecret(name: string, value: Item): void {
  const { [name]: secret, id, ...rest } = value as Readonly<Record<string, string | null>>;
  if (id !== undefined) printError(`created ${id}; the ${kebab(name)} is shown only once:`);
  else {
    for (const [field, each] of Object.entries(rest)) printError(`${field}: ${each ?? 'null'}`);
    printError(`the ${kebab(name)} is shown only once:`);
  }
  print(secret!);
}

/** Returns whether the objects of a list have lists with columns. */
const hasTables = (resolve: Resolve, list: Schema): boolean =>
  typeOf(list) === 'array' &&
  Object.values(resolve(list.items).properties ?? {})
    .map(resolve)
    .some((property) => property['x-columns'] !== undefined || hasTables(resolve, property));

/** Returns a value without its secrets: anyone who sees the startUrl of a session may act for the owner. */
function withoutSecrets(resolve: Resolve, schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(resolve, resolve(schema.items), each));
  if (typeof value !== 'object' || value === null) return value;
  const shown = Object.entries(value).map(([name, each]): [string, unknown] => {
    const property = resolve(schema.properties?.[name]);
    const isSecret = property['x-secret'] !== undefined && each !== null;
    return [name, isSecret ? 'not shown here; --json has it' : withoutSecrets(resolve, property, each)];
  });
  return Object.fromEntries(shown);
}

/** Returns the columns of a list, with the values of each item in the form that its schema suggests. */
function tableOf(resolve: Resolve, list: Schema): Columns<Item> {
  const item = resolve(list.items);
  const columns = Object.entries(list['x-columns'] ?? defaultColumns(resolve, item));
  return Object.fromEntries(
    columns.map(([title, column]) => {
      const [path = '', width = Infinity] = column.split(':');
      const names = path.split('.');
      const schema = names.reduce((of, name) => {
        const { properties } = of.items === undefined ? of : resolve(of.items);
        return resolve(properties?.[name]);
      }, item);
      return [title, (row: Item) => cellOf(resolve, schema, valueAt(row, names), Number(width))];
    }),
  );
}

/** Returns a field of an object, or that field of each object of a list. */
const valueAt = (row: Item, names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (value, name) =>
      Array.isArray(value) ? value.map((each: Item) => each[name]) : (value as Item | null)?.[name],
    row,
  );

function cellOf(resolve: Resolve, schema: Schema, value: unknown, width: number): Cell {
  if (Array.isArray(value)) {
    if (typeOf(resolve(schema.items)) === 'object') return value.length;
    const [first, ...more] = value as unknown[];
    const cell = cellOf(resolve, schema, first, width);
    return more.length > 0 ? `${cell} +${more.length}` : cell;
  }
  if (typeof value === 'number') return Math.round(value * 10) / 10;
  if (typeof value !== 'string') return value === null || value === undefined ? null : JSON.stringify(value);
  if (schema.format === 'date-time') return age(value);
  // The path of an address may contain a secret of the receiver.
  const isAddress = schema.format === 'uri' && URL.canParse(value);
  return cut(isAddress ? new URL(value).origin : eventName(value), width);
}
