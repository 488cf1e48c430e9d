import { migrate } from '../../../src/platform/database/migrations/migrate.js';
import { digestOf, readMigrations, readViews } from '../../../src/platform/database/migrations/script.js';
import { withClient } from './with-client.js';

/** The key of the advisory lock on the template: an arbitrary number. */
const TEMPLATE_LOCK = 7_310_001;

/** Creates a migrated database, named by a digest of the migrations, unless it exists. Returns its name. */
export async function prepareTemplate(serverUrl: string): Promise<string> {
  const name = `pv_template_${await digestOfMigrations()}`;
  await withClient(serverUrl, async (client) => {
    // A session-level lock, because CREATE DATABASE cannot run in a transaction. Closing the connection releases the lock.
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
  });
  return name;
}

export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

const digestOfMigrations = async (): Promise<string> =>
  digestOf(JSON.stringify([await readMigrations(), await readViews()])).slice(0, 16);
