import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LearnedSchedules } from '../../../src/onboarding/poll/learned-schedules.js';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { itAtLength, promise } from '../support/promise.js';

const DUE = 5_000;
const BATCH = 10;
const CLAIMERS = 4;
/** The mutant rescans all changed rows for each further row, so it gets fewer due rows than DUE. */
const DUE_FOR_MUTANT = 300;
/** Forces the planner to use nested loops that run the inner side again for every outer row. */
const FORCED_PLAN = ['hashjoin', 'mergejoin', 'material', 'memoize', 'hashagg', 'sort']
  .map((method) => `-c enable_${method}=off`)
  .join(' ');

let testDatabase: TestDatabase;
let database: Database;
let polls: PollsStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const environment = environmentFor(`${testDatabase.url}?options=${encodeURIComponent(FORCED_PLAN)}`, {
    POLL_MIN_INTERVAL_MS: '600000',
    POLL_MAX_INTERVAL_MS: '900000',
  });
  database = new Database(environment);
  polls = new PollsStore(database, environment, new LearnedSchedules());
});
afterAll(async () => {
  await database.onApplicationShutdown();
  await testDatabase.drop();
});

/** Inserts sessions with due times in table order, so that each rescan of the table would claim a further batch. */
async function makeDue(count: number): Promise<void> {
  await database.query('TRUNCATE users, poll_batches CASCADE');
  await database.query(
    `WITH customer AS (
       INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata, created_at, updated_at)
       VALUES (gen_random_uuid(), 'customer', '', '', '', '', '{}', now(), now()) RETURNING id),
     location AS (
       INSERT INTO grid_locations (id, user_id, ean)
       SELECT gen_random_uuid(), id, '871687400000000001' FROM customer RETURNING id, user_id)
     INSERT INTO onboarding_sessions (id, user_id, grid_location_id, brand, metadata, state, basis, rule, finished, active,
                                      created_at, updated_at, expires_at, started_updated_at, state_changed_at, last_checked_at)
     SELECT gen_random_uuid(), user_id, id, 'brand ' || i, '{}', 'awaiting_owner', 'observed', 'as_started', false, true,
            now(), now(), now() + interval '1 day', now(), now(), now()
       FROM location, generate_series(1, ${count}) i`,
  );
  await database.query(
    `INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
     SELECT id, user_id, now() - row_number() OVER (ORDER BY id DESC) * interval '1 second', now(), now(), 'awaiting_owner', now()
       FROM onboarding_sessions ORDER BY id`,
  );
  await database.query('ANALYZE session_polls');
}

/** Returns how many rows `claim` claims. */
async function claimedBy(claim: () => Promise<unknown>): Promise<number> {
  const count = async () =>
    (
      await database.query<{ claimed: number }>(
        'SELECT count(*)::int AS claimed FROM session_polls WHERE batch_id IS NOT NULL',
      )
    )[0]!.claimed;
  const before = await count();
  await claim();
  return (await count()) - before;
}

async function claimAll(): Promise<string[][]> {
  const claims: string[][] = [];
  for (;;) {
    const claimed = await polls.claimDue(BATCH);
    if (claimed.length === 0) return claims;
    claims.push(claimed.map(({ sessionId }) => sessionId));
  }
}

describe('R8: a claim takes no more than its batch', () => {
  it('claims exactly its limit, even if the planner may use only nested loops', async () => {
    await makeDue(DUE);
    expect(await claimedBy(() => polls.claimDue(BATCH))).toBe(BATCH);

    const claims = (await Promise.all(Array.from({ length: CLAIMERS }, claimAll))).flat();
    const largest = Math.max(...claims.map((sessions) => sessions.length));
    promise('R8', {
      figure: `${largest} at most in ${claims.length} claims of ${DUE} due`,
      bound: `${BATCH}`,
    });
    expect(largest).toBe(BATCH);
    expect(claims.flat()).toHaveLength(DUE - BATCH);
    expect(new Set(claims.flat()).size).toBe(DUE - BATCH);
  });

  itAtLength('turns red with a plain subquery that limits and locks', async () => {
    await makeDue(DUE_FOR_MUTANT);
    const claimInOneStatement = `
      UPDATE session_polls SET batch_id = 1, due_at = now() + interval '1 hour' WHERE session_id IN (
        SELECT q.session_id FROM session_polls q WHERE q.due_at <= (SELECT now())
         ORDER BY q.due_at LIMIT $1 FOR UPDATE SKIP LOCKED)`;
    expect(await claimedBy(() => database.query(claimInOneStatement, [BATCH]))).toBe(DUE_FOR_MUTANT);
  });
});
