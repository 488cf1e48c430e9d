import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ApiKeysStore, hashOf, newApiKey } from '../../src/access/api-keys.store.js';
import { ManagedKeysStore } from '../../src/api-keys/managed-keys.store.js';
import { COUNTERS } from '../../src/platform/database/counters.js';
import { Database, prepared, type Transaction } from '../../src/platform/database/database.js';
import { sqlState } from '../../src/platform/database/sql-state.js';
import { useTestDatabase } from '../setup/database/test-database.js';
import { environmentFor } from '../setup/test-environment.js';

const testDatabase = useTestDatabase();
const database = testDatabase.open();

beforeEach(() => database.query('TRUNCATE users CASCADE'));

const user = (id: string = randomUUID()) => ({
  id,
  tenantReference: id,
  tenantName: '',
  firstName: '',
  lastName: '',
  email: '',
  metadata: {},
  createdAt: new Date(),
  updatedAt: new Date(),
});
const withLocation = () => ({
  ...user(),
  gridLocations: { create: [{ id: randomUUID(), ean: '541448860004178019' }] },
});

const count = async (sql: Pick<Transaction, 'query'>, table = 'users') =>
  (await sql.query<{ count: number }>(`SELECT count(*)::int FROM ${table}`))[0]?.count;

describe('one transaction for SQL and Prisma', () => {
  it('lets each see the rows of the other, and nobody else before the commit', async () => {
    await database.transaction(async (tx) => {
      await tx.prisma.user.create({ data: withLocation() });
      await tx.query('UPDATE users SET first_name = $1', ['Anna']);
      expect(await tx.prisma.user.findMany({ select: { firstName: true } })).toEqual([{ firstName: 'Anna' }]);
      expect([await count(database), await database.prisma.user.count()]).toEqual([0, 0]);
    });
    expect([await count(database), await count(database, 'grid_locations')]).toEqual([1, 1]);
  });

  it('rolls both back', async () => {
    const failing = database.transaction(async (tx) => {
      await tx.prisma.user.create({ data: withLocation() });
      await tx.query('UPDATE users SET first_name = $1', ['Anna']);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    // The rollback has ended.
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
    expect([await count(database), await count(database, 'grid_locations')]).toEqual([0, 0]);
  });

  it.each([
    ['keeps its connection', 'SELECT 1', true],
    ['closes its connection, if a statement has failed,', 'SELECT 1 / 0', false],
  ])('%s when it is rolled back', async (_, statement, isKept) => {
    const pids: unknown[] = [];
    const notePid = async (tx: Transaction) =>
      void pids.push((await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]!.pid);
    const failing = database.transaction(async (tx) => {
      await notePid(tx);
      await tx.query(statement);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow();
    await database.transaction(notePid);
    expect(pids[0] === pids[1]).toBe(isKept);
  });

  it('fails with the SQLSTATE of PostgreSQL, whichever of them ran the statement', async () => {
    const twice = user();
    const byPrisma = (tx: Transaction) => tx.prisma.user.create({ data: twice });
    const bySql = (tx: Transaction) => tx.query('SELECT 1 / 0');
    const failure = (work: (tx: Transaction) => Promise<unknown>) =>
      database.transaction(work).catch((error: unknown) => sqlState(error));
    await database.transaction(byPrisma);
    expect([await failure(byPrisma), await failure(bySql)]).toEqual(['23505', '22012']);
  });

  it('runs statements that the server has forgotten, as after DISCARD ALL', async () => {
    const one = prepared('test.one')`SELECT 1 AS one`;
    const forget = () =>
      database.transaction(async (tx) => {
        await tx.query(one);
        await tx.query('DEALLOCATE ALL');
      });
    await forget();
    expect(await database.query(one)).toEqual([{ one: 1 }]);
    await forget();
    expect(await database.transaction((tx) => tx.query(one))).toEqual([{ one: 1 }]);
  });

  it('runs again after a deadlock that Prisma has met', async () => {
    const [one, other] = [user(), user()];
    await database.prisma.user.createMany({ data: [one, other] });
    let runs = 0;
    let locks = 0;
    let bothLocked: () => void = () => {};
    const locked = new Promise<void>((resolve) => (bothLocked = resolve));
    const rename = (first: string, second: string) =>
      database.transaction(async (tx) => {
        if (++runs > 2) await otherEnded;
        await tx.prisma.user.update({ where: { id: first }, data: { firstName: first } });
        if (++locks === 2) bothLocked();
        await locked;
        await tx.prisma.user.update({ where: { id: second }, data: { firstName: first } });
      });
    const renamed = [rename(one.id, other.id), rename(other.id, one.id)];
    const otherEnded = Promise.any(renamed);
    await Promise.all(renamed);
    expect(runs).toBe(3);
  });
});

// Prisma Client joins look-ups of the same tick into one query and distributes its rows.
describe('the database', () => {
  afterEach(() => void jest.restoreAllMocks());

  it.each([true, false])(
    'names its statements for PostgreSQL if it may prepare them: %s',
    async (prepares) => {
      const settings = { DATABASE_PREPARED_STATEMENTS: String(prepares) };
      const other = new Database(environmentFor(testDatabase.url, settings));
      const [one, two] = [prepared('test.one')`SELECT 1`, prepared('test.two')`SELECT 2`];
      const sent = jest.spyOn(other.pool, 'query');
      await other.query(one);
      const [query] = sent.mock.calls[0] as unknown as [{ name?: string }];
      expect(query.name).toBe(prepares ? 'test.one' : undefined);
      const found = await other.transaction(async (tx) => {
        await tx.query(two);
        return tx.query(`SELECT name FROM pg_prepared_statements WHERE name LIKE 'test.%' ORDER BY name`);
      });
      expect(found).toEqual(prepares ? [{ name: 'test.one' }, { name: 'test.two' }] : []);
      await other.onApplicationShutdown();
    },
  );

  it('has no space for 15 seconds after each statement that failed for that', async () => {
    const fill = `DO $$ BEGIN RAISE 'full' USING ERRCODE = '53100'; END $$`;
    const pass = (ms: number) => jest.spyOn(performance, 'now').mockReturnValue(performance.now() + ms);
    expect(database.hasNoSpace()).toBe(false);
    for (const fails of [() => database.query(fill), () => database.transaction((tx) => tx.query(fill))]) {
      await expect(fails()).rejects.toThrow('full');
      pass(14_000);
      expect(database.hasNoSpace()).toBe(true);
      pass(1_001);
      expect(database.hasNoSpace()).toBe(false);
    }
  });
});

describe('a look-up of API keys', () => {
  it('finds each of the keys that are looked up at once, but none that is revoked or unknown', async () => {
    const store = new ApiKeysStore(database);
    const managed = new ManagedKeysStore(database);
    const keys = [];
    for (const name of ['a', 'b', 'c'])
      keys.push(await database.transaction((tx) => managed.create(tx, name, ['users:read'], 'test')));
    await managed.revoke(keys[1]!.id, 'test');
    const hashes = [...keys.map(({ key }) => hashOf(key)), hashOf(newApiKey())];
    const found = await Promise.all(hashes.map((hash) => store.find({ keyHash: hash })));
    expect(found.map((principal) => principal?.name)).toEqual(['a', undefined, 'c', undefined]);
    expect(found[2]).toEqual({ id: keys[2]!.id, name: 'c', scopes: ['users:read'] });
  });
});

describe('counters', () => {
  it('are all columns of type int and smallint but keys', async () => {
    const columns = await database.query<{ name: string }>(
      `SELECT DISTINCT column_name AS name FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type IN ('integer', 'smallint') AND column_name <> 'id' AND table_name NOT LIKE '\\_prisma%'`,
    );
    const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    expect(columns.map(({ name }) => camelCase(name)).sort()).toEqual([...COUNTERS].sort());
  });

  it('are numbers even if a later release has made their columns a bigint, but sequences are texts', async () => {
    const rows = await database.query(
      'SELECT failures::bigint, NULL::bigint AS attempts, 9007199254740993 AS sequence FROM (VALUES (3)) AS row (failures)',
    );
    expect(rows).toEqual([{ failures: 3, attempts: null, sequence: '9007199254740993' }]);
  });
});
