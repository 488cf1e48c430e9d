import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrate } from '../../src/platform/database/migrate.js';

const MIGRATIONS = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
/** Any number; it belongs to "somebody prepares a template on this server". */
const TEMPLATE_LOCK = 7_310_001;

/**
 * A migrated database that nobody connects to, named after what the migrations say: on a server that is shared between runs
 * (`TEST_DATABASE_URL`) the first one makes it.
 */
export async function prepareTemplate(serverUrl: string): Promise<string> {
  const name = `pv_template_${await digestOfMigrations()}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    // Of the session, not of a transaction: CREATE DATABASE runs in none. It ends with this connection.
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) {
      const draft = `${name}_draft`;
      await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${draft} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'`);
      await migrate(databaseUrl(serverUrl, draft));
      await client.query(`ALTER DATABASE ${draft} WITH ALLOW_CONNECTIONS false`);
      await client.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
    }
  } finally {
    await client.end();
  }
  return name;
}

export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function digestOfMigrations(): Promise<string> {
  const hash = createHash('sha256');
  const names = (await readdir(MIGRATIONS)).sort().filter((name) => !name.endsWith('.toml'));
  for (const name of names) hash.update(name).update(await readFile(join(MIGRATIONS, name, 'migration.sql')));
  return hash.digest('hex').slice(0, 16);
}
