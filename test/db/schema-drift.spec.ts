import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { CATALOGUE, differences, ONLY_IN_MIGRATIONS } from '../../scripts/check/catalogue.js';
import { sqlOfSchema } from '../../scripts/check/sql-of-schema.js';
import { createTestDatabase, type TestDatabase } from '../setup/database/test-database.js';

const SCHEMA = new URL('../../prisma/schema.prisma', import.meta.url).pathname;

describe('the drift check', () => {
  let migrated: TestDatabase;
  let declared: TestDatabase;
  let client: pg.Client;
  let declaredFacts: Set<string>;

  beforeAll(async () => {
    [migrated, declared] = await Promise.all([createTestDatabase(), createTestDatabase('empty')]);
    client = await migrated.connect();
    const pool = new pg.Pool({ connectionString: declared.url });
    await pool.query(await sqlOfSchema(pool, SCHEMA));
    declaredFacts = await factsOf(pool);
    await pool.end();
  });
  afterAll(() => Promise.all([migrated.drop(), declared.drop()]));

  async function factsOf(database: pg.Pool | pg.Client): Promise<Set<string>> {
    const { rows } = await database.query<{ fact: string }>(CATALOGUE);
    return new Set(rows.map(({ fact }) => fact));
  }

  const drift = async () => differences(await factsOf(client), declaredFacts, ONLY_IN_MIGRATIONS);

  it('finds none between the schema and the migrations', async () => {
    expect(await drift()).toEqual([]);
  });

  it.each([
    ['a column', 'ALTER TABLE users ADD COLUMN extra text'],
    [
      'a type',
      'DROP SCHEMA admin CASCADE; ALTER TABLE remote_tokens ALTER COLUMN last_error TYPE varchar(50)',
    ],
    ['a default', 'ALTER TABLE registrations ALTER COLUMN attempts SET DEFAULT 1'],
    ['nullability', 'ALTER TABLE users ALTER COLUMN tenant_name DROP NOT NULL'],
    ['an index', 'CREATE INDEX extra ON inverters (missing_since)'],
    ['a dropped index', 'DROP INDEX session_polls_due_at_idx'],
    ['a foreign key', 'ALTER TABLE inverters DROP CONSTRAINT inverters_session_id_fkey'],
  ])('finds %s that only one of them has', async (_, change) => {
    await client.query(`BEGIN; ${change}`);
    expect(await drift()).not.toEqual([]);
    await client.query('ROLLBACK');
  });
});
