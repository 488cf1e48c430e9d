import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { InvertersQuery } from '../../src/onboarding/api/sessions.dto.js';
import { SessionViewsStore } from '../../src/onboarding/store/session-views.store.js';
import { Cipher } from '../../src/platform/crypto/cipher.js';
import { Database } from '../../src/platform/database/database.js';
import { useTestDatabase } from '../setup/database/test-database.js';
import { environmentFor } from '../setup/test-environment.js';
import { insertCustomer, insertRow, type Table } from './valid-rows.js';

const testDatabase = useTestDatabase();
let database: Database;
let store: SessionViewsStore;
let cipher: Cipher;

beforeAll(() => {
  database = testDatabase.open();
  cipher = new Cipher(environmentFor(testDatabase.url));
  store = new SessionViewsStore(database, cipher);
});

const insert = (table: Table, row: Parameters<typeof insertRow>[2]) => insertRow(database.pool, table, row);
const customer = () => insertCustomer(database.pool);
type Owner = Awaited<ReturnType<typeof insertCustomer>>;

/** Inserts a session of the owner, and an inverter of this session. The inverter is missing if `missingSince` is given. */
async function insertListed(
  inverterId: string,
  owner: Owner,
  at: string,
  missingSince: string | null = null,
) {
  const id = randomUUID();
  await insert('onboarding_sessions', {
    id,
    user_id: owner.userId,
    grid_location_id: owner.gridLocationId,
    brand: id,
  });
  await insert('inverters', {
    session_id: id,
    id: inverterId,
    first_seen_at: at,
    last_seen_at: at,
    missing_since: missingSince,
  });
  return id;
}

const sessionsOf = async (filter: { userId?: string; gridLocationId?: string }) =>
  (await store.listInverters({ limit: 50, ...filter })).map(({ sessionId }) => sessionId);

describe('inverters', () => {
  it('are listed once for each user, as the latest session of that user has them', async () => {
    const inverter = randomUUID();
    const [alice, bob] = [await customer(), await customer()];
    await insertListed(inverter, alice, '2026-01-01T00:00:00Z');
    const hers = await insertListed(inverter, alice, '2026-01-02T00:00:00Z');
    await insertListed(inverter, alice, '2026-01-04T00:00:00Z', '2026-01-05T00:00:00Z');
    const his = await insertListed(inverter, bob, '2026-01-03T00:00:00Z');
    expect(await sessionsOf({ userId: alice.userId })).toEqual([hers]);
    expect(await sessionsOf({ userId: bob.userId })).toEqual([his]);
    expect(await sessionsOf({})).toEqual([his, hers]);
    expect(await store.findInverter(inverter)).toMatchObject({ sessionId: his, ...bob });
  });

  it('are listed for each grid location of a user that has them', async () => {
    const inverter = randomUUID();
    const owner = await customer();
    const elsewhere = { userId: owner.userId, gridLocationId: randomUUID() };
    await insert('grid_locations', { id: elsewhere.gridLocationId, user_id: owner.userId });
    const first = await insertListed(inverter, owner, '2026-02-01T00:00:00Z');
    const second = await insertListed(inverter, elsewhere, '2026-02-02T00:00:00Z');
    expect(await sessionsOf({ gridLocationId: owner.gridLocationId })).toEqual([first]);
    expect(await sessionsOf({ gridLocationId: elsewhere.gridLocationId })).toEqual([second]);
    expect(await sessionsOf({ userId: owner.userId })).toEqual([second]);
  });

  it('are paged without gap or repetition where many were seen in the same millisecond', async () => {
    const at = '2026-03-01T00:00:00Z';
    const inverters = [randomUUID(), randomUUID()];
    const owners = await Promise.all(Array.from({ length: 4 }, customer));
    const expected: string[] = [];
    for (const owner of owners)
      for (const inverter of inverters) expected.push(await insertListed(inverter, owner, at));
    const seen: string[] = [];
    for (let cursor: InvertersQuery['cursor']; ;) {
      const page = await store.listInverters({ limit: 2, cursor });
      seen.push(...page.map(({ sessionId }) => sessionId));
      cursor = page.at(-1);
      if (cursor === undefined) break;
    }
    expect(seen.filter((id) => expected.includes(id)).sort()).toEqual(expected.sort());
  });
});
