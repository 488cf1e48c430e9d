import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrate } from '../../../src/platform/database/migrations/migrate.js';
import { psqlCommand } from '../../../src/cli/psql.command.js';
import { Database } from '../../../src/platform/database/database.js';
import { findReaderFault } from '../../../src/platform/database/reader-role.store.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { withClient } from '../../setup/with-client.js';
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

  it('reads every view', async () => {
    const views = await names(
      `SELECT table_name AS name FROM information_schema.views WHERE table_schema = 'admin'`,
    );
    expect(views.length).toBeGreaterThan(10);
    for (const view of views)
      await expect(reader.client.query(`SELECT * FROM admin.${view}`)).resolves.toBeDefined();
  });

  it('reads and writes no table of any schema, and nothing through a view', async () => {
    const relations = await names(`
      SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname IN ('public', 'admin', 'graphile_worker') AND c.relkind IN ('r', 'p', 'v')`);
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
    `SELECT graphile_worker.add_job('event:x')`,
    `SELECT pg_read_file('postgresql.conf')`,
  ])('may not: %s', async (sql) => {
    await expect(attempt(sql)).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
  });

  it('has the settings that keep a forgotten query from harming the service', async () => {
    const again = new URL(database.url);
    again.username = reader.name;
    again.password = 'reader';
    const settings = await withClient(again.href, async (client) => {
      const { rows } = await client.query<{ name: string; setting: string }>(
        `SELECT name, setting FROM pg_settings WHERE source = 'database user' ORDER BY name`,
      );
      return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
    });
    expect(settings).toEqual({
      default_transaction_read_only: 'on',
      idle_in_transaction_session_timeout: '60000',
      statement_timeout: '30000',
    });
  });

  it('reads a view that is added later', async () => {
    await owner.query('CREATE VIEW admin.later AS SELECT count(*) AS users FROM public.users');
    await expect(reader.client.query('SELECT * FROM admin.later')).resolves.toMatchObject({
      rows: [{ users: '0' }],
    });
    await owner.query('DROP VIEW admin.later');
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

  /** Creates the role in an open transaction, calls grant_reader, and commits once grant_reader waits for the transaction. */
  async function grantBesideMaker(database: TestDatabase, role: string): Promise<void> {
    await withClient(database.url, async (maker) => {
      await maker.query(`BEGIN; CREATE ROLE ${role} NOLOGIN`);
      const granted = withClient(database.url, (client) =>
        client.query('SELECT admin.grant_reader($1)', [role]),
      );
      // Prevents an unhandled rejection. `await granted` throws the error.
      granted.catch(() => {});
      await waitFor('the grant to wait for the maker', () =>
        withClient(database.url, async (observer) => {
          const { rows } = await observer.query(
            `SELECT 1 FROM pg_stat_activity WHERE query LIKE '%grant_reader%' AND wait_event_type = 'Lock' AND datname = current_database()`,
          );
          return rows.length > 0;
        }),
      );
      await maker.query('COMMIT');
      await granted;
    });
  }

  it('waits for a transaction that creates the role, then uses that role', async () => {
    const role = uniqueName('role');
    const database = await createTestDatabase();
    await grantBesideMaker(database, role);
    await withClient(database.url, (client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
    await database.drop();
  });

  it('fails with a unique violation if it does not expect the role to be created concurrently', async () => {
    const role = uniqueName('role');
    const database = await createTestDatabase();
    await withClient(database.url, async (client) => {
      const { rows } = await client.query<{ source: string }>(
        `SELECT pg_get_functiondef('admin.grant_reader'::regproc) AS source`,
      );
      await client.query(rows[0]!.source.replace('duplicate_object OR unique_violation', 'division_by_zero'));
    });
    await expect(grantBesideMaker(database, role)).rejects.toMatchObject({ code: '23505' });
    await withClient(database.url, (client) => client.query(`DROP ROLE ${role}`));
    await database.drop();
  });

  it('lets a user that may create roles, but is no superuser, take the role that it created', async () => {
    const [creator, role] = [uniqueName('creator'), uniqueName('role')];
    const database = await createTestDatabase('empty');
    const address = new URL(database.url);
    const name = address.pathname.slice(1);
    await withClient(database.url, (client) =>
      client.query(
        `CREATE ROLE ${creator} LOGIN CREATEROLE PASSWORD 'creator'; ALTER DATABASE ${name} OWNER TO ${creator}`,
      ),
    );
    Object.assign(address, { username: creator, password: 'creator' });
    await migrate(address.href);
    await withClient(address.href, async (client) => {
      const notices: string[] = [];
      client.on('notice', ({ message }) => notices.push(message ?? ''));
      for (let nth = 0; nth < 2; nth++) await client.query('SELECT admin.grant_reader($1)', [role]);
      await client.query(`SET ROLE ${role}`);
      await client.query('SELECT FROM admin.sessions');
      await expect(client.query('SELECT FROM users')).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
      expect(notices).toEqual([]);
    });
    address.pathname = '/postgres';
    Object.assign(address, {
      username: new URL(database.url).username,
      password: new URL(database.url).password,
    });
    await withClient(database.url, (client) => client.query(`DROP OWNED BY ${role}`));
    await database.drop();
    await withClient(address.href, (client) => client.query(`DROP ROLE ${role}; DROP ROLE ${creator}`));
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

    it('names the statement that lets the user open psql', async () => {
      const environment = environmentFor(url, { NODE_ENV: 'production' });
      const open = () => psqlCommand(() => environment, {}).parseAsync([], { from: 'user' });
      const statement = `GRANT pv_onboarding_reader TO ${limited};`;
      await withClient(database.url, (client) => client.query('SELECT admin.grant_reader()'));
      await expect(open()).rejects.toThrow(
        `The user ${limited} of DATABASE_URL cannot read as pv_onboarding_reader (permission denied to set role "pv_onboarding_reader"): run ${statement} as a superuser`,
      );
      const limitedDatabase = new Database(environment);
      try {
        await withClient(database.url, (client) => client.query(statement));
        expect(await findReaderFault(limitedDatabase)).toBeNull();
        await withClient(database.url, (client) =>
          client.query(`REVOKE ALL ON SCHEMA admin FROM pv_onboarding_reader`),
        );
        await expect(open()).rejects.toThrow(`run SELECT admin.grant_reader(); as ${limited}`);
      } finally {
        await limitedDatabase.onApplicationShutdown();
        await withClient(database.url, (client) =>
          client.query(`REVOKE pv_onboarding_reader FROM ${limited}`),
        );
      }
    });

    it('says in production how to migrate a new database before psql', async () => {
      const empty = await createTestDatabase('empty');
      const environment = environmentFor(empty.url, { NODE_ENV: 'production' });
      await expect(psqlCommand(() => environment, {}).parseAsync([], { from: 'user' })).rejects.toThrow(
        'the service has never run on this database. Start it, or run `migrate`.',
      );
      await empty.drop();
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
