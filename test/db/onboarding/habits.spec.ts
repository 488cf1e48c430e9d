import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { countHabits, findKnownHabits, findUsualWaits } from '../../../src/brands/habits.store.js';
import { habitAgeOf } from '../../../src/brands/habits.rules.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const testDatabase = useTestDatabase();
const database = testDatabase.open();

beforeEach(async () => {
  await database.query('TRUNCATE users, read_habits, brand_waits CASCADE');
});

const ago = (seconds: number) => new Date(Date.now() - 1_000 * seconds);

/** Inserts a session with a transition to each state. `age`: how many seconds ago the transition was. */
async function insertSession(
  brand: string | null,
  startedAgo: number,
  states: readonly (readonly [state: string, age: number])[],
  values: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const startedAt = ago(startedAgo).getTime();
  const { userId, gridLocationId } = await insertCustomer(database.pool);
  const session = { id: randomUUID(), user_id: userId, grid_location_id: gridLocationId, brand, ...values };
  await insertRow(database.pool, 'onboarding_sessions', session);
  for (const [state, age] of states)
    await insertRow(database.pool, 'session_transitions', {
      session_id: session.id,
      to_state: state,
      basis: state === 'awaiting_installation' ? 'inferred' : 'observed',
      at: new Date(startedAt + 1_000 * age),
    });
}

const counted = () =>
  database.query(
    `SELECT brand, phase, age, changed, ended, seconds FROM read_habits ORDER BY brand, phase, age`,
  );

/** Returns the row that counts stays which ended at these ages, in seconds. */
function row(brand: string, phase: string, changed: number, ...ages: readonly number[]) {
  const age = habitAgeOf(ages[0]!);
  const seconds = ages.reduce((sum, seconds) => sum + seconds - Math.exp(age / 2), 0);
  return { brand, phase, age, changed, ended: ages.length, seconds: expect.closeTo(seconds, -1) };
}

describe('the habits of brands', () => {
  it('count by brand how long sessions stay in each phase, and how they leave it', async () => {
    const online = [
      ['awaiting_owner', 0],
      ['awaiting_installation', 8 * MINUTE],
      ['online', 3 * HOUR],
    ] as const;
    await insertSession('acme', 5 * DAY, online);
    await insertSession('acme', 6 * DAY, online);
    await insertSession(null, 6 * DAY, online);
    await insertSession('other', 6 * DAY, [
      ['awaiting_owner', 0],
      ['expired', DAY],
      ['online', 2 * DAY],
    ]);
    await countHabits(database);
    expect(await counted()).toEqual([
      row('acme', 'awaiting_installation', 2, 172 * MINUTE, 172 * MINUTE),
      row('acme', 'awaiting_owner', 2, 8 * MINUTE, 8 * MINUTE),
      row('other', 'awaiting_owner', 0, DAY),
      row('other', 'late', 1, DAY),
    ]);
  });

  it('count stays that continue until now, and those of closed and erased sessions until the close', async () => {
    await insertSession('acme', 2 * HOUR, [['awaiting_owner', 0]]);
    await insertSession('acme', 60 * DAY, [['awaiting_owner', 0]], {
      closed_at: ago(60 * DAY - 2 * HOUR),
      close_reason: 'erased',
    });
    await insertSession('acme', 60 * DAY, [['unrecognised', 0]]);
    await countHabits(database);
    expect(await counted()).toEqual([row('acme', 'awaiting_owner', 0, 2 * HOUR, 2 * HOUR)]);
  });

  it('count expired and then lost as one stay', async () => {
    await insertSession('acme', 5 * DAY, [
      ['expired', 0],
      ['lost', HOUR],
      ['online', DAY],
    ]);
    await countHabits(database);
    expect(await counted()).toEqual([row('acme', 'late', 1, DAY)]);
  });

  it('leave out stays that began over 90 days ago', async () => {
    const states = [
      ['awaiting_owner', 0],
      ['online', HOUR],
    ] as const;
    await insertSession('acme', 91 * DAY, states);
    await insertSession('acme', 89 * DAY, states);
    await countHabits(database);
    expect(await counted()).toEqual([row('acme', 'awaiting_owner', 1, HOUR)]);
  });

  it('include later changes of the same sessions when they are counted again', async () => {
    await insertSession('acme', 2 * HOUR, [['awaiting_owner', 0]]);
    await countHabits(database);
    expect(await counted()).toMatchObject([{ changed: 0, ended: 1 }]);
    await database.query(
      `INSERT INTO session_transitions (session_id, to_state, basis, rule, at) SELECT id, 'online', 'observed', 'test', now() FROM onboarding_sessions`,
    );
    await countHabits(database);
    expect(await counted()).toMatchObject([{ changed: 1, ended: 1 }]);
  });

  it('stay as they are if they cannot be counted', async () => {
    await insertSession('acme', 2 * HOUR, [['awaiting_owner', 0]]);
    await countHabits(database);
    await database.query('ALTER TABLE session_transitions RENAME TO hidden');
    await expect(countHabits(database)).rejects.toThrow('session_transitions');
    await database.query('ALTER TABLE hidden RENAME TO session_transitions');
    expect(await counted()).toHaveLength(1);
  });

  it('are not counted while no session has a brand', async () => {
    await insertSession(null, 2 * HOUR, [['awaiting_owner', 0]]);
    await countHabits(database);
    expect(await counted()).toEqual([]);
  });

  it('are used from 200 changes on', async () => {
    await database.query(
      `INSERT INTO read_habits VALUES ('few', 'late', 10, 199, 900, 5), ('many', 'late', 10, 100, 900, 5), ('many', 'late', 12, 100, 100, 7)`,
    );
    expect(await findKnownHabits(database)).toEqual([
      {
        brand: 'many',
        phase: 'late',
        counts: expect.arrayContaining([
          { age: 10, changed: 100, ended: 900, seconds: 5 },
          { age: 12, changed: 100, ended: 100, seconds: 7 },
        ]),
      },
    ]);
  });

  it('include how long a brand waits for its installation, once 20 waits are known', async () => {
    const online = async (brand: string, waited: number, age = DAY) =>
      insertSession(brand, age, [
        ['awaiting_owner', 0],
        ['awaiting_installation', HOUR],
        ['unrecognised', HOUR + MINUTE],
        ['awaiting_installation', HOUR + 2 * MINUTE],
        ['online', HOUR + waited * MINUTE],
      ]);
    for (let waited = 1; waited <= 20; waited++) await online('acme', waited);
    for (let waited = 1; waited <= 19; waited++) await online('rare', waited);
    await online('rare', 5, 91 * DAY);
    await insertSession('acme', DAY, [
      ['awaiting_owner', 0],
      ['online', HOUR],
    ]);
    await insertSession('acme', DAY, [['awaiting_installation', 0]]);
    await countHabits(database);
    const usual = { brand: 'acme', p50Seconds: 10 * MINUTE, p95Seconds: 19 * MINUTE, known: 20 };
    expect(await findUsualWaits(database)).toEqual([usual]);
    expect(await database.query('SELECT * FROM admin.brand_waits')).toEqual([
      { brand: 'acme', p50_seconds: 600, p95_seconds: 1_140, known: 20 },
    ]);
  });

  it('are shown to administrators', async () => {
    await database.query(
      `INSERT INTO read_habits VALUES ('acme', 'late', 10, 1, 9, 5), ('acme', 'late', 12, 2, 2, 7)`,
    );
    expect(
      await database.query(
        'SELECT brand, phase, from_seconds::int, changed, known_changes::int FROM admin.read_habits ORDER BY from_seconds',
      ),
    ).toEqual([
      { brand: 'acme', phase: 'late', from_seconds: 148, changed: 1, known_changes: 3 },
      { brand: 'acme', phase: 'late', from_seconds: 403, changed: 2, known_changes: 3 },
    ]);
  });
});
