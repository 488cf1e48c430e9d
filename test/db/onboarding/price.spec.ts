import { beforeAll, describe, expect, it } from '@jest/globals';
import { PriceStore } from '../../../src/onboarding/poll/price.store.js';
import { AGES_PER_E } from '../../../src/onboarding/rules/price.rules.js';
import type { Database } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/test-database.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

const testDatabase = useTestDatabase();
let database: Database;
let prices: PriceStore;

beforeAll(() => {
  database = testDatabase.open();
  prices = new PriceStore(database);
});

describe('readBacklog', () => {
  it.each([
    ['an open breaker', 'read_session', 'status 500', null, false],
    ['a breaker of the token', 'token', 'no response within 10 s', null, true],
    ['a breaker, long after a requested wait', 'read_session', 'status 500', -360, false],
    ['a breaker of starts', 'start_session', 'status 500', null, true],
    ['requested waits', 'read_session', 'status 503, asked to wait for 60 s', 30, true],
    ['a requested wait that is over', 'read_session', 'asked to wait for 60 s', -30, true],
    ['a limit without a requested wait', 'read_session', 'status 429', null, true],
  ])('returns whether reads are accepted: %s', async (_what, operation, reason, quietSeconds, isHealthy) => {
    await database.query(
      `UPDATE remote_operations SET health = 'degraded', reason = $2, quiet_until = clock_timestamp() + $3 * interval '1 second'
        WHERE operation = $1`,
      [operation, reason, quietSeconds],
    );
    expect(await prices.readBacklog(0)).toEqual({ isBehind: false, isHealthy });
    await database.query(
      `UPDATE remote_operations SET health = 'healthy', reason = NULL, quiet_until = NULL`,
    );
  });
});

describe('a step', () => {
  it('begins once per period, and at once if the clock was set back', async () => {
    await database.query(
      `UPDATE read_price SET step_at = clock_timestamp() - interval '20 seconds', reads = 40`,
    );
    const step = await prices.beginStep(15_000);
    expect(step).toMatchObject({ reads: 40, seconds: expect.closeTo(20, -1) });
    expect(await prices.beginStep(15_000)).toBeUndefined();
    await database.query(`UPDATE read_price SET step_at = clock_timestamp() + interval '1 hour'`);
    expect(await prices.beginStep(15_000)).toMatchObject({ seconds: expect.closeTo(3_600, -1) });
    expect(await prices.beginStep(15_000)).toBeUndefined();
  });
});

describe('the count by age', () => {
  it('has a group for each phase and age, also for sessions that begin later than now', async () => {
    const client = await testDatabase.connect();
    const hourAgo = new Date(Date.now() - 3_600_000);
    for (const anchor_at of ['tomorrow', hourAgo, hourAgo]) {
      const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(client);
      const session = { user_id, grid_location_id, brand: 'acme' };
      const { id: session_id } = await insertRow(client, 'onboarding_sessions', session);
      await insertRow(client, 'session_polls', { session_id, user_id, phase: 'late', anchor_at });
    }
    // A millisecond is the least age.
    const groups = [
      { phase: 'late', age: Math.floor(AGES_PER_E * Math.log(0.001)), sessions: 1 },
      { phase: 'late', age: Math.floor(AGES_PER_E * Math.log(3_600)), sessions: 2 },
    ];
    const count = async (brands: readonly string[]) =>
      (await prices.countByAge(brands)).toSorted((a, b) => a.age - b.age);
    expect(await count([])).toEqual(groups.map((group) => ({ brand: null, ...group })));
    expect(await count(['acme'])).toEqual(groups.map((group) => ({ brand: 'acme', ...group })));
  });
});
