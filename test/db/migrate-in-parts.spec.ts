import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { applyMissing, migrate } from '../../src/platform/database/migrations/migrate.js';
import { readMigration, readMigrations } from '../../src/platform/database/migrations/script.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { waitFor } from '../setup/wait-for.js';

describe('a migration that is not transactional', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let names: string[];

  beforeEach(async () => {
    database = await createTestDatabase('empty');
    client = await database.connect();
    names = await readMigrations();
  });
  afterEach(() => database.drop());

  const recordsOf = async (name: string) => {
    const { rows } = await client.query<{ finished: boolean; rolledBack: boolean; logs: string | null }>(
      `SELECT finished_at IS NOT NULL AS finished, rolled_back_at IS NOT NULL AS "rolledBack", logs
       FROM _prisma_migrations WHERE migration_name = $1 ORDER BY started_at`,
      [name],
    );
    return rows;
  };
  const APPLIED = { finished: true, rolledBack: false, logs: null };

  const CONCURRENT = '20261123000000_deliveries_by_position';
  const INDEX = 'webhook_deliveries_position_idx';
  const isValid = async () => {
    const { rows } = await client.query<{ valid: boolean }>(
      'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [INDEX],
    );
    return rows.map(({ valid }) => valid);
  };

  it('records its error, and is applied once the cause is gone', async () => {
    await applyMissing(client, names.slice(0, names.indexOf(CONCURRENT)));
    await client.query('ALTER TABLE webhook_deliveries RENAME position TO elsewhere');
    await expect(migrate(database.url)).rejects.toThrow(`the migration ${CONCURRENT} failed: error: column`);
    expect(await recordsOf(CONCURRENT)).toEqual([
      { finished: false, rolledBack: true, logs: 'error: column "position" does not exist' },
    ]);
    await client.query('ALTER TABLE webhook_deliveries RENAME elsewhere TO position');
    expect((await migrate(database.url))[0]).toBe(CONCURRENT);
    expect(await recordsOf(CONCURRENT)).toEqual([expect.anything(), APPLIED]);
  });

  it('replaces an invalid index, which an interruption leaves behind', async () => {
    await applyMissing(client, names.slice(0, names.indexOf(CONCURRENT)));
    // The build waits for the end of this transaction.
    await client.query('BEGIN; LOCK TABLE webhook_deliveries IN ROW EXCLUSIVE MODE');
    const interrupted = migrate(database.url).then(String, String);
    const other = await database.connect();
    await waitFor('the build of the index', async () => {
      const { rowCount } = await other.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_progress_create_index WHERE phase = 'waiting for writers before build'`,
      );
      return rowCount === 1;
    });
    await interrupted;
    await client.query('ROLLBACK');
    expect(await isValid()).toEqual([false]);
    expect((await migrate(database.url))[0]).toBe(CONCURRENT);
    expect(await isValid()).toEqual([true]);
  });

  it('can be applied again, whatever part of it was applied', async () => {
    for (const [index, name] of names.entries()) {
      await applyMissing(client, names.slice(0, index + 1));
      const { isTransactional } = await readMigration(name);
      if (isTransactional) continue;
      await client.query('UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1', [
        name,
      ]);
      expect(await applyMissing(client, [name])).toEqual([name]);
    }
  });

  it('says why, and no other migration ends its transaction or needs to run outside one', async () => {
    for (const name of names) {
      const { script, isTransactional } = await readMigration(name);
      const needsParts = /^(BEGIN|COMMIT);|\bCONCURRENTLY (IF|")/m.test(script);
      expect([name, isTransactional]).toEqual([name, !needsParts]);
    }
  });
});
