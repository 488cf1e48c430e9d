import type { Change, PlannedChange } from './session.js';

interface Scenario {
  readonly describes: string;
  readonly steps: readonly { readonly afterMinutes: number; readonly change: Change }[];
}

const MINUTE_MS = 60_000;
const HOUR = 60;

const completed = (afterMinutes: number) => ({ afterMinutes, change: { do: 'complete' } }) as const;
const expired = (afterMinutes: number) => ({ afterMinutes, change: { do: 'expire' } }) as const;
const online = (afterMinutes: number, inverters = 1) =>
  ({ afterMinutes, change: { do: 'online', inverters, finished: true } }) as const;

/** The changes that a scenario makes to a session, and when they are due at speed 1. */
export const SCENARIOS = {
  'by-hand': { describes: 'nothing happens until the owner or the control API acts', steps: [] },
  happy: { describes: 'completed after 2 minutes, online after 5', steps: [completed(2), online(5)] },
  'several-inverters': {
    describes: 'completed after 2 minutes, online with three inverters after 5',
    steps: [completed(2), online(5, 3)],
  },
  'slow-owner': {
    describes: 'completed after 20 hours, online 10 minutes later',
    steps: [completed(20 * HOUR), online(20 * HOUR + 10)],
  },
  'late-online': {
    describes: 'completed after 5 minutes, online after 18 hours',
    steps: [completed(5), online(18 * HOUR)],
  },
  'late-second-inverter': {
    describes: 'completed after 5 minutes, online after 10, a second inverter after 30 hours',
    steps: [completed(5), online(10), online(30 * HOUR)],
  },
  'listed-before-finished': {
    describes:
      'completed after 5 minutes, an inverter listed after 10 while finished is false, finished after 15',
    steps: [
      completed(5),
      { afterMinutes: 10, change: { do: 'online', inverters: 1, finished: false } },
      { afterMinutes: 15, change: { do: 'online', inverters: 0, finished: true } },
    ],
  },
  'inverter-removed': {
    describes: 'online with two inverters after 10 minutes, one of them no longer listed after 2 hours',
    steps: [completed(5), online(10, 2), { afterMinutes: 2 * HOUR, change: { do: 'remove_inverter' } }],
  },
  'expired-then-online': {
    describes: 'completed after 5 minutes, expired after 24 hours, online after 30',
    steps: [completed(5), expired(24 * HOUR), online(30 * HOUR)],
  },
  'never-completes': { describes: 'expired after 24 hours', steps: [expired(24 * HOUR)] },
  'never-online': {
    describes: 'completed after 5 minutes, expired after 24 hours',
    steps: [completed(5), expired(24 * HOUR)],
  },
  unrecognised: {
    describes: 'completed after 5 minutes, finished without an inverter after 10',
    steps: [
      completed(5),
      {
        afterMinutes: 10,
        change: {
          do: 'override',
          override: { set: { finished: true, active: false, inverters: [] }, absent: [] },
        },
      },
    ],
  },
  lost: {
    describes: 'not found from 10 minutes after the start',
    steps: [{ afterMinutes: 10, change: { do: 'delete' } }],
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[];

/** Returns the changes of a scenario with their due times. `speed` divides every delay: at 3600, an hour takes a second. */
export const planScenario = (name: ScenarioName, speed: number, now: number): PlannedChange[] => {
  const scenario: Scenario = SCENARIOS[name];
  return scenario.steps.map(({ afterMinutes, change }) => ({
    dueAt: now + Math.floor((afterMinutes * MINUTE_MS) / speed),
    change,
  }));
};
