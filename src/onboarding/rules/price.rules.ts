import type { Hazards } from './habits.rules.js';
import { planNextReadMs, type Phase, type ScheduleSettings } from './schedule.rules.js';

/*
 * The price of a read, one for all sessions and replicas. Its form is the stretch: the factor by which all planned intervals are lengthened, so
 * that the reads fit the budget. All sessions together want W reads per second at stretch 1, and W / s at stretch s. So the stretch for a
 * budget A is W / A. Both are known: W from the ages of the sessions, A from the setting or from what was read while sessions waited.
 *
 * Rejected: to derive the stretch from the backlog. A backlog follows a change of the stretch only after whole intervals, seconds for some
 * sessions and hours for others. A controller of the backlog is therefore either slow or oscillates.
 */

/** The share of the budget that the plan uses. The rest works off a backlog and serves registrations, starts and callers that wait. */
const PLANNED_SHARE = 0.97;
/** The share of the way to its target that the stretch goes in a step, on a logarithmic scale. After 5 steps, a tenfold change is 90 % done. */
const GAIN = 0.5;
/** A bound for faulty figures only. A million sessions a week old at 2 reads per second need a stretch of 550. */
const MOST_STRETCH = 1_000;
/** A capacity is tested: in each step in which it is used and nothing waits, it grows by this share of the reads. */
const GROWTH = 0.1;
/** The same while it is not used. Reads for callers and reads that fail are not counted, so it may never be used. */
// Slower, because the reads follow the stretch only after whole intervals, and the capacity would grow until then.
const UNUSED_GROWTH = 0.004;
const USED_SHARE = 0.9;
/** A capacity of this multiple of what all sessions want limits nothing, and is forgotten. */
const ENOUGH_CAPACITY = 1.1;

/** Above this stretch for `SHORT_MS`, `remote.budget_short` is announced. Its end is announced below `ENOUGH_STRETCH`. */
export const SHORT_STRETCH = 2;
const ENOUGH_STRETCH = 1.5;
export const SHORT_MS = 15 * 60_000;

/** Groups sessions by age: `AGES_PER_E` groups while the age grows by the factor e. The oldest of a group is 13 % older than the youngest. */
export const AGES_PER_E = 8;

export interface AgeGroup {
  readonly phase: Phase;
  /** The logarithm of the age in seconds, times `AGES_PER_E`, rounded down. */
  readonly age: number;
  readonly sessions: number;
  readonly hazards?: Hazards | undefined;
}

export interface Price {
  readonly stretch: number;
  /** Reads per second that were done while sessions waited. Null if that limits nothing. */
  readonly capacityPerSecond: number | null;
  /** The ceiling under which the capacity was learned. Null before the first step. */
  readonly ceilingPerSecond: number | null;
  readonly wasBehind: boolean;
  /** Reads per second in the last step. Null if the remote service was not healthy in it. */
  readonly readPerSecond: number | null;
}

export interface PriceFacts {
  readonly wantedPerSecond: number;
  /** The limit of the deployment, or Infinity. */
  readonly ceilingPerSecond: number;
  readonly readPerSecond: number;
  /** Whether more sessions wait than were read since the last step. */
  readonly isBehind: boolean;
  /** Whether reads have no trouble other than a limit. A service may limit its callers permanently. */
  readonly isHealthy: boolean;
}

const LONG_AGO = new Date(-1e15);

/** Returns the reads per second that the sessions would take at stretch 1. */
export function wantedPerSecond(groups: readonly AgeGroup[], settings: ScheduleSettings): number {
  const now = new Date(0);
  return groups.reduce((sum, { phase, age, sessions, hazards }) => {
    const anchorAt = new Date(-1_000 * Math.exp((age + 0.5) / AGES_PER_E));
    // Only `awaiting_owner` begins with the session. In the other phases, a session counts as old, so slightly too few reads are expected.
    const startedAt = phase === 'awaiting_owner' ? anchorAt : LONG_AGO;
    const learned = hazards && { hazards, startedAt };
    const intervalMs = planNextReadMs({ phase, anchorAt, failures: 0, learned }, now, settings, 1, 0.5);
    return sum + (sessions * 1_000) / intervalMs;
  }, 0);
}

/** Returns the reads per second that may be planned. Infinity if nothing is known to limit them. */
export const allowedPerSecond = (ceiling: number, capacity: number | null): number =>
  PLANNED_SHARE * Math.min(ceiling, capacity ?? Infinity);

/** Returns the price after a step. Trouble says nothing about the budget, even if some reads succeed, so the price stays and nothing is learned. */
export function nextPrice(price: Price, facts: PriceFacts): Price {
  const { ceilingPerSecond, readPerSecond, isBehind } = facts;
  if (!facts.isHealthy) return { ...price, readPerSecond: null };
  const isSameCeiling = ceilingPerSecond === price.ceilingPerSecond;
  const capacityPerSecond = isSameCeiling ? nextCapacity(price, facts) : null;
  const allowed = allowedPerSecond(ceilingPerSecond, capacityPerSecond);
  const stretch = nextStretch(price.stretch, facts.wantedPerSecond, allowed);
  // The reads under another ceiling say nothing about this one.
  const wasBehind = isSameCeiling && isBehind;
  return { stretch, capacityPerSecond, ceilingPerSecond, wasBehind, readPerSecond };
}

/** Returns the stretch after a step towards `wanted / allowed`. Approaches it from one side, so it never overshoots. */
export function nextStretch(stretch: number, wanted: number, allowed: number): number {
  const target = Math.min(MOST_STRETCH, Math.max(1, wanted / allowed));
  const next = stretch * (target / stretch) ** GAIN;
  return target === 1 && next < 1.01 ? 1 : next;
}

/** Returns the reads per second that the remote service has shown to serve. Null if nothing is known to limit them. */
// Learns only from two steps in a row that are behind, and takes the better one: a single step may include a time with little to read. If one
// of them has no reads, the service requested a wait, which cut the other short, so neither counts.
function nextCapacity(price: Price, facts: PriceFacts): number | null {
  const { readPerSecond, isBehind, wantedPerSecond } = facts;
  if (isBehind) {
    const before = price.readPerSecond ?? 0;
    const isShown = price.wasBehind && before > 0 && readPerSecond > 0;
    return isShown ? Math.max(readPerSecond, before) : price.capacityPerSecond;
  }
  if (price.capacityPerSecond === null) return null;
  const isUsed = readPerSecond >= USED_SHARE * price.capacityPerSecond;
  const growth = (isUsed ? GROWTH : UNUSED_GROWTH) * readPerSecond;
  const capacity = Math.max(price.capacityPerSecond + growth, readPerSecond);
  return capacity > ENOUGH_CAPACITY * wantedPerSecond ? null : capacity;
}

/** When the stretch rose above the bound, and when that was announced. */
export interface Shortage {
  readonly shortSince: Date | null;
  readonly announcedAt: Date | null;
}

/** Returns the shortage after a step. It is over if an announced one becomes null. */
export function nextShortage({ shortSince, announcedAt }: Shortage, stretch: number, now: Date): Shortage {
  const isShort = stretch > (announcedAt === null ? SHORT_STRETCH : ENOUGH_STRETCH);
  if (!isShort) return { shortSince: null, announcedAt: null };
  const since = shortSince ?? now;
  const isLong = now.getTime() - since.getTime() >= SHORT_MS;
  return { shortSince: since, announcedAt: announcedAt ?? (isLong ? now : null) };
}
