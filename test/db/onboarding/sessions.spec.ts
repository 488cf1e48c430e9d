import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ReadHabits } from '../../../src/onboarding/poll/habits.service.js';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { LOCK_ANY_SESSIONS } from '../../../src/onboarding/store/sessions.sql.js';
import { SessionsStore } from '../../../src/onboarding/store/sessions.store.js';
import { Metrics } from '../../../src/observability/metrics/metrics.js';
import type { Database, Transaction } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

const testDatabase = useTestDatabase();
let database: Database;
let sessions: SessionsStore;
/** Claims on connections of its own. */
let polls: PollsStore;

beforeAll(() => {
  const environment = environmentFor(testDatabase.url);
  database = testDatabase.open();
  sessions = new SessionsStore(database, environment, new Metrics());
  const other = testDatabase.open();
  polls = new PollsStore(other, environment, new ReadHabits(other, environment));
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Changes how the work of each transaction of `database` runs. */
function wrapWork(wrap: <T>(work: (tx: Transaction) => Promise<T>, tx: Transaction) => Promise<T>): void {
  const transaction = database.transaction.bind(database);
  jest.spyOn(database, 'transaction').mockImplementation((work) => transaction((tx) => wrap(work, tx)));
}

/** Inserts a watched session. Returns its id. */
async function insertSession(state: 'awaiting_owner' | 'unrecognised'): Promise<string> {
  const { userId, gridLocationId } = await insertCustomer(database.pool);
  const id = randomUUID();
  const session = { id, user_id: userId, grid_location_id: gridLocationId, state };
  await insertRow(database.pool, 'onboarding_sessions', session);
  const poll = { session_id: id, user_id: userId, phase: state, anchor_at: 'yesterday' };
  await insertRow(database.pool, 'session_polls', poll);
  return id;
}

describe('re-derived states', () => {
  it('change how a session is watched that a worker claims meanwhile', async () => {
    const id = await insertSession('unrecognised');
    let claims = 0;
    wrapWork((work, tx) =>
      work({
        ...tx,
        query: async (statement, values) => {
          const rows = await tx.query<never>(statement, values);
          if (statement === LOCK_ANY_SESSIONS && (await polls.claimOne(id)) !== undefined) claims++;
          return rows;
        },
      }),
    );
    const classification = { state: 'online', basis: 'observed', rule: 'finished_with_inverters' } as const;
    expect(await sessions.applyRederived([{ id, from: 'unrecognised', classification }], 'cli')).toBe(1);
    expect(claims).toBe(1);
    expect(
      await database.query(
        `SELECT phase, anchor_at > clock_timestamp() - interval '1 hour' AS "isNew" FROM session_polls WHERE session_id = $1`,
        [id],
      ),
    ).toEqual([{ phase: 'settling', isNew: true }]);
  });
});
