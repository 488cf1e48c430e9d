import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { migrateCommand } from '../../src/cli/migrate.command.js';
import { applyMissing, migrate } from '../../src/platform/database/migrations/migrate.js';
import { planMigrations } from '../../src/platform/database/migrations/plan.store.js';
import { readMigration, readMigrations } from '../../src/platform/database/migrations/script.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { environmentFor } from '../setup/test-environment.js';

/** The tables and views that existed before the transaction and that it has locked against reads or writes. */
const LOCKED = `
  SELECT DISTINCT relation::regclass::text AS name FROM pg_locks JOIN existing ON existing.oid = relation
  WHERE pid = pg_backend_pid() AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'AccessExclusiveLock') ORDER BY name`;

describe('migrate --plan', () => {
  let created: TestDatabase;
  let client: pg.Client;
  let names: string[];

  beforeEach(async () => {
    created = await createTestDatabase('empty');
    client = await created.connect();
    names = await readMigrations();
  });
  afterEach(() => created.drop());

  const apply = (count: number): Promise<string[]> => applyMissing(client, names.slice(0, count));

  async function printPlan(): Promise<string[]> {
    const log = jest.spyOn(console, 'log').mockImplementation(() => {});
    try {
      await migrateCommand(() => environmentFor(created.url)).parseAsync(['--plan'], { from: 'user' });
      return log.mock.calls.map(([line]) => String(line));
    } finally {
      log.mockRestore();
    }
  }

  it('lists every migration of an empty database, and changes nothing', async () => {
    expect(await printPlan()).toEqual(names);
    const { rows } = await client.query(`SELECT to_regclass('_prisma_migrations') AS records`);
    expect(rows).toEqual([{ records: null }]);
  });

  it('names the table of each lock, with its size', async () => {
    const defaults = '20261122010200_user_times';
    await apply(names.indexOf(defaults));
    const lines = await printPlan();
    expect(lines).toContain(defaults);
    expect(lines[lines.indexOf(defaults) + 1]).toMatch(
      /^ {2}ACCESS EXCLUSIVE on "users" \(about 0 rows, 0\.\d MB\): ALTER TABLE "users"$/,
    );
  });

  it('prints that nothing is missing', async () => {
    await apply(names.length);
    expect(await printPlan()).toEqual(['nothing to apply']);
  });

  it('lists a migration that was interrupted', async () => {
    await apply(names.length);
    await client.query('UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1', [
      names.at(-1),
    ]);
    expect((await printPlan())[0]).toBe(names.at(-1));
  });

  it('fails with the refusal of migrate, and nothing else', async () => {
    await apply(2);
    await client.query('DROP TABLE _prisma_migrations');
    const refusal = await migrate(created.url).then(String, String);
    expect(refusal).toMatch('another program');
    expect(await printPlan().then(String, String)).toBe(refusal);
  });

  it('names exactly the tables and views that each migration locks', async () => {
    for (const [index, name] of names.entries()) {
      const { script } = await readMigration(name);
      const planned = (await planMigrations(created.url)).find((each) => each.name === name);
      const relations = planned!.locks.map(({ relation }) => relation.replaceAll('"', ''));
      if (/INDEX CONCURRENTLY IF NOT EXISTS "/.test(script)) expect([name, relations]).toEqual([name, []]);
      else {
        await client.query(
          `CREATE TEMP TABLE existing AS SELECT oid FROM pg_class WHERE relkind IN ('r', 'v')`,
        );
        // Its own transactions would release their locks.
        await client.query(`BEGIN; ${script.replace(/^(BEGIN|COMMIT);$/gm, '')}`);
        const { rows } = await client.query<{ name: string }>(LOCKED);
        await client.query('ROLLBACK; DROP TABLE existing');
        expect([name, [...new Set(relations)].sort()]).toEqual([name, rows.map((row) => row.name)]);
      }
      await apply(index + 1);
    }
  });
});
