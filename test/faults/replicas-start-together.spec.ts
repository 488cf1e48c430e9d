import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { migrate, MIGRATIONS_FOLDER } from '../../src/platform/database/migrate.js';
import { applyMigrations, readMigrations } from '../../src/platform/database/schema-engine.js';
import { startSandbox } from '../setup/sandbox.js';
import { startServiceProcess } from '../setup/service-process.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { caught, promise } from './support/promise.js';

const REPLICAS = 3;

describe('R40: replicas may start together', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase('empty');
  });
  afterEach(() => database.drop());

  it('three processes on an empty database migrate it once, and all of them serve', async () => {
    const sandbox = await startSandbox();
    const environment = { ...sandbox.environment, DATABASE_URL: database.url, LOG_LEVEL: 'info' };
    const starts = Array.from({ length: REPLICAS }, () => startServiceProcess(environment));
    try {
      const replicas = await Promise.all(starts);
      const answers = await Promise.all(replicas.map(({ url }) => fetch(`${url}/health/ready`)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      const migrated = replicas.filter((replica) => replica.logs().includes('applied the migrations'));
      promise('R40', {
        figure: `${migrated.length} of ${REPLICAS} replicas migrated, all serve`,
        bound: '1',
      });
      expect(migrated).toHaveLength(1);
    } finally {
      const started = await Promise.allSettled(starts);
      await Promise.all(
        started.map(async (start) => start.status === 'fulfilled' && start.value.stop('SIGKILL')),
      );
      await sandbox.stop();
    }
  }, 60_000);

  it('applies each migration once', async () => {
    expect(await faultsOf(migrate)).toEqual([]);
  });

  it('goes red without a lock', async () => {
    expect(await faultsOf(migrateWithoutLock)).not.toEqual([]);
    caught('R40', 'no lock');
  });

  /** What went wrong when several migrated at once. */
  async function faultsOf(migrateAs: (url: string) => Promise<string[]>): Promise<string[]> {
    const runs = await Promise.allSettled(Array.from({ length: REPLICAS }, () => migrateAs(database.url)));
    const applied = runs.flatMap((run) => (run.status === 'fulfilled' ? run.value : []));
    const { migrationDirectories } = await readMigrations(MIGRATIONS_FOLDER);
    return [
      ...runs.filter((run) => run.status === 'rejected').map((run) => `failed: ${String(run.reason)}`),
      ...migrationDirectories
        .map(({ path }) => ({ path, times: applied.filter((name) => name === path).length }))
        .filter(({ times }) => times !== 1)
        .map(({ path, times }) => `${path} was applied ${times} times`),
    ];
  }
});

/** Neither our lock nor the engine's own. */
async function migrateWithoutLock(url: string): Promise<string[]> {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const query = pool.query.bind(pool);
  const unlocked = (statement: { text: string }) =>
    query(
      statement.text?.includes('pg_advisory_lock')
        ? { ...statement, text: 'SELECT 1', values: [] }
        : statement,
    );
  Object.assign(pool, { query: unlocked });
  try {
    const applied = await applyMigrations(pool, await readMigrations(MIGRATIONS_FOLDER));
    await runMigrations({ pgPool: pool });
    return applied;
  } finally {
    await pool.end();
  }
}
