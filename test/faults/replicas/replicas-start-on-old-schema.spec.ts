import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import pg from 'pg';
import { Database, type Sql, type Statement } from '../../../src/platform/database/database.js';
import { STRETCH } from '../../../src/onboarding/poll/price.sql.js';
import { migrate } from '../../../src/platform/database/migrations/migrate.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';
import { startServiceProcess } from '../../setup/service-process.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import type { TestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { faultsOfMigrating, migrateTo, migrateWithoutLock } from '../support/migrations.js';
import { caught, itAtLength, promise } from '../support/promise.js';
import { seedSessions } from '../support/seeded-sessions.js';

jest.setTimeout(120_000);

const REPLICAS = 3;
const SESSIONS = 40;
/** Number of migrations in the older schema. Later migrations alter a table that every read locks, and add tables that every replica queries. */
const OLD = 3;
/** Adds columns to the polling tables, as a later release may. */
const EXPANSION = `
  ALTER TABLE session_polls ADD COLUMN later integer;
  ALTER TABLE onboarding_sessions ADD COLUMN later text NOT NULL DEFAULT '';
  ALTER TABLE poll_batches ADD COLUMN later text`;

/** On a stalled machine, a connection may not open in time, whatever the schema. */
const NOT_CONNECTED = /connection timeout|trying to connect/;

let database: TestDatabase;
let sandbox: TestSandbox;
let admin: pg.Client;
beforeEach(async () => {
  database = await createTestDatabase('empty');
  await migrateTo(database.url, OLD);
  admin = await database.connect();
  sandbox = await startSandbox();
});
afterEach(async () => {
  await sandbox.stop();
  await database.drop();
});

/** Tables and a function that the older schema lacks. */
const LATER =
  /\b(sequence_events|read_price|read_habits|erasures|remote_(operations|replicas|drift)|webhook_\w+|broker_\w+)\b/;

/** Columns of session_polls that the older schema lacks, with their types. */
const LATER_COLUMNS: Readonly<Record<string, string>> = {
  facts_hash: 'bytea',
  answer_kept_at: 'timestamptz',
  ending_since: 'timestamptz',
  ending_reads: 'int',
  changes_clear_at: 'timestamptz',
  flapping_since: 'timestamptz',
  planned_at: 'timestamptz',
};
const NAMES = Object.keys(LATER_COLUMNS).join('|');
const WRITTEN = new RegExp(
  `\\b(${NAMES}) = (r\\."?\\w+"?|CASE .*? END|clock_timestamp\\(\\)|claimed_at),`,
  'g',
);
const READ = new RegExp(`\\b[pq]\\.(${NAMES})\\b`, 'g');

/** Returns the statement without the later columns, as the older release has it. */
const withoutLater = (text: string): string =>
  text
    .replace(STRETCH, '1')
    .replace(WRITTEN, '')
    .replace(READ, (_, name: string) => `NULL::${LATER_COLUMNS[name]}`);

/** Makes an application act like the older release, which uses no later table or column. Collects the errors of its statements. */
function becomeOlder(app: NestFastifyApplication, refusals: string[]): void {
  const database = app.get(Database);
  const older =
    (query: Sql['query']): Sql['query'] =>
    async <Row>(statement: string | Statement, values?: readonly unknown[]) => {
      const text = withoutLater(typeof statement === 'string' ? statement : statement.text);
      if (LATER.test(text)) return [];
      return query<Row>(typeof statement === 'string' ? text : { ...statement, text }, values);
    };
  const note = (error: Error): never => {
    if (!NOT_CONNECTED.test(error.message)) refusals.push(error.message);
    throw error;
  };
  const query = older(database.query.bind(database));
  const transaction = database.transaction.bind(database);
  database.query = <Row>(...given: Parameters<Sql['query']>) => query<Row>(...given).catch(note);
  database.transaction = (work) => transaction((tx) => work({ ...tx, query: older(tx.query) })).catch(note);
}

async function readMore(times: number): Promise<void> {
  const { reads } = await sandbox.control.ledger();
  await waitFor(
    'all sessions to be read',
    async () => {
      const now = Object.entries((await sandbox.control.ledger()).reads);
      return (
        now.length === SESSIONS && now.every(([id, { total }]) => total >= (reads[id]?.total ?? 0) + times)
      );
    },
    60_000,
  );
}

describe('R40: replicas may start together on an older schema', () => {
  it('which is migrated once while another polls, and no poll fails', async () => {
    const environment = { ...sandbox.environment, DATABASE_URL: database.url };
    const refusals: string[] = [];
    let polling: TestApp | undefined;
    let replicas: TestProcess[] = [];
    try {
      polling = await startTestApp(
        { ...environment, ROLE: 'worker', LOG_LEVEL: 'error' },
        { prepare: (app) => becomeOlder(app, refusals) },
      );
      await seedSessions(polling.app.get(Database), sandbox.control, SESSIONS);
      // A trigger records failed polls, because the next successful read resets their counters.
      await admin.query(`CREATE TABLE failed_polls (session_id uuid);
        CREATE FUNCTION note_failed_poll() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN INSERT INTO failed_polls VALUES (new.session_id); RETURN NULL; END $$;
        CREATE TRIGGER note_failed_poll AFTER UPDATE ON session_polls FOR EACH ROW
          WHEN (new.failures > 0 OR new.not_found > 0) EXECUTE FUNCTION note_failed_poll()`);
      await readMore(1);
      replicas = await Promise.all(
        Array.from({ length: REPLICAS }, () => startServiceProcess({ ...environment, LOG_LEVEL: 'info' })),
      );
      await readMore(2);
      await admin.query(EXPANSION);
      await readMore(2);

      for (const { url } of replicas)
        await waitFor('the replica is ready', async () => (await fetch(`${url}/health/ready`)).ok);
      const { rows: failed } = await admin.query('SELECT FROM failed_polls');
      const migrated = replicas.filter((replica) => replica.logs().includes('applied the migrations'));
      const troubles = replicas
        .flatMap((replica) => replica.logs().match(/polling is held up.*/g) ?? [])
        .filter((line) => !NOT_CONNECTED.test(line));
      promise('R40', {
        figure: `older schema: ${migrated.length} of ${REPLICAS} replicas migrated, ${failed.length + refusals.length} polls failed`,
        bound: '1, 0',
      });
      expect(migrated).toHaveLength(1);
      expect(refusals).toEqual([]);
      expect(failed).toEqual([]);
      expect(troubles).toEqual([]);
    } finally {
      await Promise.all(replicas.map((replica) => replica.stop('SIGKILL')));
      await polling?.close();
    }
  });

  it('each migration is applied once', async () => {
    expect(await faultsOfMigrating(database.url, REPLICAS, migrate, OLD)).toEqual([]);
  });

  itAtLength('turns red without a lock', async () => {
    expect(await faultsOfMigrating(database.url, REPLICAS, migrateWithoutLock, OLD)).not.toEqual([]);
    caught('R40', 'no lock, on an older schema');
  });
});
