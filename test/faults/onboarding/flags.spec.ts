import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type {
  Observation,
  SessionState,
  Classification,
} from '../../../src/onboarding/rules/machine.rules.js';
import { waitFor } from '../../setup/wait-for.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import type { Replicas } from '../support/replicas.js';

const A = '5c2b3b6e-6f0e-4c5c-9f51-0f3a53d3b001';
const B = '5c2b3b6e-6f0e-4c5c-9f51-0f3a53d3b002';
const ABSENT = 'absent';

interface Flags {
  readonly finished: boolean;
  readonly active: boolean;
  readonly expired: boolean | typeof ABSENT;
  readonly inverters: readonly string[] | null | typeof ABSENT;
  readonly moved: boolean;
}

const EVERY: readonly Flags[] = [true, false].flatMap((finished) =>
  [true, false].flatMap((active) =>
    [true, false, ABSENT].flatMap((expired) =>
      [ABSENT, null, [], [A], [A, B]].flatMap((inverters) =>
        [true, false].map((moved) => ({ finished, active, expired, inverters, moved }) as Flags),
      ),
    ),
  ),
);

/** Returns the state that docs/ and the API describe. The first match wins. */
function stateOf({ finished, active, expired, inverters, moved }: Flags): SessionState {
  const listed = Array.isArray(inverters) && inverters.length > 0;
  const isOpen = !finished && active && expired !== true;
  if (finished && listed) return 'online';
  if (expired === true) return 'expired';
  if (isOpen && (listed || moved)) return 'awaiting_installation';
  return isOpen ? 'awaiting_owner' : 'unrecognised';
}

const AS_STARTED: Flags = { finished: false, active: true, expired: false, inverters: [], moved: false };
const PREVIOUS: Readonly<Record<string, Flags>> = {
  awaiting_owner: AS_STARTED,
  awaiting_installation: { ...AS_STARTED, moved: true },
  expired: { ...AS_STARTED, active: false, expired: true },
  unrecognised: { ...AS_STARTED, active: false },
  online: { ...AS_STARTED, finished: true, active: false, inverters: [A] },
};

interface Case {
  readonly previous: string;
  readonly flags: Flags;
}

const ALL: readonly Case[] = Object.keys(PREVIOUS).flatMap((previous) =>
  EVERY.map((flags) => ({ previous, flags })),
);
const EACH_ONCE: readonly Case[] = EVERY.map((flags, index) => ({
  previous: Object.keys(PREVIOUS)[index % 5]!,
  flags,
}));
const CASES = isLong ? ALL : EACH_ONCE;

let replicas: Replicas;
afterEach(async () => {
  await replicas.close();
  jest.resetModules();
});

/** Runs each case on a session of its own. Describes each case whose state differs from `stateOf`. */
async function exceptions(cases: readonly Case[]): Promise<string[]> {
  const { startReplicas } = await import('../support/replicas.js');
  const { seedSessions } = await import('../support/seeded-sessions.js');
  const { Database } = await import('../../../src/platform/database/database.js');
  replicas = await startReplicas({ count: 1, environment: { POLL_MAX_INTERVAL_MS: 500 } });
  const { control } = replicas.sandbox;
  const database = replicas.apps[0]!.app.get(Database);
  const ids = await seedSessions(database, control, cases.length);
  const started = new Map(
    (await control.sessions()).map(({ sessionId, updatedAt }) => [sessionId, updatedAt]),
  );

  const readAll = async (flagsOf: (one: Case) => Flags) => {
    const change = async (id: string, index: number) => {
      const { finished, active, expired, inverters, moved } = flagsOf(cases[index]!);
      const startedAt = Date.parse(started.get(id)!);
      const fields = {
        finished,
        active,
        expired,
        inverters: Array.isArray(inverters) ? inverters.map((inverter) => ({ id: inverter })) : inverters,
        updatedAt: new Date(startedAt + (moved ? 60_000 : 0)).toISOString(),
      };
      const absent = Object.entries(fields).filter(([, value]) => value === ABSENT);
      await control.fields(id, {
        set: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ABSENT)),
        absent: absent.map(([name]) => name),
      });
    };
    await Promise.all(ids.map(change));
    const [set] = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    await waitFor('every response was read', async () => {
      const rows = await database.query('SELECT FROM session_polls WHERE checked_at > $1 AND failures = 0', [
        set!.now,
      ]);
      return rows.length === ids.length;
    });
    const rows = await database.query<{ id: string; state: string }>(
      'SELECT id, state FROM onboarding_sessions',
    );
    return new Map(rows.map(({ id, state }) => [id, state]));
  };

  const before = await readAll(({ previous }) => PREVIOUS[previous]!);
  const after = await readAll(({ flags }) => flags);
  return cases.flatMap(({ previous, flags }, index) => {
    const id = ids[index]!;
    const expected = previous === 'online' ? 'online' : stateOf(flags);
    const found = `${before.get(id)} then ${after.get(id)}`;
    return found === `${previous} then ${expected}`
      ? []
      : [`${found}, not ${previous} then ${expected}: ${JSON.stringify(flags)}`];
  });
}

describe('R20: every combination of flags has one meaning', () => {
  it('from every previous state, and online is never left', async () => {
    const found = await exceptions(CASES);
    promise('R20', {
      figure: `${found.length} exceptions in ${CASES.length} cases, in the service`,
      bound: '0',
    });
    expect(found).toEqual([]);
  });

  itAtLength('turns red when the flags are checked one after the other', async () => {
    const machine = await import('../../../src/onboarding/rules/machine.rules.js');
    const mutant = (state: SessionState): Classification => ({ state, basis: 'observed', rule: 'mutant' });
    const classify = (seen: Observation): Classification => {
      if (seen.finished) return mutant('online');
      if (seen.expired) return mutant('expired');
      return mutant(seen.active ? 'awaiting_owner' : 'unrecognised');
    };
    const next = (previous: SessionState | null, classification: Classification) =>
      previous === classification.state ? null : classification;
    jest.resetModules();
    jest.unstable_mockModule('../../../src/onboarding/rules/machine.rules.js', () => ({
      ...machine,
      classify,
      next,
    }));
    const found = await exceptions(EACH_ONCE);
    expect(found.length).toBeGreaterThan(EVERY.length / 5);
    expect(found.some((text) => text.startsWith('online then expired'))).toBe(true);
  });
});
