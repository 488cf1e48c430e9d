import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SESSION_STALL_CAUSES } from '../../../src/events/event-schemas.rules.js';
import { StallsStore } from '../../../src/onboarding/stalled/stalls.store.js';
import { SessionViewsStore } from '../../../src/onboarding/store/session-views.store.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import type { Database, Statement } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { insertCustomer } from '../valid-rows.js';

const SESSIONS = 20_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

const testDatabase = useTestDatabase();
let database: Database;

beforeAll(async () => {
  database = testDatabase.open();
  const { userId, gridLocationId } = await insertCustomer(database.pool);
  // One session in twenty is open, and one in 200 is stalled. Half of the closed sessions never left awaiting_owner.
  await database.query(
    `INSERT INTO onboarding_sessions (id, user_id, grid_location_id, brand, metadata, state, basis, rule, finished, active, created_at,
       updated_at, expires_at, started_updated_at, state_changed_at, last_checked_at, changed_at, closed_at, close_reason)
     SELECT gen_random_uuid(), $1, $2, n, '{}', CASE WHEN n % 20 = 0 OR n % 2 = 1 THEN 'awaiting_owner' ELSE 'online' END, 'observed', 'test',
       false, true, now(), now(), now() + interval '1 day', now(), now(), now(), now() - n * interval '1 s',
       CASE WHEN n % 20 > 0 THEN now() END, CASE WHEN n % 20 > 0 THEN 'settled' END
     FROM generate_series(1, ${SESSIONS}) AS n`,
    [userId, gridLocationId],
  );
  await database.query(
    `INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
     SELECT id, user_id, now(), now(), now(), 'awaiting_owner', now() FROM onboarding_sessions WHERE closed_at IS NULL`,
  );
  await database.query(
    `INSERT INTO session_stalls (session_id, cause, since, evidence)
     SELECT id, ('{${SESSION_STALL_CAUSES.join()}}'::text[])[1 + brand::int / 200 % 5], now(), '{}' FROM onboarding_sessions WHERE brand::int % 200 = 0`,
  );
  await database.query('ANALYZE onboarding_sessions, session_polls, session_stalls');
});

async function planOf(read: () => Promise<unknown>): Promise<string> {
  const query = jest.spyOn(database, 'query');
  await read();
  const [statement, values] = query.mock.calls[0] as [string | Statement, unknown[]];
  query.mockRestore();
  const text = typeof statement === 'string' ? statement : statement.text;
  const rows = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE) ${text}`, values);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

describe('the search for stalled sessions', () => {
  it('looks at each session that somebody waits for once, on pages by id', async () => {
    const store = new StallsStore(database);
    const found: string[] = [];
    for (let after = FIRST_ID; ;) {
      const page = await store.findAwaited(after, 300);
      found.push(...page.map(({ id }) => id));
      if (page.length < 300) break;
      after = page.at(-1)!.id;
    }
    expect(new Set(found).size).toBe(SESSIONS / 20);
    expect(found).toHaveLength(SESSIONS / 20);
  });

  it('reads a page by the index of these sessions alone', async () => {
    const plan = await planOf(() => new StallsStore(database).findAwaited(FIRST_ID, 500));
    expect(plan).toContain('onboarding_sessions_awaited_idx');
    expect(plan).not.toMatch(/Seq Scan on (onboarding_sessions|session_polls)/);
  });

  it('is done by one worker at a time', async () => {
    const store = new StallsStore(database);
    const claims = await Promise.all(Array.from({ length: 5 }, () => store.claimSearch(60_000)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });
});

describe('the list of stalled sessions', () => {
  it.each(['any', 'expiring_soon'] as const)(
    'reads no session that is not stalled, for %s',
    async (stalled) => {
      const store = new SessionViewsStore(database, new Cipher(environmentFor(testDatabase.url)));
      const plan = await planOf(() => store.listSessions({ limit: 50, stalled }));
      expect(plan).not.toMatch(/Seq Scan on onboarding_sessions/);
    },
  );
});
