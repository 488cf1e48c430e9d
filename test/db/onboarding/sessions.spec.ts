import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ReadHabits } from '../../../src/onboarding/poll/habits.service.js';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { LOCK_ANY_SESSIONS } from '../../../src/onboarding/store/sessions.sql.js';
import { SessionsStore, type BatchReading } from '../../../src/onboarding/store/sessions.store.js';
import type { Database, Transaction } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

const testDatabase = useTestDatabase();
let database: Database;
let sessions: SessionsStore;
/** Claims on connections of its own. */
let polls: PollsStore;

beforeAll(() => {
  const environment = environmentFor(testDatabase.url);
  database = testDatabase.open();
  sessions = new SessionsStore(database, environment);
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

describe('a reading that is written again because its commit was not confirmed', () => {
  /** Returns a claimed read in which the session has come online with an inverter. */
  async function readOnline(): Promise<BatchReading> {
    const sessionId = await insertSession('awaiting_owner');
    const { batchId } = (await polls.claimOne(sessionId))!;
    const at = new Date();
    const flags = { finished: true, active: false, expired: false };
    const times = { updatedAt: at, expiresAt: new Date(at.getTime() + 3_600_000) };
    return {
      sessionId,
      batchId,
      reading: { kind: 'observed', observation: { ...flags, ...times, inverters: [randomUUID()] } },
      response: { httpStatus: 200, body: '{}', hash: '0a'.repeat(20), factsHash: '0b'.repeat(20) },
    };
  }

  async function writtenOf({ sessionId }: BatchReading) {
    const values = [sessionId];
    const events = await database.query<{ name: string }>(
      'SELECT name FROM domain_events WHERE subject = $1 ORDER BY position',
      values,
    );
    const observations = await database.query(
      'SELECT FROM session_observations WHERE session_id = $1::uuid',
      values,
    );
    return { events: events.map(({ name }) => name), observations: observations.length };
  }

  const ONCE = { events: ['session.online', 'inverter.online'], observations: 1 };

  it('is recorded once', async () => {
    const reading = await readOnline();
    expect(await sessions.applyReadings([reading])).toEqual({ stale: 0 });
    expect(await sessions.applyReadings([reading])).toEqual({ stale: 0 });
    expect(await writtenOf(reading)).toEqual(ONCE);
  });

  it('is recorded once if the first commit has not ended', async () => {
    const reading = await readOnline();
    let commit = () => {};
    const mayCommit = new Promise<void>((resolve) => (commit = resolve));
    let isHeld = false;
    wrapWork(async (work, tx) => {
      await tx.query('SET LOCAL lock_timeout = 0');
      const result = await work(tx);
      isHeld = true;
      await mayCommit;
      return result;
    });
    const first = sessions.applyReadings([reading]);
    await waitFor('the first commit is held', () => isHeld);
    const second = sessions.applyReadings([reading]);
    await waitFor('the second attempt waits for the first', async () => {
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return (await database.query(waiting)).length > 0;
    });
    commit();
    expect(await Promise.all([first, second])).toEqual([{ stale: 0 }, { stale: 0 }]);
    expect(await writtenOf(reading)).toEqual(ONCE);
  });
});
