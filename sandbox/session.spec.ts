import { describe, expect, it } from '@jest/globals';
import { SCENARIO_NAMES } from './scenarios.js';
import { applyChange, settle, type Session } from './session.js';
import { State } from './state.js';

const START = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const startSession = (scenario: (typeof SCENARIO_NAMES)[number] = 'by-hand', speed = 1): Session => {
  const state = new State();
  const user = state.registerUser({ tenantReference: 'A-1', eans: ['541448860000000013'] }, START);
  const session = state.startSession(
    user.gridLocations[0]?.id ?? '',
    { lifetimeMs: DAY_MS, scenario, speed },
    START,
  );
  if (session === null) throw new Error('the grid location was not found');
  return session;
};

const flags = ({ finished, active, expired, inverters, deleted }: Session) => ({
  finished,
  active,
  expired,
  inverters: inverters.length,
  deleted,
});

describe('a session of the sandbox', () => {
  it('expires by itself unless it is finished', () => {
    const open = startSession();
    settle(open, START + DAY_MS);
    expect(flags(open)).toMatchObject({ finished: false, active: false, expired: true });
    const online = startSession();
    applyChange(online, { do: 'online', inverters: 1, finished: true }, START);
    settle(online, START + 2 * DAY_MS);
    expect(flags(online)).toMatchObject({ finished: true, expired: false });
  });

  it.each([
    ['happy', { finished: true, active: false, expired: false, inverters: 1 }],
    ['several-inverters', { finished: true, inverters: 3 }],
    ['slow-owner', { finished: true, expired: false, inverters: 1 }],
    ['late-online', { finished: true, expired: false, inverters: 1 }],
    ['late-second-inverter', { finished: true, inverters: 2 }],
    ['listed-before-finished', { finished: true, inverters: 1 }],
    ['inverter-removed', { finished: true, inverters: 1 }],
    ['expired-then-online', { finished: true, active: false, expired: true, inverters: 1 }],
    ['never-completes', { finished: false, active: false, expired: true, inverters: 0 }],
    ['never-online', { finished: false, active: false, expired: true, inverters: 0 }],
    ['lost', { deleted: true }],
    ['by-hand', { finished: false, expired: true, inverters: 0 }],
  ] as const)(
    'ends as the scenario %s describes, whether it is read once or every minute',
    (scenario, end) => {
      const once = startSession(scenario);
      settle(once, START + 2 * DAY_MS);
      expect(flags(once)).toMatchObject(end);

      const often = startSession(scenario);
      for (let now = START; now <= START + 2 * DAY_MS; now += 60_000) settle(often, now);
      expect({ ...flags(often), updatedAt: often.updatedAt }).toEqual({
        ...flags(once),
        updatedAt: once.updatedAt,
      });
    },
  );
});
