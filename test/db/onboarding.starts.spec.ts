import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { FIND_OPEN_SESSION } from '../../src/onboarding/sessions.sql.js';
import { BEGIN_START, FAIL_START, LET_GO_START, TAKE_OVER_START } from '../../src/onboarding/starts.sql.js';
import { StartsStore, type WantedSession } from '../../src/onboarding/starts.store.js';
import { Database, type Statement } from '../../src/platform/database/database.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { environmentFor } from '../setup/test-environment.js';
import { waitFor } from '../setup/wait-for.js';
import { insertCustomer, insertRow } from './valid-rows.js';

let testDatabase: TestDatabase;
let database: Database;
let store: StartsStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const environment = environmentFor(testDatabase.url);
  database = new Database(environment);
  store = new StartsStore(database, environment);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await database.onApplicationShutdown();
  await testDatabase.drop();
});

async function wanted(abandoned?: { attempts: number }): Promise<WantedSession> {
  const client = await database.pool.connect();
  try {
    const { gridLocationId } = await insertCustomer(client);
    if (abandoned)
      await insertRow(client, 'session_starts', { grid_location_id: gridLocationId, ...abandoned });
    return { gridLocationId, brand: null, metadata: {}, reuse: true };
  } finally {
    client.release();
  }
}

interface Loss {
  readonly of: Statement;
  /** Which of its runs loses the connection, from 1. */
  readonly run: number;
  /** Whether it is lost with the answer, or before anything was done. */
  readonly when: 'before' | 'after';
}

function lose(...losses: readonly Loss[]): void {
  const query = database.query.bind(database);
  const runs = new Map<unknown, number>();
  jest.spyOn(database, 'query').mockImplementation(async (statement, values) => {
    const run = (runs.get(statement) ?? 0) + 1;
    runs.set(statement, run);
    const loss = losses.find((one) => one.of === statement && one.run === run);
    if (loss === undefined) return query(statement, values);
    if (loss.when === 'after') await query(statement, values);
    throw new Error('Connection terminated unexpectedly');
  });
}

const startsOf = ({ gridLocationId }: WantedSession) =>
  database.query<{ status: string; attempts: number; orphans: number }>(
    'SELECT status, attempts, orphans FROM session_starts WHERE grid_location_id = $1',
    [gridLocationId],
  );

const lost = { message: 'Connection terminated unexpectedly' };

describe('a start that nothing was sent for is no orphan', () => {
  it('when the answer to its commit was lost', async () => {
    const place = await wanted();
    lose({ of: BEGIN_START, run: 1, when: 'after' });
    await expect(store.begin(place)).rejects.toMatchObject(lost);
    await waitFor('it is gone', async () => (await startsOf(place)).length === 0);
    expect(await store.begin(place)).toMatchObject({ kind: 'begun', start: { attempts: 1 } });
  });

  it('when the database is lost right after it, and is back later', async () => {
    const place = await wanted();
    // Its first run comes before anything is written.
    lose({ of: FIND_OPEN_SESSION, run: 2, when: 'before' }, { of: LET_GO_START, run: 1, when: 'before' });
    await expect(store.begin(place)).rejects.toMatchObject(lost);
    await waitFor('it is gone', async () => (await startsOf(place)).length === 0);
  });

  it('when the answer to its take-over was lost: the one before counts, and no more', async () => {
    const place = await wanted({ attempts: 1 });
    lose({ of: TAKE_OVER_START, run: 1, when: 'after' });
    await expect(store.begin(place)).rejects.toMatchObject(lost);
    await waitFor('it has failed', async () => (await startsOf(place))[0]?.status === 'failed');
    expect(await startsOf(place)).toEqual([{ status: 'failed', attempts: 2, orphans: 1 }]);
  });

  it('when the database is away as the call turns out not to have been sent', async () => {
    const place = await wanted();
    const begun = await store.begin(place);
    if (begun.kind !== 'begun') throw new Error(`it is ${begun.kind}`);
    lose({ of: FAIL_START, run: 1, when: 'before' }, { of: FAIL_START, run: 2, when: 'before' });
    await expect(store.fail(begun.start, 'circuit open', 0)).rejects.toMatchObject(lost);
    await waitFor('it has failed', async () => (await startsOf(place))[0]?.status === 'failed');
    expect(await startsOf(place)).toEqual([{ status: 'failed', attempts: 1, orphans: 0 }]);
  });
});
