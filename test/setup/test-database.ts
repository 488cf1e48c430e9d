import './quiet-logs.js';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { databaseUrl } from './template-database.js';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** A database of its own for one test or file: a copy of the migrated template, or an empty one. */
export async function createTestDatabase(content: 'migrated' | 'empty' = 'migrated'): Promise<TestDatabase> {
  const server = process.env.PV_TEST_SERVER_URL ?? '';
  const template = content === 'migrated' ? process.env.PV_TEST_TEMPLATE : 'template0';
  const name = `pv_test_${randomBytes(6).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return {
    url: databaseUrl(server, name),
    drop: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
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
