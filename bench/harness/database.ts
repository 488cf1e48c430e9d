import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../src/platform/database/migrate.js';
import { startEmbeddedPostgres } from '../../src/platform/local/embedded-postgres.js';
import { seedSessions } from './seed.js';
import { serverCpuMicroseconds } from './server-cpu.js';

/** PostgreSQL as it comes, so what is committed is on the disk; with the counting of statements, and room for the WAL of a long run. */
const SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  max_connections: '300',
  max_wal_size: '8GB',
};

/**
 * For comparing: the memory that whoever keeps a million sessions gives it (in the 128 MB that it takes by itself, they drive each other's
 * pages out), and no checkpoint that falls into the rounds of one contender and not of the other.
 */
const EVEN = { ...SETTINGS, shared_buffers: '1GB', checkpoint_timeout: '1h' };

/** A PostgreSQL of the benchmark's own, gone when it ends. */
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

  /** Written since the server was made, of all its databases. */
  async walBytes(): Promise<number> {
    const { rows } = await this.client.query<{ bytes: string }>(
      `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes`,
    );
    return Number(rows[0]!.bytes);
  }

  cpuMicroseconds(): Promise<number | null> {
    return serverCpuMicroseconds(this.postmaster);
  }

  /** A database with the real schema and so many sessions, each waiting for its owner since `startedAtMs`. */
  async createDatabase(name: string, sessions: number, startedAtMs: number): Promise<BenchDatabase> {
    await this.client.query(`CREATE DATABASE ${name}`);
    const url = new URL(this.url);
    url.pathname = name;
    await migrate(url.href);
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

  /**
   * Runs a statement that makes work, and answers what commits it: so the work is there at once, and whoever starts a clock does it
   * then. Vacuum of `tables` comes before, so that a round does not pay for the one before it.
   */
  async prepareWork(tables: string, text: string, values: unknown[] = []): Promise<() => Promise<void>> {
    await this.query(`VACUUM ${tables}`);
    await this.query('BEGIN');
    await this.query(text, values);
    return async () => {
      await this.query('COMMIT');
    };
  }

  /**
   * Makes sessions due, all or so many of them, others each time, in an order that is not the one they lie in. Of some, those come
   * first that have been read before: a first answer is a change.
   */
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

  /** What the reads brought is written, too, when no claim is open any more. */
  async untilNoneIsClaimed(): Promise<void> {
    while ((await this.query('SELECT 1 FROM poll_batches LIMIT 1')).length > 0) await sleep(5);
  }

  async resetStatements(): Promise<void> {
    await this.query(
      'SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = current_database()))',
    );
  }

  /** Where the time of the statements went since the reset, the most expensive first. */
  async statements(): Promise<StatementCost[]> {
    return this.query<StatementCost>(
      `SELECT regexp_replace(left(query, 200), '\\s+', ' ', 'g') AS text, calls::int, rows::int,
              round(total_exec_time::numeric, 1)::float8 AS "totalMs", wal_bytes::float8 AS "walBytes"
         FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        ORDER BY total_exec_time DESC LIMIT 12`,
    );
  }

  /** Statements since the reset, and commits since ever; the benchmark's own questions are among both. */
  async counts(): Promise<{ readonly statements: number; readonly commits: number }> {
    await this.query('SELECT pg_stat_force_next_flush()');
    const [row] = await this.query<{ statements: number; commits: number }>(
      `SELECT (SELECT sum(calls)::int FROM pg_stat_statements s WHERE s.dbid = d.oid) AS statements,
              pg_stat_get_db_xact_commit(d.oid)::int AS commits
         FROM pg_database d WHERE datname = current_database()`,
    );
    return row!;
  }

  /** Rows updated since the database was made, and how many of them without a new entry in any index (HOT). */
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
