import { mkdtemp, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../src/platform/database/migrations/migrate.js';
import { startEmbeddedPostgres } from '../../src/local/embedded-postgres.js';
import { CATALOGUE, differences, ONLY_IN_MIGRATIONS } from './catalogue.js';
import { sqlOfSchema } from './sql-of-schema.js';

// Checks that prisma/schema.prisma and prisma/migrations describe the same database: creates a database from each and compares the
// catalogues of both databases.

const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-drift-'));
await chmod(folder, 0o755);
const server = await startEmbeddedPostgres({ folder, temporary: true, settings: { fsync: 'off' } });

async function catalogueOf(
  name: string,
  fill: (url: string, pool: pg.Pool) => Promise<unknown>,
): Promise<Set<string>> {
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
  const pool = new pg.Pool({ connectionString: url });
  try {
    await fill(url, pool);
    const { rows } = await pool.query<{ fact: string }>(CATALOGUE);
    return new Set(rows.map(({ fact }) => fact));
  } finally {
    await pool.end();
  }
}

try {
  const migrated = await catalogueOf('migrated', (url) => migrate(url));
  const declared = await catalogueOf('declared', async (_, pool) =>
    pool.query(await sqlOfSchema(pool, 'prisma/schema.prisma')),
  );
  const found = differences(migrated, declared, ONLY_IN_MIGRATIONS);
  for (const line of found) console.error(line);
  if (found.length > 0) process.exitCode = 1;
} finally {
  await server.stop();
}
