import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrate } from '../../../src/platform/database/migrations/migrate.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { withClient } from '../../setup/database/with-client.js';
import { connectAsReader, type Reader } from '../reader.js';

const INSUFFICIENT_PRIVILEGE = '42501';
const uniqueName = (what: string) => `pv_test_${what}_${randomBytes(6).toString('hex')}`;

describe('a member of pv_onboarding_reader', () => {
  let database: TestDatabase;
  let owner: pg.Client;
  let reader: Reader;

  beforeAll(async () => {
    database = await createTestDatabase();
    owner = await database.connect();
    // Copying a template, like restoring a dump, does not copy the grants on the database itself.
    await owner.query('SELECT admin.grant_reader()');
    reader = await connectAsReader(database.url);
  });
  afterAll(async () => {
    await reader.close();
    await database.drop();
  });

  const names = async (sql: string) => (await owner.query<{ name: string }>(sql)).rows.map((row) => row.name);
  /** Turns off the login's read-only default, as any login can, and runs the statement. */
  const attempt = async (sql: string) => {
    await reader.client.query('SET default_transaction_read_only = off');
    return reader.client.query(sql);
  };

  it('reads and writes no table of any schema, and nothing through a view', async () => {
    const relations = await names(`
      SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname IN ('public', 'admin') AND c.relkind IN ('r', 'p', 'v')`);
    expect(relations).toContain('public.users');
    const allowed: string[] = [];
    for (const relation of relations) {
      const tries = [`DELETE FROM ${relation}`, `INSERT INTO ${relation} DEFAULT VALUES`];
      if (!relation.startsWith('admin.')) tries.push(`SELECT * FROM ${relation}`, `TRUNCATE ${relation}`);
      for (const sql of tries) {
        const error: unknown = await attempt(sql).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        // A write to a view that is not updatable fails with 55000.
        if (
          !(error instanceof pg.DatabaseError) ||
          ![INSUFFICIENT_PRIVILEGE, '55000'].includes(error.code ?? '')
        )
          allowed.push(sql);
      }
    }
    expect(allowed).toEqual([]);
  });

  it.each([
    'CREATE TABLE public.notes (id int)',
    'CREATE TABLE admin.notes (id int)',
    'CREATE TEMPORARY TABLE notes (id int)',
    'CREATE SCHEMA notes',
    `SELECT nextval('public.domain_events_position_seq')`,
    `SELECT admin.grant_reader()`,
    `SELECT admin.add_reader(current_user)`,
    `SELECT pg_read_file('postgresql.conf')`,
  ])('may not: %s', async (sql) => {
    await expect(attempt(sql)).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
  });
});

describe('admin.grant_reader', () => {
  it('creates one role for several databases at once', async () => {
    const role = uniqueName('role');
    const databases = await Promise.all(Array.from({ length: 5 }, () => createTestDatabase()));
    const grant = ({ url }: TestDatabase) =>
      withClient(url, (client) => client.query('SELECT admin.grant_reader($1)', [role]));
    await Promise.all(databases.map(grant));
    await Promise.all(databases.map(grant));
    const readable = await Promise.all(
      databases.map(({ url }) =>
        withClient(url, (client) =>
          client.query(`SELECT has_table_privilege($1, 'admin.sessions', 'SELECT') AS ok`, [role]),
        ),
      ),
    );
    expect(readable.flatMap(({ rows }) => rows)).toEqual(databases.map(() => ({ ok: true })));
    const [first, ...others] = databases;
    await Promise.all(others.map((each) => each.drop()));
    await withClient(first!.url, (client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
    await first!.drop();
  });

  describe('for a user that may not create roles', () => {
    const limited = uniqueName('limited');
    const role = uniqueName('role');
    let database: TestDatabase;
    let url: string;

    beforeAll(async () => {
      database = await createTestDatabase('empty');
      const name = new URL(database.url).pathname.slice(1);
      await withClient(database.url, (client) =>
        client.query(
          `CREATE ROLE ${limited} LOGIN PASSWORD 'limited'; ALTER DATABASE ${name} OWNER TO ${limited}`,
        ),
      );
      const address = new URL(database.url);
      address.username = limited;
      address.password = 'limited';
      url = address.href;
    });
    afterAll(async () => {
      const server = new URL(database.url);
      server.pathname = '/postgres';
      await database.drop();
      await withClient(server.href, (client) =>
        client.query(`DROP ROLE ${limited}; DROP ROLE IF EXISTS ${role}`),
      );
    });

    it('does not stop the migrations', async () => {
      await expect(migrate(url)).resolves.toEqual(expect.arrayContaining(['20261126000000_baseline']));
    });

    it('says what an administrator has to run, and that is enough', async () => {
      const warnings: pg.DatabaseError[] = [];
      await withClient(url, async (client) => {
        client.on('notice', (notice) => warnings.push(notice as unknown as pg.DatabaseError));
        await client.query('SELECT admin.grant_reader($1)', [role]);
      });
      expect(warnings).toEqual([
        expect.objectContaining({
          severity: 'WARNING',
          hint: expect.stringContaining(`CREATE ROLE ${role} NOLOGIN`),
        }),
      ]);

      const [create, grant] =
        /: (CREATE ROLE .*?;).* (SELECT admin.*;)/.exec(warnings[0]?.hint ?? '')?.slice(1) ?? [];
      await withClient(database.url, (client) => client.query(create ?? ''));
      await withClient(url, (client) => client.query(grant ?? ''));
      const reader = await connectAsReader(database.url, role);
      await expect(reader.client.query('SELECT * FROM admin.poll_lag')).resolves.toMatchObject({
        rows: [{ phase: 'all' }],
      });
      await expect(reader.client.query('SELECT * FROM users')).rejects.toMatchObject({
        code: INSUFFICIENT_PRIVILEGE,
      });
      await reader.close();
    });
  });
});
