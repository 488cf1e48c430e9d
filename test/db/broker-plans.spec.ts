import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { READ_PAGE } from '../../src/events/broker/broker.sql.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';

const EVENTS = 100_000;

describe('a page of the broker', () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`
      INSERT INTO domain_events (id, sequence, name, subject, data)
      SELECT gen_random_uuid(), n, 'session.online', 's' || n, '{}' FROM generate_series(1, ${EVENTS}) AS n;
      ANALYZE domain_events;
      PREPARE page (bigint, int) AS ${READ_PAGE.text}`);
  }, 60_000);
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  // The server plans anew for the first five executions, and may keep one plan for all values afterwards.
  it.each(['force_custom_plan', 'force_generic_plan'])('is a range of one index, under %s', async (mode) => {
    await client.query(`SET plan_cache_mode = ${mode}`);
    for (const place of [0, EVENTS / 2, EVENTS - 10]) {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, BUFFERS, COSTS off) EXECUTE page(${place}, 1000)`,
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toContain('Index Scan using domain_events_sequence_key');
      expect(plan).not.toMatch(/Sort|Seq Scan|Bitmap/);
    }
  });
});
