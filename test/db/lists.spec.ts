import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readTerm } from '../../src/customers/search/search.rules.js';
import { SearchStore } from '../../src/customers/search/search.store.js';
import { SESSION_CAUSES } from '../../src/onboarding/stalls/session.causes.rules.js';
import type { SessionsQuery } from '../../src/onboarding/api/sessions.list.js';
import type { InvertersQuery } from '../../src/inverters/inverters.list.js';
import { InvertersStore } from '../../src/inverters/inverters.store.js';
import { AUDIT_LOG, type AuditLogQuery } from '../../src/audit-log/audit-log.list.js';
import { SessionViewsStore } from '../../src/onboarding/store/session-views.store.js';
import { Cipher } from '../../src/platform/crypto/cipher.js';
import type { Statement } from '../../src/platform/database/database.js';
import type { RegistrationsQuery } from '../../src/users/registration/registrations.list.js';
import { RegistrationsStore } from '../../src/users/registration/registrations.store.js';
import { StalledStore } from '../../src/stalled/stalled.store.js';
import { MERGE_COUNTS } from '../../src/stalls/stalls.sql.js';
import { UsersStore } from '../../src/users/user/users.store.js';
import type { UsersQuery } from '../../src/users/user/users.list.js';
import { useTestDatabase } from '../setup/database/test-database.js';
import { environmentFor } from '../setup/test-environment.js';
import { insertCustomer, insertRow, type Table } from './valid-rows.js';

interface Plan {
  readonly 'QUERY PLAN': string;
}

describe('among many users and registrations', () => {
  const USERS = 20_000;
  const PAGE = 51;

  const testDatabase = useTestDatabase();
  const database = testDatabase.open();
  const store = new UsersStore(database);

  beforeAll(async () => {
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
      `INSERT INTO registrations (tenant_reference, eans, metadata, last_error, status, next_attempt_at, created_at)
     SELECT tenant_reference, ARRAY[(871687400000000000 + tenant_reference::int / 2)::text], metadata,
       CASE WHEN tenant_reference::int % 100 = 0 THEN 'refused: ' || tenant_reference END,
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

  const planOfUsers = (filter: Partial<UsersQuery>, cursor?: UsersQuery['cursor']) =>
    planOf(() => store.listUsers({ ...filter, cursor, limit: PAGE - 1 }));

  async function referencesOf(filter: Partial<UsersQuery>): Promise<number[]> {
    const references: number[] = [];
    for (let cursor: UsersQuery['cursor']; ;) {
      const { items: users } = await store.listUsers({ ...filter, cursor, limit: 1_000 });
      references.push(...users.map(({ tenantReference }) => Number(tenantReference)));
      const last = users.at(-1);
      if (last === undefined) return references;
      cursor = { registeredAt: last.registeredAt, id: last.id };
    }
  }

  /** Searches for customers. Returns the references that were found, and the plan of each statement. */
  async function search(text: string) {
    const plans: string[] = [];
    const transaction = database.transaction.bind(database);
    const spy = jest.spyOn(database, 'transaction').mockImplementation((work) =>
      transaction(async (tx) => {
        const query = jest.spyOn(tx, 'query');
        const result = await work(tx);
        const statements = query.mock.calls.slice(1) as [string, unknown[]][];
        for (const [statement, values] of statements) {
          const plan = await tx.query<Plan>(`EXPLAIN ${statement}`, values);
          plans.push(plan.map((row) => row['QUERY PLAN']).join('\n'));
        }
        return result;
      }),
    );
    const hits = await new SearchStore(database).find(readTerm(text), ['customer']);
    spy.mockRestore();
    return { references: hits.map(({ label }) => Number(label)), plans };
  }

  it('are searched by an index for frequent words that nobody has together', async () => {
    const { references, plans } = await search('spring autumn');
    expect(references).toEqual([]);
    expect(plans.at(-1)).toContain('users_metadata_words_idx');
    expect(plans.join()).not.toContain('Seq Scan on users');
  });

  it('are searched among the newest for a word that many have, and among all for a rare one', async () => {
    const frequent = await search('spring');
    expect(frequent.references.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, nth) => 2 * nth + 1),
    );
    expect(frequent.plans).toHaveLength(1);
    expect(frequent.plans[0]).not.toContain('users_metadata_words_idx');
    const rare = await search('rare');
    expect(rare.references.toSorted((a, b) => a - b)).toEqual([1, 7_001, 14_001]);
  });

  describe('the list of users by metadata', () => {
    const middle = {
      registeredAt: new Date(Date.now() - (USERS / 4) * 1_000),
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
    const list = (filter: Partial<RegistrationsQuery>) =>
      new RegistrationsStore(database).listRegistrations({ ...filter, limit: PAGE - 1 });

    it.each<[string, Partial<RegistrationsQuery>, number]>([
      ['registrations_eans_idx', { ean: '871687400000000077' }, 2],
      ['registrations_metadata_idx', { metadata: { campaign: 'rare' } }, 3],
      ['registrations_with_error', { lastError: ': 19900' }, 1],
      ['registrations_created_at_id_idx', {}, PAGE - 1],
    ])('uses %s, and reads no table as a whole for %j', async (index, filter, count) => {
      expect((await list(filter)).items).toHaveLength(count);
      const plan = await planOf(() => list(filter));
      expect(plan).toContain(index);
      expect(plan).not.toContain('Seq Scan');
    });
  });
});

describe('among many sessions', () => {
  const SESSIONS = 20_000;

  const testDatabase = useTestDatabase();
  const database = testDatabase.open();

  beforeAll(async () => {
    const { userId, gridLocationId } = await insertCustomer(database.pool);
    // One session in twenty is open, and one in 200 is stalled. Half of the closed sessions never left awaiting_owner.
    await database.query(
      `INSERT INTO onboarding_sessions (id, user_id, grid_location_id, brand, metadata, state, basis, rule, finished, active, created_at,
       updated_at, expires_at, started_updated_at, state_changed_at, last_checked_at, changed_at, closed_at, close_reason)
     SELECT gen_random_uuid(), $1, $2, n, '{}', CASE WHEN n % 20 = 0 OR n % 2 = 1 THEN 'awaiting_owner' ELSE 'online' END, 'observed', 'test',
       false, true, now() - n * interval '1 h', now(), now() + interval '1 day', now(), now(), now(), now() - n * interval '1 s',
       CASE WHEN n % 20 > 0 THEN now() END, CASE WHEN n % 20 > 0 THEN 'settled' END
     FROM generate_series(1, ${SESSIONS}) AS n`,
      [userId, gridLocationId],
    );
    await database.query(
      `INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
     SELECT id, user_id, now(), now(), now(), 'awaiting_owner', now() FROM onboarding_sessions WHERE closed_at IS NULL`,
    );
    await database.query(
      `INSERT INTO stalls (kind, subject, cause, since, evidence)
     SELECT 'session', id, ('{${Object.keys(SESSION_CAUSES).join()}}'::text[])[1 + brand::int / 200 % 5], now(), '{}' FROM onboarding_sessions WHERE brand::int % 200 = 0`,
    );
    await database.query('ANALYZE onboarding_sessions, session_polls, stalls');
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

  it.each<Partial<SessionsQuery>>([
    { stalled: 'any' },
    { stalled: 'expiring_soon' },
    { createdSince: new Date(Date.now() - 10.5 * 3_600_000) },
  ])('are listed without a look at the others, for %j', async (filter) => {
    const store = new SessionViewsStore(database, new Cipher(environmentFor(testDatabase.url)));
    const plan = await planOf(() => store.listSessions({ limit: 50, ...filter }));
    expect(plan).not.toMatch(/Seq Scan on onboarding_sessions/);
    expect(Number(/Rows Removed by Filter: (\d+)/.exec(plan)?.[1] ?? 0)).toBeLessThan(1_000);
  });
});

describe('the audit log', () => {
  const ENTRIES = 20_000;
  const PAGE = 50;
  const testDatabase = useTestDatabase();
  const database = testDatabase.open();

  beforeAll(async () => {
    await database.query(
      `INSERT INTO audit_log (at, actor, action, details)
     SELECT now() - (${ENTRIES} - n) * interval '1 h', 'key ' || n % 10, 'action ' || n / 10 % 10, '{}' FROM generate_series(1, ${ENTRIES}) AS n`,
    );
    await database.query('VACUUM ANALYZE audit_log');
  });

  it.each<Partial<AuditLogQuery>>([
    {},
    { since: new Date('2020-01-01') },
    { actor: 'key 7' },
    { action: 'action 7' },
  ])('skips only the entries of others to list a time long ago, for %j', async (filter) => {
    const before = new Date(Date.now() - (ENTRIES - 2_000) * 3_600_000);
    const query = jest.spyOn(database, 'query');
    const { items } = await AUDIT_LOG.page<{ at: Date }>(database, { ...filter, before, limit: PAGE });
    const [statement, values] = query.mock.calls[0] as [string, unknown[]];
    query.mockRestore();
    expect(items).toHaveLength(PAGE);
    expect(items.every(({ at }, nth) => at < (items[nth - 1]?.at ?? before))).toBe(true);
    const plan = await database.query<Plan>(`EXPLAIN (ANALYZE) ${statement}`, values);
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).not.toContain('Sort');
    const skipped = Number(/Rows Removed by Filter: (\d+)/.exec(text)?.[1] ?? 0);
    expect(skipped).toBeLessThan(10 * (PAGE + 1));
  });

  it('reads no entry of an actor and an action that never meet', async () => {
    await database.query(
      `UPDATE audit_log SET action = CASE actor WHEN 'key 3' THEN 'action 0' ELSE 'action ' || 1 + id % 5 END`,
    );
    await database.query('VACUUM ANALYZE audit_log');
    const query = jest.spyOn(database, 'query');
    const page = await AUDIT_LOG.page(database, { actor: 'key 3', action: 'action 1', limit: PAGE });
    const [statement, values] = query.mock.calls[0] as [string, unknown[]];
    query.mockRestore();
    expect(page.items).toEqual([]);
    const plan = await database.query<Plan>(`EXPLAIN (ANALYZE) ${statement}`, values);
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).not.toContain('Rows Removed by Filter');
  });
});

describe('of inverters', () => {
  const testDatabase = useTestDatabase();
  const database = testDatabase.open();
  const store = new InvertersStore(database);

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
    (await store.list({ limit: 50, ...filter })).items.map(({ sessionId }) => sessionId);

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
      expect(await store.find(inverter)).toMatchObject({ sessionId: his, ...bob });
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

    it('were not last seen before they were first seen, although the read that found them began before', async () => {
      const at = new Date('2026-02-03T00:00:00Z');
      const session = await insertListed(randomUUID(), await customer(), at.toISOString());
      const lastSeen = async () =>
        (await store.list({ limit: 50 })).items.find(({ sessionId }) => sessionId === session)?.lastSeenAt;
      await database.query('UPDATE onboarding_sessions SET last_checked_at = $2 WHERE id = $1', [
        session,
        new Date(at.getTime() - 1_000),
      ]);
      expect(await lastSeen()).toEqual(at);
      const later = new Date(at.getTime() + 1_000);
      await database.query('UPDATE onboarding_sessions SET last_checked_at = $2 WHERE id = $1', [
        session,
        later,
      ]);
      expect(await lastSeen()).toEqual(later);
    });

    it('are paged without gap or repetition where many were seen in the same millisecond', async () => {
      const at = '2026-03-01T00:00:00Z';
      const inverters = [randomUUID(), randomUUID()];
      const owners = await Promise.all(Array.from({ length: 4 }, customer));
      const expected: string[] = [];
      for (const owner of owners)
        for (const inverter of inverters) {
          const twice = [await insertListed(inverter, owner, at), await insertListed(inverter, owner, at)];
          expected.push(twice.toSorted()[1]!);
        }
      const seen: string[] = [];
      for (let cursor: InvertersQuery['cursor']; ;) {
        const { items: page } = await store.list({ limit: 2, cursor });
        seen.push(...page.map(({ sessionId }) => sessionId));
        cursor = page.at(-1);
        if (cursor === undefined) break;
      }
      expect(seen.slice(0, expected.length).sort()).toEqual(expected.sort());
    });
  });
});

describe('of what is stalled', () => {
  const database = useTestDatabase().open();

  it('the groups count as new what began less than 24 hours ago, also when their counts are merged', async () => {
    const insert = `INSERT INTO stalls (kind, subject, cause, since, evidence)
      SELECT 'start', gen_random_uuid(), 'failed', now() - hours * interval '1 h', '{}' FROM unnest($1::float8[]) AS hours`;
    const hours = [0, 22.4, 22.9, 23.1, 23.4, 23.7, 23.99, 24.01, 24.4, 24.9, 26];
    await database.query(insert, [hours]);
    await database.query('DELETE FROM stalls WHERE since > now() - $1::interval', ['1 h']);
    const stalled = new StalledStore(database);
    expect(await stalled.group(['session', 'start'])).toMatchObject([{ kind: 'start', count: 10, new: 6 }]);
    await database.query(MERGE_COUNTS, [0]);
    const [group] = await stalled.group(['start']);
    expect([group?.count, group?.new]).toEqual([10, 6]);
    const oldest = group!.items.map(({ since }) => Math.round((Date.now() - since.getTime()) / 36_000) / 100);
    expect(oldest).toEqual(hours.slice(1).reverse());
    expect(await stalled.group(['session'])).toEqual([]);
  });
});
