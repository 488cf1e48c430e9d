import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../src/platform/database/migrate.js';
import { startEmbeddedPostgres } from '../../src/platform/local/embedded-postgres.js';
import { gridLocationId, instant, sessionId, userId } from './sessions.js';
import { serverCpuMicroseconds } from './server-cpu.js';

/** PostgreSQL as it comes: what is committed is on the disk. Only the counting of statements is added. */
const SETTINGS = { shared_preload_libraries: 'pg_stat_statements', max_connections: '200' };

/** A PostgreSQL of the benchmark's own, gone when it ends. */
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
    await seed(client, sessions, startedAtMs);
    return new BenchDatabase(url.href, client);
  }
}

export class BenchDatabase {
  constructor(
    readonly url: string,
    private readonly client: pg.Client,
  ) {}

  /**
   * Makes every session due, in an order that is not the one they lie in. All at once, when it commits: the clock of a round
   * starts there. Vacuum comes before, so that a round does not pay for the one before it.
   */
  async makeAllDue(): Promise<void> {
    await this.client.query('VACUUM session_polls, onboarding_sessions');
    await this.client.query(
      `UPDATE session_polls SET due_at = clock_timestamp() - random() * interval '1 minute'`,
    );
  }

  /** What the reads brought is written, too, when no claim is open any more. */
  async untilNoneIsClaimed(): Promise<void> {
    for (;;) {
      const { rowCount } = await this.client.query('SELECT 1 FROM poll_batches LIMIT 1');
      if (rowCount === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async resetStatements(): Promise<void> {
    await this.client.query('SELECT pg_stat_statements_reset()');
  }

  /** Where the time of the statements went since the reset, the most expensive first. */
  async statements(): Promise<StatementCost[]> {
    const { rows } = await this.client.query<StatementCost>(
      `SELECT regexp_replace(left(query, 200), '\\s+', ' ', 'g') AS text, calls::int, rows::int,
              total_exec_time AS "totalMs", wal_bytes::float8 AS "walBytes"
         FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        ORDER BY total_exec_time DESC LIMIT 12`,
    );
    return rows;
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

async function seed(client: pg.Client, sessions: number, startedAtMs: number): Promise<void> {
  const all = Array.from({ length: sessions }, (_, index) => index);
  const ids = [all.map(userId), all.map(gridLocationId), all.map(sessionId)];
  const started = instant(startedAtMs);
  await client.query(
    `INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata, created_at, updated_at)
     SELECT id, 'customer ' || nth, 'tenant', '', '', '', '{}', $2, $2 FROM unnest($1::uuid[]) WITH ORDINALITY AS u(id, nth)`,
    [ids[0], started],
  );
  await client.query(
    `INSERT INTO grid_locations (id, user_id, ean)
     SELECT id, user_id, lpad((541000000000000000 + nth)::text, 18, '0')
       FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS g(id, user_id, nth)`,
    [ids[1], ids[0]],
  );
  await client.query(
    `INSERT INTO onboarding_sessions (id, user_id, grid_location_id, metadata, state, basis, rule, finished, active, expired,
       created_at, updated_at, started_updated_at, expires_at, state_changed_at, last_checked_at)
     SELECT id, user_id, location, '{}', 'awaiting_owner', 'observed', 'as_started', false, true, false,
            $4, $4, $4, $4::timestamptz + interval '1 day', $4, $4
       FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS s(id, user_id, location)`,
    [ids[2], ids[0], ids[1], started],
  );
  await client.query(
    `INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
     SELECT id, user_id, clock_timestamp() + interval '1 day', $3, $3, 'awaiting_owner', $3
       FROM unnest($1::uuid[], $2::uuid[]) AS p(id, user_id)`,
    [ids[2], ids[0], started],
  );
  await client.query('VACUUM ANALYZE');
}
