import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../src/platform/database/migrations/migrate.js';
import { Environment } from '../../src/platform/env/environment.js';
import { startEmbeddedPostgres } from '../../src/local/embedded-postgres.js';
import { seedSessions } from './seed.js';
import { serverCpuMicroseconds } from './server-cpu.js';

/** PostgreSQL's defaults (so commits are durable), with enough memory for a million sessions, and no checkpoint within a round. */
const SETTINGS = {
  max_connections: '300',
  max_wal_size: '8GB',
  shared_buffers: '1GB',
  checkpoint_timeout: '1h',
};

/** A PostgreSQL server for one benchmark, removed when the benchmark ends. */
export class BenchServer {
  private constructor(
    private readonly url: string,
    private readonly client: pg.Client,
    private readonly postmaster: number,
    readonly version: string,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(): Promise<BenchServer> {
    const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-bench-'));
    await chmod(folder, 0o755);
    const server = await startEmbeddedPostgres({ folder, temporary: true, settings: SETTINGS });
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

  /** Returns how often the WAL was made durable. Each backend reports it at most once a second. */
  async commits(): Promise<number> {
    const { rows } = await this.client.query<{ count: string }>(
      `SELECT coalesce(sum(fsyncs), 0) AS count FROM pg_stat_io WHERE object = 'wal' AND backend_type = 'client backend'`,
    );
    return Number(rows[0]!.count);
  }

  cpuMicroseconds(): Promise<number | null> {
    return serverCpuMicroseconds(this.postmaster);
  }

  /** Creates a database with `sessions` sessions, which started at `startedAtMs` and await their owner. */
  async createDatabase(name: string, sessions: number, startedAtMs: number): Promise<BenchDatabase> {
    await this.client.query(`CREATE DATABASE ${name}`);
    const url = new URL(this.url);
    url.pathname = name;
    await migrate(url.href);
    const client = await connect(url.href);
    await seedSessions(client, sessions, startedAtMs);
    return new BenchDatabase(url.href, client);
  }
}

export class BenchDatabase {
  constructor(
    readonly url: string,
    private readonly client: pg.Client,
  ) {}

  /** The environment of a `Database` that connects to this one. */
  get environment(): Environment {
    return Object.assign(new Environment(), {
      DATABASE_URL: this.url,
      DATABASE_DIRECT_URL: this.url,
      DATABASE_PREPARED_STATEMENTS: true,
    });
  }

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
      "AND session_id IN (SELECT session_id FROM session_polls WHERE phase <> 'watching' ORDER BY answer_hash IS NULL, random() LIMIT $1)";
    return this.prepareWork(
      'session_polls, onboarding_sessions',
      `UPDATE session_polls SET due_at = clock_timestamp() - random() * interval '1 minute' WHERE phase <> 'watching' ${sessions === undefined ? '' : some}`,
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

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'pv-onboarding bench' });
  client.on('error', () => {});
  await client.connect();
  return client;
}
