import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { applyMissing } from '../src/platform/database/migrations/migrate.js';
import { readMigrations } from '../src/platform/database/migrations/script.js';
import { previousMigrations } from '../test/faults/support/previous-release.js';
import { type BenchDatabase, BenchServer } from './harness/database.js';
import { showProgress } from './harness/progress.js';
import { report } from './harness/report.js';
import { atMost } from './harness/result.js';
import { control } from './harness/rounds.js';
import { rounded } from './harness/statistics.js';
import type { BenchOptions } from './options.js';

const ROUND_MS = 1_000;
/** The pause of a writer, and thus the error of a measured wait. */
const PAUSE_MS = 2;

/** Measures how long each migration since the previous release makes the writers of a table wait. */
export async function migrationsBench(options: BenchOptions): Promise<void> {
  const sessions = options.quick ? 20_000 : 1_000_000;
  const server = await BenchServer.start(true);
  try {
    const before = previousMigrations();
    const database = await server.createDatabase('upgrade', sessions, Date.now() - 60_000, (url) =>
      applyTo(url, before),
    );
    await giveMetadata(database);
    const writers = await Promise.all(
      (await tablesOf(database)).map((table) => Writer.start(database.url, table)),
    );
    const first = await quietRates(writers, options.rounds);
    const rows: [string, number, number, string][] = [];
    const add = (name: string, elapsedMs: number) => {
      const { table, longestMs } = writers.reduce((a, b) => (a.longestMs > b.longestMs ? a : b));
      rows.push([name, rounded(elapsedMs), rounded(longestMs), table]);
    };
    add('none', options.rounds * ROUND_MS);
    for (const name of (await readMigrations()).filter((each) => !before.includes(each))) {
      showProgress(name);
      for (const writer of writers) writer.longestMs = 0;
      const startedAt = performance.now();
      await applyTo(database.url, [name]);
      const elapsedMs = performance.now() - startedAt;
      // A writer that waits returns after the commit.
      await sleep(10 * PAUSE_MS);
      add(name, elapsedMs);
    }
    showProgress('');
    const second = await quietRates(writers, options.rounds);
    for (const writer of writers) await writer.stop();
    await database.stop();
    await report({
      benchmark: 'migrations',
      title: 'Migrations under load',
      extent: `${sessions} sessions with metadata; a writer at each of ${writers.length} tables`,
      isTrial: options.isTrial,
      control: control(first, second),
      targets: [
        atMost(
          'longest wait of a writer for a migration',
          1_000,
          Math.max(...rows.slice(1).map(([, , ms]) => ms)),
          'ms',
        ),
      ],
      tables: [
        {
          title: 'Migrations since the previous release',
          columns: ['migration', 'duration ms', 'longest wait of a writer ms', 'at table'],
          rows,
        },
      ],
      packages: ['pg'],
      postgresql: server.version,
    });
  } finally {
    await server.stop();
  }
}

async function applyTo(url: string, names: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await applyMissing(client, names).finally(() => client.end());
}

/** Gives every user and session the metadata of a campaign, since the time to build an index depends on its entries. */
async function giveMetadata(database: BenchDatabase): Promise<void> {
  const metadata = `jsonb_build_object('campaign', 'autumn', 'customer', random()::text, 'branch', (random() * 100)::int::text)`;
  for (const table of ['users', 'onboarding_sessions'])
    await database.query(`UPDATE ${table} SET metadata = ${metadata}`);
  await database.query('VACUUM ANALYZE');
}

const tablesOf = async (database: BenchDatabase): Promise<string[]> => {
  const rows = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> '_prisma_migrations'`,
  );
  return rows.map(({ name }) => name);
};

/** Returns the locks per second of all writers, by round. No migration runs meanwhile. */
async function quietRates(writers: readonly Writer[], rounds: number): Promise<number[]> {
  const taken = () => writers.reduce((sum, { locks }) => sum + locks, 0);
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [before, startedAt] = [taken(), performance.now()];
    await sleep(ROUND_MS);
    rates.push(((taken() - before) * 1_000) / (performance.now() - startedAt));
  }
  return rates;
}

/** Takes the lock of a writer again and again. Works for any table, whatever its columns. */
class Writer {
  longestMs = 0;
  locks = 0;
  private stopping = false;
  private readonly done = this.run();

  private constructor(
    private readonly client: pg.Client,
    readonly table: string,
  ) {}

  static async start(url: string, table: string): Promise<Writer> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return new Writer(client, table);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.done;
    await this.client.end();
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      const startedAt = performance.now();
      await this.client.query(`BEGIN; LOCK TABLE "${this.table}" IN ROW EXCLUSIVE MODE; COMMIT`);
      this.longestMs = Math.max(this.longestMs, performance.now() - startedAt);
      this.locks++;
      await sleep(PAUSE_MS);
    }
  }
}
