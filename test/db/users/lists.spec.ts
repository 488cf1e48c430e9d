import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import type { ListPosition } from '../../../src/platform/database/list-position.js';
import { RegistrationsStore } from '../../../src/users/registration/registrations.store.js';
import { UsersStore } from '../../../src/users/user/users.store.js';
import type { ListRegistrationsQuery, ListUsersQuery } from '../../../src/users/users.dto.js';
import { useTestDatabase } from '../../setup/database/test-database.js';

const USERS = 20_000;
const PAGE = 51;

const testDatabase = useTestDatabase();
let database: Database;
let store: UsersStore;

beforeAll(async () => {
  database = testDatabase.open();
  store = new UsersStore(database);
  // Inserts three users with the campaign `rare`, half of all users per season, and two users per registered_at.
  await database.query(
    `INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, created_at, updated_at, metadata, registered_at)
     SELECT gen_random_uuid(), n, '', '', '', '', now(), now(),
       jsonb_build_object('season', (ARRAY['autumn', 'spring'])[1 + n % 2],
         'campaign', CASE WHEN n % 7000 = 1 THEN 'rare' ELSE 'campaign-' || n % 100 END),
       now() - interval '1 s' * (n / 2)
     FROM generate_series(1, ${USERS}) AS n`,
  );
  await database.query(
    `INSERT INTO registrations (tenant_reference, eans, metadata, status, next_attempt_at, created_at)
     SELECT tenant_reference, ARRAY[(871687400000000000 + tenant_reference::int / 2)::text], metadata,
       CASE WHEN tenant_reference::int % 4000 = 0 THEN 'pending' ELSE 'rejected' END,
       CASE WHEN tenant_reference::int % 4000 = 0 THEN now() END, registered_at FROM users`,
  );
  await database.query('ANALYZE users, registrations');
});

async function planOf(list: () => Promise<unknown>): Promise<string> {
  const query = jest.spyOn(database, 'query');
  await list();
  const [statement, values] = query.mock.calls[0] as [string, unknown[]];
  query.mockRestore();
  const rows = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${statement}`, values);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

const planOfUsers = (filter: Partial<ListUsersQuery>, cursor?: ListPosition) =>
  planOf(() => store.listUsers({ ...filter, cursor, limit: PAGE - 1 }));

async function referencesOf(filter: Partial<ListUsersQuery>): Promise<number[]> {
  const references: number[] = [];
  for (let cursor: ListPosition | undefined; ;) {
    const users = await store.listUsers({ ...filter, cursor, limit: 1_000 });
    references.push(...users.map(({ tenantReference }) => Number(tenantReference)));
    const last = users.at(-1);
    if (last === undefined) return references;
    cursor = { at: last.registeredAt, id: last.id };
  }
}

describe('the list of users by metadata', () => {
  const middle = {
    at: new Date(Date.now() - (USERS / 4) * 1_000),
    id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  };

  it.each([undefined, middle])('finds a rare value through its index, from %j', async (position) => {
    expect(await planOfUsers({ metadata: { campaign: 'rare' } }, position)).toContain('users_metadata_idx');
    expect(await planOfUsers({ metadata: { campaign: 'rare', season: 'spring' } }, position)).toContain(
      'users_metadata_idx',
    );
  });

  it.each([undefined, middle])(
    'reads a frequent value in the order of the list, from %j',
    async (position) => {
      const plan = await planOfUsers({ metadata: { season: 'autumn' } }, position);
      expect(plan).toContain('users_registered_at_id_idx');
      expect(plan).not.toMatch(/Seq Scan|users_metadata_idx/);
    },
  );

  it('returns every user with the values, the newest first, and no other', async () => {
    expect(await referencesOf({ metadata: { campaign: 'rare' } })).toEqual([1, 7_001, 14_001]);
    expect(await referencesOf({ metadata: { campaign: 'rare', season: 'autumn' } })).toEqual([]);
    const all = Array.from({ length: USERS }, (_, index) => index + 1);
    expect(await referencesOf({ metadata: { season: 'autumn' } })).toEqual(all.filter((n) => n % 2 === 0));
    const rest = await referencesOf({ metadata: { season: 'spring', campaign: 'campaign-7' } });
    expect(rest).toEqual(all.filter((n) => n % 100 === 7));
  });
});

describe('the list of registrations', () => {
  const list = (filter: Partial<ListRegistrationsQuery>) =>
    new RegistrationsStore(database).listRegistrations({ ...filter, limit: PAGE - 1 });

  it.each<[string, Partial<ListRegistrationsQuery>, number]>([
    ['registrations_eans_idx', { ean: '871687400000000077' }, 2],
    ['registrations_metadata_idx', { metadata: { campaign: 'rare' } }, 3],
    ['registrations_created_at_id_idx', {}, PAGE],
  ])('uses %s, and reads no table as a whole for %j', async (index, filter, count) => {
    expect(await list(filter)).toHaveLength(count);
    const plan = await planOf(() => list(filter));
    expect(plan).toContain(index);
    expect(plan).not.toContain('Seq Scan');
  });
});
