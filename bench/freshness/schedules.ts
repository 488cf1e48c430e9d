import {
  HABIT_AGES_PER_E,
  habitAgeOf,
  hazardsOf,
  OLDEST_HABIT,
  secondsUntilReads,
  type HabitCount,
  type Hazards,
} from '../../src/brands/habits.rules.js';
import {
  longestIntervalMs,
  planNextReadMs,
  type OpenPhase,
  type ScheduleSettings,
  type WatchedSession,
} from '../../src/onboarding/rules/schedule.rules.js';
import {
  EXPIRES_AT,
  interpolate,
  lifeAt,
  truthOf,
  WATCHED,
  type Life,
  type Population,
} from './populations.js';
import { seeded, type Random } from './random.js';

/** The default settings of the service. */
export const SETTINGS: ScheduleSettings = {
  minIntervalMs: 15_000,
  maxIntervalMs: 900_000,
  settleMs: 72 * 3_600_000,
  watchMs: 0,
  lateMs: 7 * 86_400_000,
  endEvidenceMs: 0,
};
const FLOOR = SETTINGS.minIntervalMs / 1_000;
const CEILING = SETTINGS.maxIntervalMs / 1_000;
const NOW = new Date(0);

/** The known facts about a session. Times are ages in seconds. */
export interface Watched {
  readonly age: number;
  /** The age at the read that found the session expired, or null. */
  readonly expiredAt: number | null;
}

/** Returns how many seconds after `age` the next read is. */
type Interval = (watched: Watched, random: Random) => number;

export interface Schedule {
  readonly name: string;
  /** Returns the intervals of a population. `factor` lengthens them. */
  readonly of: (population: Population, factor: number) => Interval;
}

const sinceAnchor = ({ age, expiredAt }: Watched) => age - (expiredAt ?? 0);
const isLate = ({ expiredAt }: Watched) => expiredAt !== null;

export const watchedSession = (phase: OpenPhase, watched: Watched, habits?: Habits): WatchedSession => {
  const hazards = habits?.[isLate(watched) ? 'late' : phase];
  const startedAt = new Date(-1_000 * (watched.age + byOwner(phase)));
  return {
    phase: isLate(watched) ? 'late' : phase,
    anchorAt: new Date(-1_000 * sinceAnchor(watched)),
    failures: 0,
    learned: hazards && { secondsUntilReads: secondsUntilReads(hazards), startedAt },
  };
};

export const OURS: Schedule = {
  name: 'our schedule',
  of:
    ({ phase }, factor) =>
    (watched, random) =>
      planNextReadMs(watchedSession(phase, watched), NOW, SETTINGS, factor, random()) / 1_000,
};

/** The habits that our schedule counts in a sample of one population, by phase. Each population is a brand of its own. */
export type Habits = Partial<Readonly<Record<OpenPhase, Hazards | undefined>>>;
export type HabitsOf = (population: Population) => Habits;
const SAMPLE = 2_000;
/** R41: a session that is younger than this is read at the shortest interval. */
export const YOUNG = 600;
/** Returns how old a session is when its phase begins. The owner takes 8 minutes before the wait for the installation begins. */
const byOwner = (phase: OpenPhase): number => (phase === 'awaiting_owner' ? 0 : 480);

const known = new Map<Population, Habits>();

export function habitsOf(population: Population): Habits {
  const habits = known.get(population) ?? learn(population);
  known.set(population, habits);
  return habits;
}

function learn(population: Population): Habits {
  const random = seeded(3);
  const lives = Array.from({ length: SAMPLE }, () => lifeAt(population, random()));
  const [stays, late]: [Stay[], Stay[]] = [[], []];
  follow(lives, OURS, 1, random, ({ age, expiredAt }, isChange) => {
    stays.push({ seconds: expiredAt ?? age, isChange: isChange && expiredAt === null });
    if (expiredAt !== null) late.push({ seconds: age - expiredAt, isChange });
  });
  return { [population.phase]: hazardsOf(countStays(stays)), late: hazardsOf(countStays(late)) };
}

interface Stay {
  readonly seconds: number;
  readonly isChange: boolean;
}

/** Counts stays as COUNT_HABITS does. */
const countStays = (stays: readonly Stay[]): HabitCount[] =>
  Array.from({ length: OLDEST_HABIT + 1 }, (_, age) => {
    const ended = stays.filter(({ seconds }) => habitAgeOf(seconds) === age);
    const changed = ended.filter(({ isChange }) => isChange).length;
    const start = age === 0 ? 0 : Math.exp(age / HABIT_AGES_PER_E);
    return {
      age,
      changed,
      ended: ended.length,
      seconds: ended.reduce((sum, s) => sum + s.seconds - start, 0),
    };
  });

export const LEARNED: Schedule = {
  name: 'our schedule, learned',
  of: (population, factor) => {
    const habits = habitsOf(population);
    return (watched, random) =>
      planNextReadMs(watchedSession(population.phase, watched, habits), NOW, SETTINGS, factor, random()) /
      1_000;
  },
};

const FIXED: Schedule = { name: 'fixed interval', of: (_, factor) => () => factor * CEILING };

/**
 * Returns the best schedule, which knows the distribution of the changes. Its factor is the cost of a read, p in √(h / 2p). `longest`:
 * returns the longest interval at an age.
 */
const optimum = (name: string, longest: (age: number, population: Population) => number): Schedule => ({
  name,
  of: (population, factor) => {
    const { ages, hazards } = truthOf(population);
    const reads = new Float64Array(ages.length);
    for (let i = 1; i < ages.length; i++) {
      const least = 1 / longest(ages[i]!, population);
      const density = Math.min(1 / FLOOR, Math.max(least, Math.sqrt(hazards[i]!) / factor));
      reads[i] = reads[i - 1]! + density * (ages[i]! - ages[i - 1]!);
    }
    return ({ age }) => {
      const read = interpolate(ages, reads, age) + 1;
      return (read > reads.at(-1)! ? WATCHED : interpolate(reads, ages, read)) - age;
    };
  },
});
const OPTIMUM = optimum('optimum', () => Infinity);
const OPTIMUM_IN_OUR_LIMITS = optimum('optimum in our limits', (age, { phase }) => {
  if (age + byOwner(phase) < YOUNG) return FLOOR;
  return longestIntervalMs(age < EXPIRES_AT ? phase : 'late', SETTINGS.maxIntervalMs) / 1_000;
});

export const OTHERS_AT_BUDGET = [OPTIMUM, FIXED] as const;
export const OTHERS = [OPTIMUM, OPTIMUM_IN_OUR_LIMITS, FIXED] as const;

export interface Figures {
  readonly readsPerSession: number;
  /** The time from each change to the read that notices it, in seconds. */
  readonly delays: readonly number[];
}

/** Reads each session at the times of a schedule, without a limit on the rate of reads. */
export function follow(
  lives: readonly Life[],
  schedule: Schedule,
  factor: number,
  random: Random,
  onEnd: (watched: Watched, isChange: boolean) => void = () => {},
): Figures {
  const intervals = new Map<Population, Interval>();
  const delays: number[] = [];
  let reads = 0;
  for (const { population, changeAt } of lives) {
    const interval = intervals.get(population) ?? schedule.of(population, factor);
    intervals.set(population, interval);
    const watched = { age: 0, expiredAt: null as number | null };
    do {
      // A session is never read more often than the floor allows, whatever the schedule.
      watched.age += Math.max(FLOOR, interval(watched, random));
      reads++;
      if (watched.age >= EXPIRES_AT) watched.expiredAt ??= watched.age;
    } while (watched.age < changeAt && watched.age < WATCHED);
    onEnd(watched, changeAt <= watched.age);
    if (changeAt <= watched.age) delays.push(watched.age - changeAt);
  }
  return { readsPerSession: reads / lives.length, delays };
}

const BISECTIONS = 18;

/** Follows a schedule with the longest intervals for which `isTooLong` returns false. */
export function followAtMost(
  lives: readonly Life[],
  schedule: Schedule,
  isTooLong: (figures: Figures) => boolean,
): Figures {
  let [least, most] = [Math.log(1e-4), Math.log(1e6)];
  for (let i = 0; i < BISECTIONS; i++) {
    const middle = (least + most) / 2;
    if (isTooLong(follow(lives, schedule, Math.exp(middle), seeded(1)))) most = middle;
    else least = middle;
  }
  return follow(lives, schedule, Math.exp((least + most) / 2), seeded(1));
}
