import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { READ_PAGE } from '../../../src/events/feed/events.store.js';
import { lastSequence } from '../../../src/events/sequence.sql.js';
import { useTestDatabase } from '../../setup/database/test-database.js';

const EVENTS = 100_000;

const database = useTestDatabase();
let client: pg.Client;

beforeAll(async () => {
  client = await database.connect();
  await client.query(`
    INSERT INTO domain_events (id, sequence, name, subject, data)
    SELECT gen_random_uuid(), n, 'session.online', 's' || n, '{}' FROM generate_series(1, ${EVENTS}) AS n;
    ANALYZE domain_events;
    PREPARE page (bigint, text[], int, text) AS ${READ_PAGE.text};
    PREPARE last_sequences (int) AS SELECT ${lastSequence("'s' || n")} AS sequence FROM generate_series(1, $1) AS n`);
});

async function planOf(execution: string): Promise<string> {
  const explain = `EXPLAIN (ANALYZE, BUFFERS, COSTS off) EXECUTE ${execution}`;
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(explain);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

// PostgreSQL makes custom plans for the first five executions and may then reuse one generic plan.
const MODES = ['force_custom_plan', 'force_generic_plan'];

describe('a page of the feed, which the broker reads too', () => {
  it.each(MODES)('is read as a range of one index, under %s', async (mode) => {
    await client.query(`SET plan_cache_mode = ${mode}`);
    for (const position of [0, EVENTS / 2, EVENTS - 10]) {
      const plan = await planOf(`page(${position}, NULL, 1000, NULL)`);
      expect(plan).toContain('Index Scan using domain_events_sequence_key');
      expect(plan).not.toMatch(/Sort|Seq Scan|Bitmap/);
    }
  });
});

describe('the last sequence of each subject of a page', () => {
  it.each(MODES)('is read as one entry of the index by subject, under %s', async (mode) => {
    await client.query(`SET plan_cache_mode = ${mode}`);
    const plan = await planOf('last_sequences(200)');
    expect(plan).toMatch(
      /Index Scan Backward using domain_events_subject_position_idx .*rows=1(\.00)? loops=200/,
    );
    expect(plan).not.toMatch(/Sort|Seq Scan|Bitmap/);
  });
});
