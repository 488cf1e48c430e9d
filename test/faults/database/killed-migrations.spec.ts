import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CATALOGUE } from '../../../scripts/check/catalogue.js';
import { migrate } from '../../../src/platform/database/migrations/migrate.js';
import { readMigrations } from '../../../src/platform/database/migrations/script.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { startTestProcess } from '../../setup/processes/test-process.js';
import { withClient } from '../../setup/database/with-client.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { PHASES, watchStatements, type Phase } from '../support/statements.js';

const KILLS = isLong ? 200 : 6;
const AT_ONCE = 3;
const MIGRATING = 'test/faults/support/processes/killed-migration.process.ts';

/** Selects the content of a migrated database: its catalogue, and the records of the applied migrations. */
const CONTENT = `
  ${CATALOGUE}
  UNION ALL SELECT 'function ' || oid::regprocedure FROM pg_proc
    WHERE pronamespace IN ('public'::regnamespace, 'admin'::regnamespace)
  UNION ALL SELECT 'view ' || oid::regclass || pg_get_viewdef(oid) FROM pg_class WHERE relnamespace = 'admin'::regnamespace AND relkind = 'v'
  UNION ALL SELECT 'invalid index ' || indexrelid::regclass FROM pg_index WHERE NOT indisvalid
  UNION ALL SELECT 'migration ' || migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL
  UNION ALL SELECT 'begun migration ' || migration_name FROM _prisma_migrations WHERE finished_at IS NULL AND rolled_back_at IS NULL
  ORDER BY 1`;

const contentOf = (url: string): Promise<string[]> =>
  withClient(url, async (client) =>
    (await client.query<{ fact: string }>(CONTENT)).rows.map(({ fact }) => fact),
  );

interface Moment {
  readonly statement: number;
  readonly phase: Phase;
}

/** The statements and the result of a complete migration of an empty database. */
let statements: string[];
let content: string[];
const databases: TestDatabase[] = [];

beforeAll(async () => {
  const database = await createEmpty();
  statements = [];
  const unwatch = watchStatements({
    reached: (phase, _, text) => {
      if (phase === 'unsent') statements.push(text);
    },
  });
  await migrate(database.url);
  unwatch();
  content = await contentOf(database.url);
});
afterAll(async () => {
  for (const database of databases) await database.drop();
});

async function createEmpty(): Promise<TestDatabase> {
  const database = await createTestDatabase('empty');
  databases.push(database);
  return database;
}

/** Starts the migration of an empty database in a process, which is killed at the moment. */
async function killAt(database: TestDatabase, moment: Moment, apart: boolean): Promise<void> {
  const victim = await startTestProcess(MIGRATING, {
    DATABASE_URL: database.url,
    KILL_STATEMENT: String(moment.statement),
    KILL_PHASE: moment.phase,
    APART: String(apart),
  });
  const { signal } = await victim.exited;
  if (signal !== 'SIGKILL')
    throw new Error(`it was not killed at ${JSON.stringify(moment)}:\n${victim.logs()}`);
}

/** Kills a migration at the moment, then migrates again. Returns how the result differs from `content`. */
async function faultsAfter(moment: Moment, apart = false): Promise<string[]> {
  const database = await createEmpty();
  await killAt(database, moment, apart);
  const at = `${moment.phase} ${moment.statement}: `;
  try {
    await migrate(database.url);
    const found = await contentOf(database.url);
    if (await migrate(database.url).then((names) => names.length > 0)) return [`${at}applied twice`];
    return [
      ...found.filter((fact) => !content.includes(fact)).map((fact) => `${at}unexpected ${fact}`),
      ...content.filter((fact) => !found.includes(fact)).map((fact) => `${at}missing ${fact}`),
      ...(found.length === content.length ? [] : [`${at}${found.length} instead of ${content.length} facts`]),
    ];
  } catch (error) {
    return [at + String(error)];
  }
}

/** Returns `count` moments, evenly spread over a migration. */
function momentsOf(count: number): Moment[] {
  const all = statements.flatMap((_, statement) => PHASES.map((phase) => ({ statement, phase })));
  return Array.from({ length: count }, (_, nth) => all[Math.floor(((nth + 0.5) * all.length) / count)]!);
}

const scriptOf = (text: string): number => statements.findIndex((statement) => statement.includes(text));

describe('R69: a process may be killed in a migration', () => {
  it(
    'at any moment, and the next start is in order',
    async () => {
      const left = momentsOf(KILLS);
      const faults: string[] = [];
      const work = async (): Promise<void> => {
        for (let next = left.pop(); next !== undefined; next = left.pop())
          faults.push(...(await faultsAfter(next)));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      promise('R69', {
        figure: `${KILLS} kills in ${(await readMigrations()).length} migrations (${statements.length} statements), ${faults.length} faults`,
        bound: '0',
      });
      expect(faults).toEqual([]);
    },
    isLong ? 1_800_000 : undefined,
  );

  itAtLength('turns red if the record comes first, in a transaction of its own', async () => {
    const moment: Moment = { statement: scriptOf('CREATE TABLE users'), phase: 'returned' };
    expect(await faultsAfter(moment)).toEqual([]);
    expect(await faultsAfter(moment, true)).not.toEqual([]);
  });
});
