import type { Type } from '@nestjs/common';
import type { Sql } from '../database/database.js';
import { CursorOf, LimitQuery, toPage, type CursorValue, type Page } from '../http/page.js';

/** `?` stands for a value. */
export type Condition = readonly [sql: string, ...values: readonly unknown[]];

/** A filter: its query parameter, and the conditions that its value sets. A text `where` is one condition, whose `?` is the value. */
export interface Filter<Value> {
  readonly parameter: PropertyDecorator;
  readonly where: string | ((value: Value) => readonly Condition[]);
}

/** The columns that order a list, with the kinds of their values, by the field of a row that has the value. They identify a row. */
type Order = Readonly<Record<string, readonly [column: string, kind: keyof CursorValue]>>;

type PositionIn<O extends Order> = { readonly [Field in keyof O]: CursorValue[O[Field][1]] };

type QueryOf<O extends Order, Filters> = LimitQuery & { cursor?: PositionIn<O> } & {
  -readonly [Name in keyof Filters]?: Filters[Name] extends Filter<infer Value> ? Value : never;
};

interface Definition<O extends Order, Filters> {
  /** Is in each cursor, so that no list takes the cursor of another. */
  readonly name: string;
  /** A SELECT without WHERE, or a function that puts `WHERE … ORDER BY … LIMIT …` in its place in a statement. */
  readonly select: string | ((page: string, order: string) => string);
  readonly order: O;
  /** Default: the lowest values first. */
  readonly descending?: boolean;
  /** A condition that all items meet. */
  readonly where?: string;
  /** The query parameters beside `limit` and `cursor`, by name. */
  readonly filters: Filters;
}

const CASTS: Readonly<Record<keyof CursorValue, string>> = {
  uuid: '?::uuid',
  instant: '?::timestamptz',
  integer: '?::bigint',
};

/** A list of the API, stated once: its query parameters, their description, the statement, and the cursor come from the definition. */
export class List<const O extends Order, const Filters extends Readonly<Record<string, Filter<never>>>> {
  /** The query parameters. Extend this class, so that a controller can name it. */
  readonly Query: Type<QueryOf<O, Filters>>;
  /** Declares the parameter `cursor`. */
  readonly cursor: PropertyDecorator;
  readonly filters: Filters;

  constructor(private readonly definition: Definition<O, Filters>) {
    const { name: list, order, filters } = definition;
    const kinds = Object.entries(order).map(([field, [, kind]]) => [field, kind] as const);
    this.cursor = CursorOf(list, Object.fromEntries(kinds));
    this.filters = filters;
    class Query extends LimitQuery {}
    const parameters = Object.entries(filters).map(([name, { parameter }]) => [name, parameter] as const);
    for (const [name, parameter] of [['cursor', this.cursor] as const, ...parameters]) {
      // The type of a parameter in the API description. Default: text.
      Reflect.defineMetadata('design:type', String, Query.prototype, name);
      parameter(Query.prototype, name);
    }
    this.Query = Query as Type<QueryOf<O, Filters>>;
  }

  /**
   * Reads a page. `within`: further conditions, which no parameter sets. Each combination of conditions is another statement without a name,
   * so that PostgreSQL plans it for its values.
   */
  async page<Row extends object>(
    sql: Sql,
    query: QueryOf<O, Filters>,
    ...within: readonly Condition[]
  ): Promise<Page<Row>> {
    const { name, select, order, descending = false, where } = this.definition;
    const conditions = [...within, ...this.filtered(query), ...this.after(query.cursor)];
    const texts = conditions.map(([text]) => text);
    let values = 0;
    const all = [...(where === undefined ? [] : [where]), ...texts]
      .map((text) => text.replaceAll('?', () => `$${++values}`))
      .join(' AND ');
    const columns = Object.values(order).map(([column]) => (descending ? `${column} DESC` : column));
    const ordered = `ORDER BY ${columns.join(', ')} LIMIT ${query.limit + 1}`;
    const page = all === '' ? ordered : `WHERE ${all} ${ordered}`;
    const text = typeof select === 'string' ? `${select} ${page}` : select(page, ordered);
    const rows = await sql.query<Row & Record<string, unknown>>(
      text,
      conditions.flatMap(([, ...given]) => given),
    );
    return toPage(name, rows, query.limit, (row) => Object.keys(order).map((field) => row[field]));
  }

  private filtered(query: Readonly<Record<string, unknown>>): readonly Condition[] {
    return Object.entries(this.filters).flatMap(([name, { where }]): readonly Condition[] => {
      const value = query[name];
      if (value === undefined) return [];
      return typeof where === 'string' ? [[where, value]] : where(value as never);
    });
  }

  /** Returns the condition that selects the rows after a position. */
  private after(cursor: PositionIn<O> | undefined): readonly Condition[] {
    if (cursor === undefined) return [];
    const { order, descending = false } = this.definition;
    const columns = Object.values(order).map(([column]) => column);
    const values = Object.values(order).map(([, kind]) => CASTS[kind]);
    const text = `(${columns.join(', ')}) ${descending ? '<' : '>'} (${values.join(', ')})`;
    return [[text, ...Object.keys(order).map((field) => cursor[field])]];
  }
}
