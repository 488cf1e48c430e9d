import { LASTING_INTERVALS } from './schedule.rules.js';

/** What makes a session `lost`: this many reads, over at least this many times `minIntervalMs`, and no successful read between them. */
interface LostEvidence {
  readonly reads: number;
  readonly intervals: number;
}

/** The evidence by reads with 404 or 410 on every path: at least 8 minutes by default, however often a caller reads the session. */
// This is longer than a deployment of the remote service takes, but short, since customers wait until the session is `lost`. A read does
// not count if it may be about all sessions: a gateway without a route to the service responds with 404, too.
export const NOT_FOUND: LostEvidence = { reads: 5, intervals: LASTING_INTERVALS };

/** The evidence by reads with 401 or 403 on every path: at least an hour by default. */
// This is longer, because a refusal may be a temporary fault of permissions. A refusal does not count if other sessions are refused, too.
export const REFUSED: LostEvidence = { reads: 10, intervals: 240 };

/** The largest number of reads that is counted, so that it fits into its column, however often callers read. */
export const MOST_COUNTED = 1_000;

/** The consecutive reads that missed the session on every path. */
export interface MissedReads {
  readonly notFound: number;
  /** The time of the first of these reads. */
  readonly notFoundSince: Date | null;
}

/** Adds a read at `now`. Returns whether the session is lost, and in how many milliseconds it may be; null if more reads must miss it. */
export function countMissed(
  before: MissedReads,
  { reads, intervals }: LostEvidence,
  now: Date,
  minIntervalMs: number,
) {
  const notFound = Math.min(before.notFound + 1, MOST_COUNTED);
  const notFoundSince = before.notFoundSince ?? now;
  const leftMs = notFoundSince.getTime() + intervals * minIntervalMs - now.getTime();
  const isOften = notFound >= reads;
  return { notFound, notFoundSince, isLost: isOften && leftMs <= 0, leftMs: isOften ? leftMs : null };
}
