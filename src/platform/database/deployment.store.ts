import { ConfigurationError } from '../env/configuration-error.js';
import type { Sql } from './database.js';

// Uses SQL, since Prisma Client cannot read the system catalogues of PostgreSQL.

/**
 * Identifies this database. A restored dump gets another oid of the table, a copied database another oid of the database, and a cluster
 * made by initdb another system identifier.
 */
const HOME = `concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
  (SELECT oid FROM pg_database WHERE datname = current_database()), 'deployment'::regclass::oid)`;

/** Whether a backup was restored, and nobody has checked yet which references were registered after it. */
export const IS_RESTORE_UNCHECKED = 'EXISTS (SELECT FROM restores WHERE references_checked_at IS NULL)';

export async function moveHome(sql: Sql): Promise<void> {
  await sql.query(
    `WITH others AS (DELETE FROM deployment WHERE home <> ${HOME}) INSERT INTO deployment (home) VALUES (${HOME}) ON CONFLICT DO NOTHING`,
  );
}

/** Throws ConfigurationError if this database is a copy of another one, or if the data of another one were loaded into it. */
export async function requireHome(sql: Sql): Promise<void> {
  await sql.query(`INSERT INTO deployment (home) VALUES (${HOME}) ON CONFLICT DO NOTHING`);
  if (await isCopy(sql)) throw isACopy();
}

/** Returns undefined if nothing is recorded, as while a dump is being restored. */
export async function isCopy(sql: Sql): Promise<boolean | undefined> {
  const text = `SELECT home <> ${HOME} AS "isCopy" FROM deployment ORDER BY 1 DESC`;
  const [row] = await sql.query<{ isCopy: boolean }>(text);
  return row?.isCopy;
}

export const isACopy = (): ConfigurationError =>
  new ConfigurationError(
    [
      'DATABASE_URL leads to a restored backup or a copy of the database. The service starts there only after the command ' +
        '`restore --confirm` or `restore --moved` (docs/postgresql.md)',
    ],
    [],
  );

/** Returns whether a process of the service runs, by its LISTEN connection: a pooler keeps the others open after the process has ended. */
export async function isServiceRunning(sql: Sql): Promise<boolean> {
  const text = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pv-onboarding listen'`;
  return (await sql.query(text)).length > 0;
}
