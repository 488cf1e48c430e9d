import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { applyMissing } from '../../src/platform/database/migrations/migrate.js';
import { isTransactional, readMigrations } from '../../src/platform/database/migrations/script.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { waitFor } from '../setup/wait-for.js';

const INDEX = 'entries_name_idx';
const TABLE = { name: '1_table', script: 'CREATE TABLE entries (name text)' };
const CONCURRENT = {
  name: '2_index',
  script: `-- not transactional: entries are written meanwhile\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "${INDEX}" ON entries (name)`,
};

describe('a migration that is not transactional', () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeEach(async () => {
    database = await createTestDatabase('empty');
    client = await database.connect();
    await applyMissing(client, [TABLE]);
  });
  afterEach(() => database.drop());

  const apply = () => applyMissing(client, [TABLE, CONCURRENT]);
  const recordsOf = async (name: string) => {
    const { rows } = await client.query<{ finished: boolean; rolledBack: boolean; logs: string | null }>(
      `SELECT finished_at IS NOT NULL AS finished, rolled_back_at IS NOT NULL AS "rolledBack", logs
       FROM _prisma_migrations WHERE migration_name = $1 ORDER BY started_at`,
      [name],
    );
    return rows;
  };
  const isValid = async () => {
    const { rows } = await client.query<{ valid: boolean }>(
      'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [INDEX],
    );
    return rows.map(({ valid }) => valid);
  };

  it('records its error, and is applied once the cause is gone', async () => {
    await client.query('ALTER TABLE entries RENAME name TO elsewhere');
    await expect(apply()).rejects.toThrow('the migration 2_index failed: error: column');
    expect(await recordsOf('2_index')).toEqual([
      { finished: false, rolledBack: true, logs: 'error: column "name" does not exist' },
    ]);
    await client.query('ALTER TABLE entries RENAME elsewhere TO name');
    expect(await apply()).toEqual(['2_index']);
    expect(await recordsOf('2_index')).toEqual([
      expect.anything(),
      { finished: true, rolledBack: false, logs: null },
    ]);
  });

  it('replaces an invalid index, which an interruption leaves behind', async () => {
    const writer = await database.connect();
    // The build waits for the end of this transaction.
    await writer.query('BEGIN; LOCK TABLE entries IN ROW EXCLUSIVE MODE');
    const victim = await database.connect();
    victim.on('error', () => {});
    const interrupted = applyMissing(victim, [TABLE, CONCURRENT]).then(String, String);
    await waitFor('the build of the index', async () => {
      const { rowCount } = await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_progress_create_index WHERE phase = 'waiting for writers before build'`,
      );
      return rowCount === 1;
    });
    expect(await interrupted).toContain('the migration 2_index failed');
    await writer.query('ROLLBACK');
    expect(await isValid()).toEqual([false]);
    expect(await apply()).toEqual(['2_index']);
    expect(await isValid()).toEqual([true]);
  });

  it('is applied again if the process ended before its record was finished', async () => {
    await apply();
    await client.query(`UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '2_index'`);
    expect(await apply()).toEqual(['2_index']);
  });

  it('says why, and no other migration ends its transaction or needs to run outside one', async () => {
    for (const migration of await readMigrations()) {
      const needsParts = /^(BEGIN|COMMIT);|\bCONCURRENTLY (IF|")/m.test(migration.script);
      expect([migration.name, isTransactional(migration)]).toEqual([migration.name, !needsParts]);
    }
  });
});
