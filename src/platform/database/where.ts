export type Condition = readonly [sql: string, ...values: readonly unknown[]];

/** Returns a WHERE clause of the conditions with all values defined, so that each combination gets its own plan; `?` stands for a value. */
export function whereOf(conditions: readonly Condition[]) {
  const given = conditions.filter(([, ...values]) => !values.includes(undefined));
  const values = given.flatMap(([, ...ofCondition]) => ofCondition);
  let parameters = 0;
  const text = given.map(([sql]) => sql).join(' AND ');
  return { where: text && `WHERE ${text.replaceAll('?', () => `$${++parameters}`)}`, values };
}
