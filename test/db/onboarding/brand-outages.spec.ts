import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FAILING_BRANDS, updateBrandOutages } from '../../../src/onboarding/poll/brand-outages.store.js';
import type { Database } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

const MINUTE = 60_000;
const ago = (ms: number) => new Date(Date.now() - ms);

const testDatabase = useTestDatabase();
let database: Database;

beforeAll(() => {
  database = testDatabase.open();
});
beforeEach(async () => {
  await database.query('TRUNCATE users, brand_outages CASCADE');
});

const FAILING = { failures: 3, failing_since: ago(5 * MINUTE), checked_at: ago(6 * MINUTE) };
const READ = { checked_at: ago(MINUTE) };

/** Inserts watched sessions of a brand, which were started an hour ago. */
async function insertPolls(brand: string | null, count: number, poll: object, startedMs = 60 * MINUTE) {
  for (let n = 0; n < count; n++) {
    const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(database.pool);
    const recorded_at = ago(startedMs);
    const session = { user_id, grid_location_id, brand, recorded_at };
    const { id } = await insertRow<{ id: string }>(database.pool, 'onboarding_sessions', session);
    const values = { session_id: id, user_id, claimed_at: recorded_at, checked_at: recorded_at, ...poll };
    await insertRow(database.pool, 'session_polls', values);
  }
}

async function failing(): Promise<string[]> {
  await updateBrandOutages(database);
  return (await database.query<{ brands: string[] }>(`SELECT ${FAILING_BRANDS} AS brands`))[0]!.brands;
}

describe('an outage of a brand', () => {
  it('is there while 5 of its sessions fail, and at least half of those that tell, and others are read', async () => {
    await insertPolls('acme', 4, FAILING);
    await insertPolls('acme', 5, READ);
    await insertPolls('sunward', 1, READ);
    expect(await failing()).toEqual([]);
    await insertPolls('acme', 1, FAILING);
    expect(await failing()).toEqual(['acme']);
    const outages = 'SELECT brand, failing, read, since FROM brand_outages';
    const found = { brand: 'acme', failing: 5, read: 5, since: FAILING.failing_since };
    expect(await database.query(outages)).toEqual([found]);
    await insertPolls('acme', 1, { ...FAILING, failing_since: ago(9 * MINUTE) });
    expect(await failing()).toEqual(['acme']);
    // It began when it was found.
    expect(await database.query(outages)).toEqual([{ ...found, failing: 6 }]);
    await insertPolls('acme', 2, READ);
    expect(await failing()).toEqual([]);
  });

  it.each<[string, object, number]>([
    ['have failed twice', { ...FAILING, failures: 2 }, 0],
    ['are not found', { ...FAILING, not_found: 1, not_found_since: ago(MINUTE) }, 0],
    ['have failed for over a day', { ...FAILING, failing_since: ago(25 * 60 * MINUTE) }, 0],
    ['were begun before a hundred others', FAILING, 100],
  ])('is none if they %s', async (_, poll, others) => {
    await insertPolls('sunward', 1, READ);
    await insertPolls('acme', 5, poll, 61 * MINUTE);
    await insertPolls('acme', others, {});
    expect(await failing()).toEqual([]);
  });

  it.each<[string, string | null, object, number]>([
    ['none of another brand', 'acme', READ, 60],
    ['none since', 'sunward', { checked_at: ago(7 * MINUTE) }, 60],
    ['one only started since', null, {}, 1],
  ])('is not told from one of all brands, with %s', async (_, brand, poll, startedMinutes) => {
    await insertPolls('acme', 5, FAILING);
    await insertPolls(brand, 1, poll, startedMinutes * MINUTE);
    expect(await failing()).toEqual([]);
  });

  it('is known by reads of sessions without a brand', async () => {
    await insertPolls('acme', 5, FAILING);
    await insertPolls('zeus', 5, FAILING);
    await insertPolls(null, 1, READ);
    expect((await failing()).sort()).toEqual(['acme', 'zeus']);
  });

  it('counts for two minutes after it was last found', async () => {
    await insertRow(database.pool, 'brand_outages', { checked_at: ago(1.9 * MINUTE) });
    await insertRow(database.pool, 'brand_outages', { brand: 'old', checked_at: ago(2.1 * MINUTE) });
    expect(await database.query(`SELECT ${FAILING_BRANDS} AS brands`)).toEqual([{ brands: ['acme'] }]);
  });
});
