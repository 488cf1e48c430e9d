export type Condition = readonly [sql: string, ...values: readonly unknown[]];

/**
 * Returns a WHERE clause of the conditions whose values are all defined; `?` stands for a value. One statement for all combinations of
 * filters would get a bad plan for most of them.
 */
export function whereOf(conditions: readonly Condition[]) {
  const given = conditions.filter(([, ...values]) => !values.includes(undefined));
  const values = given.flatMap(([, ...ofCondition]) => ofCondition);
  let parameters = 0;
  const text = given.map(([sql]) => sql).join(' AND ');
  return { where: text && `WHERE ${text.replaceAll('?', () => `$${++parameters}`)}`, values };
}
