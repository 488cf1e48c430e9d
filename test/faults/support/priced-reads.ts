import {
  AGES_PER_E,
  wantedPerSecond,
  type AgeGroup,
  type Price,
  type PriceFacts,
} from '../../../src/onboarding/rules/price.rules.js';
import {
  planNextReadMs,
  type Phase,
  type ScheduleSettings,
} from '../../../src/onboarding/rules/schedule.rules.js';

const SETTINGS: ScheduleSettings = {
  minIntervalMs: 15_000,
  maxIntervalMs: 900_000,
  settleMs: 0,
  lateMs: 0,
  endEvidenceMs: 0,
};
const STEP_SECONDS = 15;

/** A controller: returns the price after a step. `arrived`: the sessions that became due since the last step. */
export type Controller = (price: Price, facts: PriceFacts & { arrived: number; waiting: number }) => Price;

/** The seeded bug of R43: follows the last sample of what became due and waits, regardless of the reads already planned. */
export const reactsToEverySample: Controller = (price, { arrived, waiting, ceilingPerSecond }) => ({
  ...price,
  stretch: Math.max(1, (price.stretch * (arrived + waiting)) / STEP_SECONDS / ceilingPerSecond),
});

export interface Conditions {
  /** The requests per second that the remote service serves. */
  readonly served: number;
  /** SCS_MAX_REQUESTS_PER_SECOND. Default: as many as are served. */
  readonly ceiling?: number;
  /** The share of the reads that the poller counts: not those that fail or for which a caller waits. Default: 1. */
  readonly counted?: number;
  readonly isHealthy?: boolean;
}

export interface SimulatedStep {
  readonly stretch: number;
  /** The stretch at which all reads just fit. */
  readonly target: number;
  readonly reads: number;
  /** The sessions that are due at its end. */
  readonly waiting: number;
}

/**
 * Simulates the reads of `count` sessions, second by second, the longest overdue first, and a step of the price every 15 seconds. Begins with
 * the stretch at which all reads just fit, and with sessions somewhere in their intervals, so nothing waits.
 */
export function simulateReads(
  count: number,
  steps: number,
  conditions: (step: number) => Conditions,
  decide: Controller,
  random: () => number,
): SimulatedStep[] {
  // Ages from a minute to 11 days, each order of magnitude alike. They stay, as in a deployment where as many sessions start as end.
  const phases: readonly Phase[] = ['awaiting_owner', 'awaiting_installation', 'settling', 'late'];
  const sessions = Array.from({ length: count }, (_, i) => ({
    phase: phases[i % phases.length]!,
    ageSeconds: 60 * 10 ** (4.2 * random()),
  }));
  const wanted = wantedPerSecond(groupByAge(sessions), SETTINGS);
  const first = conditions(0);
  let price: Price = {
    stretch: Math.max(1, wanted / (0.97 * first.served)),
    capacityPerSecond: null,
    ceilingPerSecond: first.ceiling ?? first.served,
    wasBehind: false,
    readPerSecond: 0,
  };
  const dueAt = new Map<number, number[]>();
  const plan = (session: number, second: number, part = 1) => {
    const { phase, ageSeconds } = sessions[session]!;
    const anchorAt = new Date((second - ageSeconds) * 1_000);
    const now = new Date(second * 1_000);
    const ms = planNextReadMs({ phase, anchorAt, failures: 0 }, now, SETTINGS, price.stretch, random());
    const at = second + Math.max(1, Math.round((part * ms) / 1_000));
    const due = dueAt.get(at);
    if (due === undefined) dueAt.set(at, [session]);
    else due.push(session);
  };
  for (const session of sessions.keys()) plan(session, 0, random());
  const waiting: number[] = [];
  const result: SimulatedStep[] = [];
  let credit = 0;
  for (let step = 0; step < steps; step++) {
    const { served, ceiling = served, counted = 1, isHealthy = true } = conditions(step);
    let [reads, arrived] = [0, 0];
    for (let second = step * STEP_SECONDS + 1; second <= (step + 1) * STEP_SECONDS; second++) {
      const due = dueAt.get(second) ?? [];
      dueAt.delete(second);
      arrived += due.length;
      waiting.push(...due);
      // A second's worth of requests is not saved for later.
      credit = Math.min(credit, 1) + served;
      for (; credit >= 1 && waiting.length > 0; credit--, reads++) plan(waiting.shift()!, second);
    }
    price = decide(price, {
      wantedPerSecond: wanted,
      ceilingPerSecond: ceiling,
      readPerSecond: (counted * reads) / STEP_SECONDS,
      isBehind: waiting.length > counted * reads,
      isHealthy,
      arrived,
      waiting: waiting.length,
    });
    result.push({
      stretch: price.stretch,
      target: Math.max(1, wanted / served),
      reads,
      waiting: waiting.length,
    });
  }
  return result;
}

function groupByAge(sessions: readonly { phase: Phase; ageSeconds: number }[]): AgeGroup[] {
  const groups = new Map<string, AgeGroup>();
  for (const { phase, ageSeconds } of sessions) {
    const age = Math.floor(AGES_PER_E * Math.log(ageSeconds));
    const key = `${phase} ${age}`;
    groups.set(key, { phase, age, sessions: (groups.get(key)?.sessions ?? 0) + 1 });
  }
  return [...groups.values()];
}
