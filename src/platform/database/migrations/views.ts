import type pg from 'pg';
import { sqlState } from '../sql-state.js';
import { digestOf, readViews, type Migration } from './script.js';

const INVALID_TABLE_DEFINITION = '42P16';

/**
 * Creates the views of prisma/views in one transaction, unless the database already has exactly these. Replaces a view if PostgreSQL can,
 * which keeps its grants and the views that others have built on it. Otherwise drops and creates the view.
 */
export async function createViews(client: pg.ClientBase): Promise<void> {
  const views = await readViews();
  const digest = digestOf(JSON.stringify(views));
  const { rows } = await client.query<{ comment: string }>(READ_COMMENT);
  if (rows[0]!.comment.endsWith(digest)) return;
  await client.query('BEGIN');
  try {
    for (const view of views) await createView(client, view);
    await client.query(COMMENT_COLUMNS);
    await client.query(`COMMENT ON SCHEMA admin IS '${rows[0]!.comment.replace(NOTE, '')} Views: ${digest}'`);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function createView(client: pg.ClientBase, { name, script }: Migration): Promise<void> {
  await client.query('SAVEPOINT view');
  try {
    await client.query(script);
  } catch (error) {
    if (sqlState(error) !== INVALID_TABLE_DEFINITION) throw error;
    await client.query(`ROLLBACK TO view; DROP VIEW admin.${name}`);
    await client.query(script);
  }
}

const READ_COMMENT = `SELECT obj_description('admin'::regnamespace) AS comment`;
const NOTE = / Views: [0-9a-f]+$/;

/**
 * Comments each view column that has no comment: copies the comment of the table column with the same name. If several tables have such a
 * column, the oldest table counts.
 */
const COMMENT_COLUMNS = `
DO $$
DECLARE
  shown record;
BEGIN
  FOR shown IN
    SELECT DISTINCT ON (v.oid, own.attnum) v.relname AS view, own.attname AS name, col_description(source.attrelid, source.attnum) AS meaning
      FROM pg_class v
      JOIN pg_attribute own ON own.attrelid = v.oid AND col_description(v.oid, own.attnum) IS NULL
      JOIN pg_rewrite r ON r.ev_class = v.oid
      JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refobjid <> v.oid
      JOIN pg_attribute source ON source.attrelid = d.refobjid AND source.attnum = d.refobjsubid AND source.attname = own.attname
     WHERE v.relnamespace = 'admin'::regnamespace AND v.relkind = 'v' AND own.attnum > 0
     ORDER BY v.oid, own.attnum, d.refobjid
  LOOP
    EXECUTE format('COMMENT ON COLUMN admin.%I.%I IS %L', shown.view, shown.name, shown.meaning);
  END LOOP;
END $$`;
