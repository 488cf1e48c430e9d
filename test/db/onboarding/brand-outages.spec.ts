import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FAILING_BRANDS, updateBrandOutages } from '../../../src/brands/brands.store.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

const MINUTE = 60_000;
const ago = (ms: number) => new Date(Date.now() - ms);

/** The poll of a session that is not being read now: `checked_at` is the read before the last. */
function readAt(claimed_at: Date) {
  return { claimed_at, checked_at: ago(60 * MINUTE) };
}

const testDatabase = useTestDatabase();
const database = testDatabase.open();

beforeAll(async () => {
  // Trouble of another operation is none of reads.
  await database.query(
    `UPDATE remote_operations SET health = 'degraded', reason = 'slow' WHERE operation = 'start_session'`,
  );
});
beforeEach(async () => {
  await database.query('TRUNCATE users, brand_outages CASCADE');
  await setReads('healthy');
});

/** The session has failed before and after READ. */
const FAILING = {
  failures: 3,
  failing_since: ago(5 * MINUTE),
  planned_at: ago(MINUTE / 2),
  ...readAt(ago(6 * MINUTE)),
};
const ONCE = { ...FAILING, failures: 1 };
const READ = readAt(ago(MINUTE));

async function setReads(health: string): Promise<void> {
  await database.query(
    `UPDATE remote_operations SET health = $1, reason = nullif($2, $1) WHERE operation = 'read_session'`,
    [health, 'healthy'],
  );
}

/** Inserts watched sessions of a brand, which were started an hour ago. */
async function insertPolls(
  brand: string | null,
  count: number,
  poll: object,
  startedMs = 60 * MINUTE,
  users = count,
) {
  const customers = [];
  while (customers.length < users) customers.push(await insertCustomer(database.pool));
  for (let n = 0; n < count; n++) {
    const { userId: user_id, gridLocationId: grid_location_id } = customers[n % users]!;
    const recorded_at = ago(startedMs);
    const superseded_at = n < users ? null : recorded_at;
    const session = { user_id, grid_location_id, brand, recorded_at, superseded_at };
    const { id } = await insertRow<{ id: string }>(database.pool, 'onboarding_sessions', session);
    const values = { session_id: id, user_id, claimed_at: recorded_at, checked_at: recorded_at, ...poll };
    await insertRow(database.pool, 'session_polls', values);
  }
}

async function failing(): Promise<string[]> {
  await updateBrandOutages(database, 15 * MINUTE);
  return (await database.query<{ brands: string[] }>(`SELECT ${FAILING_BRANDS} AS brands`))[0]!.brands;
}

describe('an outage of a brand', () => {
  it('is there while 5 of its sessions fail, and at least half of those that tell, and others are read', async () => {
    const first = { ...FAILING, failing_since: ago(9 * MINUTE) };
    await insertPolls('acme', 1, first);
    await insertPolls('acme', 3, FAILING);
    await insertPolls(null, 5, FAILING);
    await insertPolls('acme', 5, { ...READ, failing_since: ago(9 * MINUTE) });
    await insertPolls('sunward', 1, READ);
    expect(await failing()).toEqual([]);
    await insertPolls('acme', 1, first);
    expect(await failing()).toEqual(['acme']);
    const outages = 'SELECT brand, failing, read, since FROM brand_outages';
    const found = { brand: 'acme', failing: 5, read: 5, since: FAILING.failing_since };
    expect(await database.query(outages)).toEqual([found]);
    await insertPolls('acme', 1, first);
    await insertPolls('acme', 1, READ);
    expect(await failing()).toEqual(['acme']);
    // It began when it was found.
    expect(await database.query(outages)).toEqual([{ ...found, failing: 6, read: 6 }]);
    await insertPolls('acme', 1, READ);
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
    ['none since', 'sunward', readAt(ago(7 * MINUTE)), 60],
    ['one only started since', null, {}, 1],
  ])('is not told from one of all brands, with %s', async (_, brand, poll, startedMinutes) => {
    await insertPolls('acme', 5, FAILING);
    await insertPolls(brand, 1, poll, startedMinutes * MINUTE);
    expect(await failing()).toEqual([]);
  });

  it('is none if the sessions are those of four users', async () => {
    await insertPolls('sunward', 1, READ);
    await insertPolls('acme', 40, FAILING, 60 * MINUTE, 4);
    expect(await failing()).toEqual([]);
  });

  it('is none if as many others were read as seldom as open sessions are', async () => {
    await insertPolls('sunward', 1, READ);
    await insertPolls('acme', 5, FAILING);
    await insertPolls('acme', 6, readAt(ago(16 * MINUTE)));
    expect(await failing()).toEqual([]);
  });

  it('is not told from an outage of all brands, of which one is read first when it is over', async () => {
    const failedBefore = { ...FAILING, planned_at: ago(2 * MINUTE) };
    await insertPolls('acme', 5, failedBefore);
    await insertPolls('acme', 1, { ...READ, planned_at: new Date() });
    await insertPolls('sunward', 5, failedBefore);
    await insertPolls('sunward', 1, READ);
    expect(await failing()).toEqual([]);
    // One fails again.
    await database.query(
      `UPDATE session_polls SET planned_at = now() WHERE session_id =
         (SELECT id FROM onboarding_sessions JOIN session_polls ON session_id = id WHERE brand = 'acme' AND failures > 0 LIMIT 1)`,
    );
    expect(await failing()).toEqual(['acme']);
    // The others are read more often than it fails.
    await database.query(`UPDATE session_polls SET claimed_at = now() + interval '1 s' WHERE failures = 0`);
    expect(await failing()).toEqual(['acme']);
  });

  it.each<[string, string, number, string, number, string | null, object]>([
    ['found', 'degraded', 5, 'acme', 3, null, {}],
    ['none while reads are healthy', 'healthy', 5, 'acme', 3, null, {}],
    ['none with four users', 'degraded', 4, 'acme', 3, null, {}],
    ['none with two others', 'degraded', 5, 'acme', 2, null, {}],
    ['none if it is read too', 'degraded', 5, 'acme', 3, 'acme', READ],
    ['found if it was read before', 'degraded', 5, 'acme', 3, 'acme', readAt(ago(7 * MINUTE))],
    ['none if another fails too', 'degraded', 5, 'acme', 3, 'zeus', { ...ONCE, failing_since: ago(MINUTE) }],
    [
      'none if another began to fail with it',
      'degraded',
      5,
      'acme',
      3,
      'zeus',
      { ...ONCE, failing_since: ago(5 * MINUTE + 10_000) },
    ],
    [
      'found if another failed before',
      'degraded',
      5,
      'acme',
      3,
      'zeus',
      { ...ONCE, failing_since: ago(9 * MINUTE) },
    ],
  ])(
    'of a brand that is most of the sessions, whose failures hold back the reads of all, is %s (%s)',
    async (result, health, failingUsers, brand, others, alsoBrand, also) => {
      await setReads(health);
      await insertPolls(brand, failingUsers, ONCE);
      await insertPolls('sunward', others, READ);
      if (alsoBrand !== null) await insertPolls(alsoBrand, 1, also);
      expect(await failing()).toEqual(result.startsWith('found') ? [brand] : []);
      // A read that succeeds closes the breaker for a moment.
      await setReads('healthy');
      expect(await failing()).toEqual(result.startsWith('found') ? [brand] : []);
    },
  );

  it('of a brand that is most of the sessions is found, although most of them were read shortly before', async () => {
    await setReads('degraded');
    await insertPolls('acme', 5, ONCE);
    await insertPolls('acme', 6, readAt(ago(7 * MINUTE)));
    await insertPolls('sunward', 3, READ);
    expect(await failing()).toEqual(['acme']);
    expect(await database.query('SELECT failing, read FROM brand_outages')).toEqual([
      { failing: 5, read: 0 },
    ]);
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
