import type { OpenPhase } from '../../src/onboarding/rules/schedule.rules.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The age at which the remote service lets a session expire, in seconds. */
export const EXPIRES_AT = DAY;
/** The age of the last read. By default, a session is watched for 7 days after it expired. */
export const WATCHED = 8 * DAY;

/** A part of a population. The ages at which its sessions change have a log-normal distribution. */
interface Part {
  readonly share: number;
  readonly median: number;
  /** The standard deviation of the logarithm of the age. */
  readonly sigma: number;
}

/** Sessions that belong to no part never change. */
export interface Population {
  readonly name: string;
  readonly phase: OpenPhase;
  readonly parts: readonly Part[];
}

const AT_SCREEN = { median: 8 * MINUTE, sigma: 1 };
const NEXT_DAY = { median: 20 * HOUR, sigma: 0.5 };

export const OWNERS: Population = {
  name: 'owners',
  phase: 'awaiting_owner',
  parts: [
    { share: 0.55, ...AT_SCREEN },
    { share: 0.2, ...NEXT_DAY },
  ],
};
export const OF_HOURS: Population = {
  name: 'installers, hours',
  phase: 'awaiting_installation',
  parts: [{ share: 0.95, median: 3 * HOUR, sigma: 1 }],
};
export const OF_DAYS: Population = {
  name: 'installers, days',
  phase: 'awaiting_installation',
  parts: [{ share: 0.95, median: 30 * HOUR, sigma: 1 }],
};
export const POPULATIONS: readonly Population[] = [
  OWNERS,
  { name: 'owners at the screen', phase: 'awaiting_owner', parts: [{ share: 1, ...AT_SCREEN }] },
  { name: 'owners next day', phase: 'awaiting_owner', parts: [{ share: 1, ...NEXT_DAY }] },
  OF_HOURS,
  OF_DAYS,
  {
    name: 'installers, mixed',
    phase: 'awaiting_installation',
    parts: [OF_HOURS, OF_DAYS].flatMap(({ parts }) =>
      parts.map((part) => ({ ...part, share: part.share / 2 })),
    ),
  },
];

/** A session to be watched. Times are ages in seconds. */
export interface Life {
  readonly population: Population;
  /** Infinity if nothing changes while the session is watched. */
  readonly changeAt: number;
}

/** The true distribution of the changes of a population. `ages` go from a second to the end of the watch, in equal logarithmic steps. */
export interface Truth {
  readonly ages: Float64Array;
  /** The share of sessions that has changed by each age. */
  readonly changed: Float64Array;
  /** The hazard of the change, per second. */
  readonly hazards: Float64Array;
}

const GRID = 2_000;
const truths = new Map<Population, Truth>();

export function truthOf(population: Population): Truth {
  const truth = truths.get(population) ?? tabulate(population);
  truths.set(population, truth);
  return truth;
}

function tabulate(population: Population): Truth {
  const ages = Float64Array.from({ length: GRID + 1 }, (_, i) => WATCHED ** (i / GRID));
  const changed = new Float64Array(GRID + 1);
  const hazards = new Float64Array(GRID + 1);
  for (let i = 1; i <= GRID; i++) {
    const [from, to] = [ages[i - 1]!, ages[i]!];
    const density = densityAt(population, Math.sqrt(from * to));
    hazards[i] = density / Math.max(1e-9, 1 - changed[i - 1]!);
    changed[i] = changed[i - 1]! + density * (to - from);
  }
  return { ages, changed, hazards };
}

/** Returns the probability density of a change at an age. */
const densityAt = ({ parts }: Population, age: number): number =>
  parts.reduce((sum, { share, median, sigma }) => {
    const z = Math.log(age / median) / sigma;
    return sum + (share * Math.exp((-z * z) / 2)) / (age * sigma * Math.sqrt(2 * Math.PI));
  }, 0);

/** Returns a session of a population. `share`: the share of the population that changes before this session. */
export function lifeAt(population: Population, share: number): Life {
  const { ages, changed } = truthOf(population);
  return { population, changeAt: share < changed.at(-1)! ? interpolate(changed, ages, share) : Infinity };
}

/** Returns y at x by linear interpolation in a table. `xs` must be ascending. */
export function interpolate(xs: Float64Array, ys: Float64Array, x: number): number {
  let [below, above] = [0, xs.length - 1];
  while (above - below > 1) {
    const middle = (below + above) >> 1;
    if (xs[middle]! <= x) below = middle;
    else above = middle;
  }
  const share = xs[above]! === xs[below]! ? 0 : (x - xs[below]!) / (xs[above]! - xs[below]!);
  return ys[below]! + Math.max(0, Math.min(1, share)) * (ys[above]! - ys[below]!);
}
