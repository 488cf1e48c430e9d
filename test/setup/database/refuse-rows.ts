import type { Database } from '../../../src/platform/database/database.js';

/** Makes PostgreSQL refuse new rows of a table for good, if `condition` on `new` holds. Limits the patience of `database` to `withinMs`. */
export async function refuseRows(database: Database, table: string, condition: string, withinMs = 300) {
  const { outcomes } = database;
  const repeat = outcomes.repeat.bind(outcomes);
  outcomes.repeat = (write, longMs) => repeat(write, Math.min(longMs, withinMs));
  await database.query(`
    CREATE FUNCTION refuse_rows() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE 'permission denied' USING ERRCODE = '42501'; END $$;
    CREATE TRIGGER refused BEFORE INSERT ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION refuse_rows()`);
  return async (): Promise<void> => {
    outcomes.repeat = repeat;
    await database.query('DROP FUNCTION refuse_rows CASCADE');
  };
}
