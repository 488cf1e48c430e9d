import type { SecondsUntilReads } from '../onboarding/rules/schedule.rules.js';

/*
 * Learned schedules. The age of a session is the time since its phase began. If enough changes of a brand in a phase are known, their
 * hazard replaces the assumed hazard. The hazard of a group of ages is the number of changes at these ages divided by the time that
 * sessions spent at these ages (the occurrence-exposure rate). A session that left the phase without a change counts until it left, and a
 * session that is still in the phase counts until now.
 *
 * The density of reads is √(h / 2p), as in schedule.rules.ts. The next read is due when the integral of the density from now reaches the
 * stretch. So the interval is shorter before a rise of the hazard than before a fall.
 */

/** The number of groups between an age and e times that age. Finer groups would need more changes for the same precision. */
export const HABIT_AGES_PER_E = 2;
/** The index of the last group, which contains all ages above e^(28 / 2) seconds, about 14 days. */
export const OLDEST_HABIT = 28;

/** If fewer changes of a brand in a phase are known, its sessions follow the assumed hazard. */
export const LEAST_CHANGES = 200;
/** A group with fewer changes is joined with its neighbours. With 20 changes, the density has a standard error of about a tenth. */
const CHANGES_PER_GROUP = 20;
/** 2p of schedule.rules.ts: a read costs as much as 6 s of delay. The assumed schedule has the same cost: its 2p / α is 25 s at α = 0.5. */
const TWICE_COST_SECONDS = 12.5;

/**
 * The numbers of stays that ended at an age of this group, for the sessions of one brand in one phase. A stay that continues counts as
 * ended now.
 */
export interface HabitCount {
  readonly age: number;
  /** The number of stays that ended with a change that somebody waits for (`is_change` in habits.store.ts). */
  readonly changed: number;
  readonly ended: number;
  /** The time that these stays lasted in this group of ages, in total. */
  readonly seconds: number;
}

/** The usual wait of a brand is known from this number of waits on: the 95th percentile of 20 waits is the second longest wait. */
export const LEAST_WAITS = 20;

/** How long the sessions of a brand waited for their installation, from the inferred end of the web flow to online. */
export interface UsualWait {
  readonly p50Seconds: number;
  readonly p95Seconds: number;
  /** The number of counted sessions, at least LEAST_WAITS. */
  readonly known: number;
}

/** The hazard of a change per second, by group of ages. */
export type Hazards = readonly number[];

/** The least age of a group, in seconds. */
const startOf = (group: number): number => (group === 0 ? 0 : Math.exp(group / HABIT_AGES_PER_E));

/** Returns the group of an age in seconds. */
export const habitAgeOf = (seconds: number): number =>
  Math.min(OLDEST_HABIT, Math.floor(HABIT_AGES_PER_E * Math.log(Math.max(1, seconds))));

/** Returns the hazard of each group of ages, or undefined if too few changes are known. */
export function hazardsOf(counts: readonly HabitCount[]): Hazards | undefined {
  const groups = Array.from({ length: OLDEST_HABIT + 1 }, () => ({ changed: 0, ended: 0, seconds: 0 }));
  for (const { age, changed, ended, seconds } of counts) groups[age] = { changed, ended, seconds };
  if (sum(groups.map(({ changed }) => changed)) < LEAST_CHANGES) return undefined;
  const watched = groups.map(({ seconds }, group) => {
    const stayedOn = sum(groups.slice(group + 1).map(({ ended }) => ended));
    return seconds + stayedOn * (startOf(group + 1) - startOf(group));
  });
  return groups.map((_, group) => {
    for (let reach = 0; ; reach++) {
      const [from, to] = [Math.max(0, group - reach), group + reach + 1];
      const changed = sum(groups.slice(from, to).map((near) => near.changed));
      if (changed >= CHANGES_PER_GROUP) return changed / sum(watched.slice(from, to));
    }
  });
}

/** Returns the schedule of sessions with these hazards. */
export const secondsUntilReads =
  (hazards: Hazards): SecondsUntilReads =>
  (age, reads, { least, most }) => {
    let [at, left] = [age, reads];
    for (let group = habitAgeOf(age); ; group++) {
      const density = Math.min(most, Math.max(least, Math.sqrt(hazards[group]! / TWICE_COST_SECONDS)));
      const end = group === OLDEST_HABIT ? Infinity : startOf(group + 1);
      const within = density * Math.max(0, end - at);
      if (left <= within) return at - age + left / density;
      left -= within;
      at = end;
    }
  };

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
