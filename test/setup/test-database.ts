import './quiet-logs.js';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { Database } from '../../src/platform/database/database.js';
import { findFaultyEvents } from './check-events.js';
import { databaseUrl } from './template-database.js';
import { environmentFor } from './test-environment.js';

export interface TestDatabase {
  readonly url: string;
  /** Rejects when one of its events is not what the catalogue says, whatever the test was about. */
  drop(): Promise<void>;
}

/** A database of its own for one test or file: a copy of the migrated template, or an empty one. */
export async function createTestDatabase(content: 'migrated' | 'empty' = 'migrated'): Promise<TestDatabase> {
  const server = process.env.PV_TEST_SERVER_URL ?? '';
  const template = content === 'migrated' ? process.env.PV_TEST_TEMPLATE : 'template0';
  const name = `pv_test_${randomBytes(6).toString('hex')}`;
  const url = databaseUrl(server, name);
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return {
    url,
    drop: async () => {
      const faulty = await readFaultyEvents(url);
      await administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      if (faulty.length > 0) throw new Error(`events that break their contract:\n${faulty.join('\n')}`);
    },
  };
}

/** What writes and reads as the service does, over connections of its own. */
export async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = new Database(environmentFor(url, { DATABASE_POOL_SIZE: '2' }));
  try {
    return await work(database);
  } finally {
    await database.onApplicationShutdown();
  }
}

/** A database that is dropped twice, or that the test has made unreachable, has none to show. */
async function readFaultyEvents(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  // Told by what follows as well.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch {
    return [];
  }
  try {
    return await findFaultyEvents(client);
  } finally {
    await client.end();
  }
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
