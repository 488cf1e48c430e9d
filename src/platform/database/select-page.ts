import type { Sql } from './database.js';

export type Condition = readonly [sql: string, ...values: readonly unknown[]];

/**
 * Selects the rows that meet the conditions with all values defined, one row more than `limit`, so that `toPage` knows whether more follow.
 * `?` stands for a value. Each combination of conditions is another statement, so that it gets its own plan.
 */
export function selectPage<Row>(
  sql: Sql,
  select: string,
  order: string,
  limit: number,
  conditions: readonly Condition[],
): Promise<Row[]> {
  const given = conditions.filter(([, ...values]) => !values.includes(undefined));
  const values = given.flatMap(([, ...ofCondition]) => ofCondition);
  let parameters = 0;
  const all = given.map(([text]) => text.replaceAll('?', () => `$${++parameters}`)).join(' AND ');
  return sql.query<Row>(`${select} ${all && `WHERE ${all}`} ORDER BY ${order} LIMIT ${limit + 1}`, values);
}
