/*
 * Which due sessions are read first. The planned interval of a session is the time from its claim or failed read to its due time. A lane
 * consists of the sessions whose planned intervals differ by at most a factor of LANE_FACTOR. So the longest overdue session of a lane is
 * also about the latest in relation to its interval.
 *
 * Half of each claim is for fresh sessions, the shortest intervals first, so they never wait behind a backlog. A session is fresh until it
 * is late by LATE_AFTER_INTERVALS. The rest of the claim is for the lane that is the latest in relation to its intervals, so no lane waits
 * for ever. If the budget allows 1/S of the wanted reads, a session waits for at most 2 × S of its intervals.
 *
 * Rejected: the longest overdue first. If a budget allows only a fifth of the reads, a session with an interval of 10 s is then read as
 * seldom as one with 15 minutes. Rejected: one index by deadline (due time plus a multiple of the interval). In a backlog, a walk by
 * deadline passes all sessions with a short interval that are not due yet, so every claim would be slower the more sessions are fresh.
 */

/** The ratio of the shortest intervals of two neighbouring lanes. */
const LANE_FACTOR = 4;
/** The shortest interval of each lane but the first, from a second to 4.6 hours. The index session_polls_lane_idx has the same list. */
export const LANE_STARTS_SECONDS: readonly number[] = Array.from({ length: 8 }, (_, i) => LANE_FACTOR ** i);

/** The part of each claim for fresh sessions. It is at most half, so that many fresh sessions do not stop the reads of all others. */
const SHARE_OF_FRESH = 0.5;
/** A session that is late by more than this multiple of the longest interval of its lane is not fresh: it has waited in a backlog. */
const LATE_AFTER_INTERVALS = 2;

/** All lanes, the shortest intervals first. The last lane has no longest interval; its `longestSeconds` continues the series. */
export const LANES = [...LANE_STARTS_SECONDS, LANE_FACTOR ** LANE_STARTS_SECONDS.length].map(
  (longestSeconds, lane) => ({
    lane,
    longestSeconds,
    lateAfterSeconds: longestSeconds * LATE_AFTER_INTERVALS,
  }),
);

/** Returns how many fresh sessions to claim. `random` is in [0, 1): it decides whether half of an odd limit is rounded up or down. */
export const shareOfFresh = (limit: number, random: number): number =>
  Math.floor(limit * SHARE_OF_FRESH + random);
