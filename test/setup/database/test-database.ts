import '../quiet-logs.js';
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import pg from 'pg';
import { Database } from '../../../src/platform/database/database.js';
import { databaseUrl } from './template-database.js';
import { environmentFor } from '../test-environment.js';
import { waitFor } from '../wait-for.js';
import { withClient } from './with-client.js';

export interface TestDatabase {
  readonly url: string;
  /** Opens a Database, as the service does. `drop` closes it. */
  open(): Database;
  /** Opens a connection. `drop` closes it. */
  connect(): Promise<pg.Client>;
  /** Drops the database. Rejects if one of its events breaks the catalogue's contract. */
  drop(): Promise<void>;
}

/** Empties tables beside a service that runs. Repeats, because its tasks lock tables in another order. */
export const emptyTables = (database: Database, tables: string): Promise<unknown> =>
  waitFor('the tables to be emptied', () => database.query(`TRUNCATE ${tables} CASCADE`));

type Content = 'migrated' | 'empty';

/** Creates a database for one test or file: a copy of the migrated template, or an empty database. */
export async function createTestDatabase(content?: Content): Promise<TestDatabase> {
  const { create, ...database } = planTestDatabase(content);
  await create();
  return database;
}

function planTestDatabase(content: Content = 'migrated') {
  const server = process.env.PV_TEST_SERVER_URL ?? '';
  const template = content === 'migrated' ? process.env.PV_TEST_TEMPLATE : 'template0';
  const name = `pv_test_${randomBytes(6).toString('hex')}`;
  const url = databaseUrl(server, name);
  const closes: (() => Promise<void>)[] = [];
  return {
    create: () => administer(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`),
    url,
    open: (): Database => {
      const database = new Database(environmentFor(url));
      // On a busy machine, a query may wait longer than the service would.
      database.pool.options.connectionTimeoutMillis = 60_000;
      closes.push(() => database.onApplicationShutdown());
      return database;
    },
    connect: async (): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: url });
      closes.push(() => client.end());
      await client.connect();
      return client;
    },
    drop: async (): Promise<void> => {
      for (const close of closes.splice(0).reverse()) await close();
      const faulty = await readFaultyEvents(url);
      await administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      if (faulty.length > 0) throw new Error(`events that break their contract:\n${faulty.join('\n')}`);
    },
  };
}

/** Creates a database before the tests of the block, and drops it after them. Until then, it can be opened, and not queried. */
export function useTestDatabase(content?: Content): TestDatabase {
  const { create, ...database } = planTestDatabase(content);
  beforeAll(create);
  afterAll(database.drop);
  return database;
}

/**
 * Creates another database for each test. Its properties can be read once it exists. Declare it after what uses the database, since it is
 * dropped in this order.
 */
export function useTestDatabases(content?: Content): TestDatabase {
  const created = {} as TestDatabase;
  beforeEach(async () => void Object.assign(created, await createTestDatabase(content)));
  afterEach(() => created.drop());
  return created;
}

export async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = new Database(environmentFor(url, { DATABASE_POOL_SIZE: '2' }));
  try {
    return await work(database);
  } finally {
    await database.onApplicationShutdown();
  }
}

/** Returns the faults that check-events.process.ts finds. */
async function readFaultyEvents(url: string): Promise<string[]> {
  const response = await fetch(process.env.PV_TEST_EVENTS_URL ?? '', { method: 'POST', body: url });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as string[];
}

const administer = (server: string, statement: string) =>
  withClient(server, (client) => client.query(statement));
