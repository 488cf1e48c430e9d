/*
 * Which due sessions are read first. A lane holds the sessions whose planned interval (from the claim, or a failed read, to the due time) has the same order
 * of magnitude, so the longest due of a lane is also the latest relative to its interval, within a factor of LANE_FACTOR.
 *
 * A part of each claim goes to the fresh: to the shortest intervals first, unless they are late by more than LATE_AFTER_INTERVALS. They
 * never wait behind a backlog, however long it is. The rest goes to the lane that is the latest relative to its interval, so no lane waits
 * for ever: under a budget of 1/S of the wanted reads, the wait is at most 2 × S of its intervals. What one part leaves, the other takes.
 *
 * Rejected: the oldest due first. If a budget allows only a fifth of the reads, a session with an interval of 10 s is then read as seldom as
 * one with 15 minutes. Rejected: a deadline (due time plus a multiple of the interval) as the order of one index. A walk by deadline passes
 * all sessions with a short interval that are not due yet, so a claim in a backlog would take longer the more sessions are fresh.
 */

/** The ratio of the shortest intervals of two neighbouring lanes. */
const LANE_FACTOR = 4;
/** The shortest interval of each lane but the first, from a second to 4.6 hours. The index on lanes has the same list. */
export const LANE_STARTS_SECONDS: readonly number[] = Array.from({ length: 8 }, (_, i) => LANE_FACTOR ** i);

/** Of each claim, the part for the fresh. The other part is at least half, so that a flood of fresh sessions does not stop the others. */
const SHARE_OF_FRESH = 0.5;
/** A session that is later than this is not fresh, whatever its interval was: it has been a part of a backlog while it aged. */
const LATE_AFTER_INTERVALS = 2;

/** All lanes, the shortest intervals first. The last lane has no longest interval; its value continues the series. */
export const LANES = [...LANE_STARTS_SECONDS, LANE_FACTOR ** LANE_STARTS_SECONDS.length].map(
  (longestSeconds, lane) => ({
    lane,
    longestSeconds,
    lateAfterSeconds: longestSeconds * LATE_AFTER_INTERVALS,
  }),
);

/** Returns how many sessions of a claim to take from the fresh. `random` is in [0, 1), so that half of an odd limit comes out on average. */
export const shareOfFresh = (limit: number, random: number): number =>
  Math.floor(limit * SHARE_OF_FRESH + random);
