import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { LearnedSchedules } from '../../../src/onboarding/poll/learned-schedules.js';
import { ReadHabits } from '../../../src/brands/habits.service.js';
import { ReadBudget } from '../../../src/onboarding/poll/read-budget.service.js';
import { ReadBudgetStore } from '../../../src/onboarding/poll/read-budget.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const HISTORY = 250;

const service = useTestApp({ POLL_MIN_INTERVAL_MS: 15_000, POLL_MAX_INTERVAL_MS: 900_000 });
const client = TestClient.of(service);
let sandbox: SandboxControl;
let database: Database;

beforeAll(() => {
  sandbox = service.sandbox!.control;
  database = service.database;
});

/** Inserts closed sessions of a brand whose installers took about `hours`. */
async function insertHistory(brand: string, hours: number): Promise<void> {
  const place = await client.locate();
  await database.query(
    `WITH sessions AS (
       INSERT INTO onboarding_sessions (id, user_id, grid_location_id, brand, metadata, state, basis, rule, finished, active, created_at, updated_at,
                                        expires_at, started_updated_at, state_changed_at, last_checked_at, superseded_at, closed_at, close_reason)
       SELECT gen_random_uuid(), user_id, id, $2, '{}', 'online', 'observed', 'test', true, false, now(), now(),
              now(), now(), now(), now(), now(), now(), 'settled'
         FROM grid_locations, generate_series(1, ${HISTORY}) WHERE id = $1
       RETURNING id)
     INSERT INTO session_transitions (session_id, to_state, basis, rule, at)
     SELECT id, t.state, t.basis, 'test', now() - interval '60 days' + t.hours * interval '1 hour'
       FROM (SELECT id, row_number() OVER () / ${HISTORY}::float8 AS share FROM sessions) s,
            LATERAL (VALUES (1, 'awaiting_owner', 'observed', 0::float8), (2, 'awaiting_installation', 'inferred', 0.1), (3, 'online', 'observed', 0.1 + $3::float8 * (0.5 + share)))
              AS t(step, state, basis, hours)
      ORDER BY id, step`,
    [place, brand, hours],
  );
}

/** Starts a session that has awaited its installation for `hours`. Returns the interval that its next claim plans, in seconds. */
async function intervalAfter(brand: string, hours: number): Promise<number> {
  const { id } = await client.startNew({ brand });
  // Holds the response, because a response would plan the next read again.
  const { id: fault } = await sandbox.addFault({ kind: 'hold', operation: 'read_session', contains: id });
  await database.query(
    `UPDATE onboarding_sessions SET recorded_at = recorded_at - interval '3 days' WHERE id = $1`,
    [id],
  );
  await database.query(
    `UPDATE session_polls SET phase = 'awaiting_installation', anchor_at = now() - $2 * interval '1 hour', due_at = now() - interval '1 ms' WHERE session_id = $1`,
    [id, hours],
  );
  const planned = async () =>
    (
      await database.query<{ seconds: number }>(
        `SELECT date_part('epoch', due_at - claimed_at) AS seconds FROM session_polls
          WHERE session_id = $1 AND due_at > now() AND claimed_at > anchor_at + interval '1 minute'`,
        [id],
      )
    )[0];
  const { seconds } = await waitFor('the read', planned);
  await sandbox.release(fault);
  return seconds;
}

describe('sessions of brands with different habits', () => {
  it('are read when the changes of their brand are likely', async () => {
    await insertHistory('fast', 2);
    await insertHistory('slow', 10);
    const before = [await intervalAfter('fast', 1.5), await intervalAfter('slow', 1.5)];
    for (const seconds of before) expect(seconds / before[0]!).toBeCloseTo(1, 0);

    await service.app.get(ReadHabits).count();

    const ofFast = await intervalAfter('fast', 1.5);
    const ofSlow = await intervalAfter('slow', 1.5);
    const ofUnknown = await intervalAfter('unknown', 1.5);
    expect(ofFast).toBeLessThan(before[0]! / 1.2);
    expect(ofSlow).toBeGreaterThan(before[1]! * 1.2);
    expect(ofSlow).toBeGreaterThan(2 * ofFast);
    expect(ofUnknown / before[0]!).toBeCloseTo(1, 0);
    expect(await intervalAfter('slow', 10)).toBeLessThan(ofSlow);
  });

  it('are counted by brand, the unknown ones together', async () => {
    const { brands } = service.app.get(LearnedSchedules);
    expect(brands.toSorted()).toEqual(['fast', 'slow']);
    const count = async (known: readonly string[]) =>
      new Set((await service.app.get(ReadBudgetStore).countByAge(known)).map(({ brand }) => brand));
    expect(await count(brands)).toEqual(new Set(['fast', 'slow', null]));
    expect(await count([])).toEqual(new Set([null]));
  });

  it('want as many reads as their learned intervals require', async () => {
    await database.query(
      `DELETE FROM session_polls p USING onboarding_sessions s WHERE s.id = p.session_id AND s.brand <> 'fast'`,
    );
    const measure = () => service.app.get(ReadBudget)['countWanted']();
    const learned = await measure();
    const known = jest.spyOn(service.app.get(LearnedSchedules), 'of').mockReturnValue(undefined);
    const assumed = await measure();
    known.mockRestore();
    // At this age, sessions of the brand `fast` are read more often than by the assumed schedule.
    expect(learned).toBeGreaterThan(1.1 * assumed);
  });
});
