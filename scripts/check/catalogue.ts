/** Selects a line for each part of a database that Prisma can describe: columns, indexes, primary, unique and foreign keys. */
export const CATALOGUE = `
  SELECT format('column %s.%s %s%s default %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
           CASE WHEN a.attnotnull THEN ' not null' ELSE '' END, coalesce(pg_get_expr(d.adbin, d.adrelid), 'none')) AS fact
  FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> '_prisma_migrations'
  UNION ALL
  -- Removes storage parameters, which Prisma cannot describe.
  SELECT 'index ' || regexp_replace(pg_get_indexdef(i.indexrelid), ' WITH [(][^)]*[)]', '')
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relname <> '_prisma_migrations'
  UNION ALL
  SELECT format('foreign key %s.%s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
  FROM pg_constraint
  WHERE contype = 'f' AND connamespace = 'public'::regnamespace`;

/** Matches the lines of partial indexes and of indexes on expressions. Prisma cannot describe them, so only the migrations contain them. */
export const ONLY_IN_MIGRATIONS: readonly RegExp[] = [
  /^index CREATE (UNIQUE )?INDEX .* WHERE /,
  /^index CREATE INDEX .* USING (btree|gin) \(\w+\(/,
];

/** Returns a message for each line that only one set has. Lines that match `onlyInMigrations` may be missing from `declared`. */
export function differences(
  migrated: ReadonlySet<string>,
  declared: ReadonlySet<string>,
  onlyInMigrations: readonly RegExp[],
): string[] {
  const allowed = (fact: string) => onlyInMigrations.some((pattern) => pattern.test(fact));
  return [
    ...[...migrated]
      .filter((fact) => !declared.has(fact) && !allowed(fact))
      .map((fact) => `only in prisma/migrations: ${fact}`),
    ...[...declared]
      .filter((fact) => !migrated.has(fact))
      .map((fact) => `only in prisma/schema.prisma: ${fact}`),
  ].sort();
}
