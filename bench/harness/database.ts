import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../src/platform/database/migrations/migrate.js';
import { startEmbeddedPostgres } from '../../src/local/embedded-postgres.js';
import { seedSessions } from './seed.js';
import { serverCpuMicroseconds } from './server-cpu.js';

/** PostgreSQL's defaults (so commits are durable), plus statement statistics and room for the WAL of a long run. */
const SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  max_connections: '300',
  max_wal_size: '8GB',
};

/** The settings for comparisons: enough memory for a million sessions, and no checkpoint within a round. */
const EVEN = { ...SETTINGS, shared_buffers: '1GB', checkpoint_timeout: '1h' };

/** A PostgreSQL server for one benchmark, removed when the benchmark ends. */
export class BenchServer {
  private constructor(
    private readonly url: string,
    private readonly client: pg.Client,
    private readonly postmaster: number,
    readonly version: string,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(asItComes: boolean): Promise<BenchServer> {
    const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-bench-'));
    await chmod(folder, 0o755);
    const server = await startEmbeddedPostgres({
      folder,
      temporary: true,
      settings: asItComes ? SETTINGS : EVEN,
    });
    const client = await connect(server.url);
    const [row] = (
      await client.query<{ file: string; version: string }>(
        `SELECT pg_read_file('postmaster.pid') AS file, current_setting('server_version') AS version`,
      )
    ).rows;
    return new BenchServer(server.url, client, Number(row!.file.split('\n')[0]), row!.version, () =>
      server.stop(),
    );
  }

  async stop(): Promise<void> {
    await this.client.end();
    await this.end();
  }

  async walBytes(): Promise<number> {
    const { rows } = await this.client.query<{ bytes: string }>(
      `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes`,
    );
    return Number(rows[0]!.bytes);
  }

  cpuMicroseconds(): Promise<number | null> {
    return serverCpuMicroseconds(this.postmaster);
  }

  /**
   * Creates a database with `sessions` sessions, which started at `startedAtMs` and await their owner. `makeSchema` creates its tables.
   * Default: those of this release.
   */
  async createDatabase(
    name: string,
    sessions: number,
    startedAtMs: number,
    makeSchema: (url: string) => Promise<unknown> = migrate,
  ): Promise<BenchDatabase> {
    await this.client.query(`CREATE DATABASE ${name}`);
    const url = new URL(this.url);
    url.pathname = name;
    await makeSchema(url.href);
    const client = await connect(url.href);
    await client.query('CREATE EXTENSION pg_stat_statements');
    await seedSessions(client, sessions, startedAtMs);
    return new BenchDatabase(url.href, client);
  }
}

export class BenchDatabase {
  constructor(
    readonly url: string,
    private readonly client: pg.Client,
  ) {}

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(text, values)).rows;
  }

  /** Vacuums `tables`, then makes work due in an open transaction. Returns the function that commits the transaction. */
  async prepareWork(tables: string, text: string, values: unknown[] = []): Promise<() => Promise<void>> {
    await this.query(`VACUUM ${tables}`);
    await this.query('BEGIN');
    await this.query(text, values);
    return async () => {
      await this.query('COMMIT');
    };
  }

  /** Prepares to make `sessions` random sessions due (default: all). Prefers sessions already read, because a first response counts as a change. */
  prepareDue(sessions?: number): Promise<() => Promise<void>> {
    const some =
      'WHERE session_id IN (SELECT session_id FROM session_polls ORDER BY answer_hash IS NULL, random() LIMIT $1)';
    return this.prepareWork(
      'session_polls, onboarding_sessions',
      `UPDATE session_polls SET due_at = clock_timestamp() - random() * interval '1 minute' ${sessions === undefined ? '' : some}`,
      sessions === undefined ? [] : [sessions],
    );
  }

  async makeDue(sessions?: number): Promise<void> {
    const commit = await this.prepareDue(sessions);
    await commit();
  }

  /** Waits until no claim is open, and thus every result is written. */
  async untilNoneIsClaimed(): Promise<void> {
    while ((await this.query('SELECT 1 FROM poll_batches LIMIT 1')).length > 0) await sleep(5);
  }

  async resetStatements(): Promise<void> {
    await this.query(
      'SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = current_database()))',
    );
  }

  /** Returns the 12 most expensive statements since the reset. */
  async statements(): Promise<StatementCost[]> {
    return this.query<StatementCost>(
      `SELECT regexp_replace(left(query, 200), '\\s+', ' ', 'g') AS text, calls::int, rows::int,
              round(total_exec_time::numeric, 1)::float8 AS "totalMs", wal_bytes::float8 AS "walBytes"
         FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        ORDER BY total_exec_time DESC LIMIT 12`,
    );
  }

  /** Counts the statements since the reset and all commits in this database. Both counts include the benchmark's own. */
  async counts(): Promise<{ readonly statements: number; readonly commits: number }> {
    await this.query('SELECT pg_stat_force_next_flush()');
    const [row] = await this.query<{ statements: number; commits: number }>(
      `SELECT (SELECT sum(calls)::int FROM pg_stat_statements s WHERE s.dbid = d.oid) AS statements,
              pg_stat_get_db_xact_commit(d.oid)::int AS commits
         FROM pg_database d WHERE datname = current_database()`,
    );
    return row!;
  }

  /** Returns the number of all row updates in `table`, and how many were HOT (needed no new index entry). */
  async updates(table: string): Promise<{ readonly all: number; readonly hot: number }> {
    await this.query('SELECT pg_stat_force_next_flush()');
    const [row] = await this.query<{ all: number; hot: number }>(
      `SELECT n_tup_upd::int AS all, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname = $1`,
      [table],
    );
    return row!;
  }

  async stop(): Promise<void> {
    await this.client.end();
  }
}

export interface StatementCost {
  readonly text: string;
  readonly calls: number;
  readonly rows: number;
  readonly totalMs: number;
  readonly walBytes: number;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'pv-onboarding bench' });
  client.on('error', () => {});
  await client.connect();
  return client;
}
