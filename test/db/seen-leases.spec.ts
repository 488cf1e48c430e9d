import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FIND_EXPIRED_LEASES } from '../../src/onboarding/start/starts.sql.js';
import type { Database } from '../../src/platform/database/database.js';
import { SeenLeases } from '../../src/platform/database/seen-leases.js';
import { FIND_LEASES } from '../../src/users/registration/registrations.sql.js';
import { useTestDatabase } from '../setup/database/test-database.js';
import { insertCustomer, insertRow } from './valid-rows.js';

const testDatabase = useTestDatabase();
let database: Database;
const lease_token = randomUUID();
const lease_until = new Date(0);

beforeAll(async () => {
  database = testDatabase.open();
  const { gridLocationId: grid_location_id } = await insertCustomer(database.pool);
  await insertRow(database.pool, 'session_starts', { grid_location_id, lease_token, lease_until });
  await insertRow(database.pool, 'registrations', { lease_token, lease_until, next_attempt_at: null });
});

describe.each([
  ['starts', FIND_EXPIRED_LEASES],
  ['registrations', FIND_LEASES],
])('an expired lease of %s', (_, statement) => {
  let now = 0;
  let isReadOnly = false;
  let leases: SeenLeases;

  const find = () =>
    database.transaction(async (tx) => {
      if (isReadOnly) await tx.query('SET TRANSACTION READ ONLY');
      return (await tx.query<{ lease: string }>(statement)).map(({ lease }) => lease);
    });
  const findAfter = (ms: number) => {
    now += ms;
    return leases.findSeen();
  };

  beforeEach(() => {
    leases = new SeenLeases(find);
    isReadOnly = false;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('may be ended once it has been seen for 4 s', async () => {
    expect(await findAfter(0)).toEqual([]);
    expect(await findAfter(3_999)).toEqual([]);
    expect(await findAfter(1)).toEqual([lease_token]);
  });

  it('may be ended only 4 s after the database can be written again, so that its process can return it', async () => {
    expect(await findAfter(0)).toEqual([]);
    isReadOnly = true;
    await expect(findAfter(60_000)).rejects.toMatchObject({ code: '25006' });
    isReadOnly = false;
    expect(await findAfter(1)).toEqual([]);
    expect(await findAfter(4_000)).toEqual([lease_token]);
  });
});
