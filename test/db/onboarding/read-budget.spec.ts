import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ReadBudgetStore } from '../../../src/onboarding/poll/read-budget.store.js';
import { AGES_PER_E } from '../../../src/onboarding/rules/read-budget.rules.js';
import type { Database } from '../../../src/platform/database/database.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

let testDatabase: TestDatabase;
let database: Database;
let budgets: ReadBudgetStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open();
  budgets = new ReadBudgetStore(database);
});
afterAll(() => testDatabase.drop());

const stretch = async () =>
  (await database.query<{ stretch: number }>('SELECT stretch FROM read_budget'))[0]!.stretch;

describe('a measure', () => {
  it('is made by one worker, and writes nothing once another has begun', async () => {
    const begun = await Promise.all([budgets.begin(60_000), budgets.begin(60_000)]);
    const [first] = begun.filter((measure) => measure !== undefined);
    expect(begun.filter((measure) => measure === undefined)).toHaveLength(1);
    const budget = {
      measureAfter: first!.now,
      stretch: 3,
      wantedPerSecond: 6,
      allowedPerSecond: 2,
      shortSince: null,
      announcedAt: null,
    };
    await budgets.finish({ ...first!, measureAfter: new Date(0) }, budget, []);
    expect(await stretch()).toBe(1);
    await budgets.finish(first!, budget, []);
    expect(await stretch()).toBe(3);
    expect(await budgets.begin(60_000)).toBeDefined();
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
    // The session that began in the future counts as a millisecond old.
    const groups = [
      { phase: 'late', age: Math.floor(AGES_PER_E * Math.log(0.001)), sessions: 1 },
      { phase: 'late', age: Math.floor(AGES_PER_E * Math.log(3_600)), sessions: 2 },
    ];
    const count = async (brands: readonly string[]) =>
      (await budgets.countByAge(brands)).toSorted((a, b) => a.age - b.age);
    expect(await count([])).toEqual(groups.map((group) => ({ brand: null, ...group })));
    expect(await count(['acme'])).toEqual(groups.map((group) => ({ brand: 'acme', ...group })));
  });
});
