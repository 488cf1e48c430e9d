import type { CallResult, OperationClass } from '../outcome.rules.js';

/**
 * The circuit breaker of one operation class. Times are milliseconds of any monotonic clock. In every phase, a Retry-After blocks all calls
 * until `quietUntil`.
 * - `closed`: calls pass. The breaker opens after 5 consecutive failures, or if at least half of at least 20 calls within 10 s failed. A
 *   429 or 503 counts only towards the second condition, because the call queue reacts to it by lowering the concurrency. But 5 failures,
 *   503s or foreign responses in a row over at least 2 s open the breaker too, because the service is down. This row does not include
 *   responses during a requested wait. A foreign response counts only towards this row: some calls may be refused like that by the service
 *   itself, while it serves the others.
 * - `open`: no call passes until `openUntil`. The duration doubles with each opening, up to 30 s, until a probe succeeds.
 * - `half_open`: one call passes as a probe. Its result closes or opens the breaker; results of earlier calls are ignored.
 *
 * An operation with `Trials` sends POSTs, whose outcome is unknown after a failure. So a 503 counts as a failure, and a check precedes the
 * probe: a request that changes nothing. If the check passes, one POST is sent as a trial. After each failed trial, the wait doubles.
 */
export interface Breaker {
  readonly phase: 'closed' | 'open' | 'half_open';
  readonly failuresInRow: number;
  /** The number of failures, 503s and foreign responses since the last success, and the time of the first. */
  readonly row: { readonly calls: number; readonly beganAt: number };
  readonly periodEndsAt: number;
  readonly calls: number;
  readonly failures: number;
  readonly openUntil: number;
  readonly openings: number;
  readonly probeEndsAt: number;
  readonly quietUntil: number;
  /** Until this time, one call may be tried, because a check has passed. */
  readonly checkedUntil: number;
  /** The number of trials that have failed since the breaker was last closed. */
  readonly trials: number;
  /** When a failed call of any replica (not a failed check) last opened the breaker. */
  readonly triedAt: number;
}

/** The schedule of trials of an operation that must be checked first. */
export interface Trials {
  /** The wait after the first failed trial, and the longest wait. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** How long after the last failed call a trial starts even if the check fails, because the check itself may be faulty. */
  readonly uncheckedMs: number;
}

/** Starts are tried sooner: a failed registration needs a person's decision, a failed start leaves at most an orphan. */
export const TRIALS: Partial<Record<OperationClass, Trials>> = {
  register_user: { firstMs: 5_000, longestMs: 15 * 60_000, uncheckedMs: 60 * 60_000 },
  start_session: { firstMs: 2_000, longestMs: 30_000, uncheckedMs: 5 * 60_000 },
};

type Admission =
  | { readonly kind: 'pass'; readonly probe: boolean; readonly next: Breaker }
  /** The caller must check the operation first. Other calls are refused meanwhile. */
  | { readonly kind: 'check'; readonly next: Breaker }
  | {
      readonly kind: 'refused';
      readonly reason: 'breaker_open' | 'wait_requested';
      readonly retryAfterMs: number;
    };

const FAILURES_IN_ROW = 5;
const ROW_MS = 2_000;
const PERIOD_MS = 10_000;
const PERIOD_MIN_CALLS = 20;
const PERIOD_FAILURE_RATIO = 0.5;
const FIRST_OPEN_MS = 1_000;
const LONGEST_OPEN_MS = 30_000;
/** How many times as long as a call a check may last: a check also waits for its turn and for the other replicas. */
const CHECK_PROBES = 2;

export const CLOSED: Breaker = {
  phase: 'closed',
  failuresInRow: 0,
  row: { calls: 0, beganAt: 0 },
  periodEndsAt: 0,
  calls: 0,
  failures: 0,
  openUntil: 0,
  openings: 0,
  probeEndsAt: 0,
  quietUntil: 0,
  checkedUntil: 0,
  trials: 0,
  triedAt: 0,
};

/** Returns whether a call may pass, and the next state. If a probe has no result after `probeMs`, the next call becomes the probe. */
export function admit(breaker: Breaker, now: number, probeMs: number, trials?: Trials): Admission {
  const { phase, quietUntil, openUntil, probeEndsAt, checkedUntil } = breaker;
  if (now < quietUntil)
    return { kind: 'refused', reason: 'wait_requested', retryAfterMs: Math.ceil(quietUntil - now) };
  if (phase === 'closed') return { kind: 'pass', probe: false, next: breaker };
  const wait = Math.ceil((phase === 'open' ? openUntil : probeEndsAt) - now);
  // A check or trial in flight usually ends before its deadline, so the caller may retry sooner.
  const isChecked = trials !== undefined && phase === 'half_open';
  const retryAfterMs = isChecked ? Math.min(wait, FIRST_OPEN_MS) : wait;
  if (wait > 0) return { kind: 'refused', reason: 'breaker_open', retryAfterMs };
  const halfOpen = { ...breaker, phase: 'half_open' as const, checkedUntil: 0 };
  if (trials !== undefined && now >= checkedUntil)
    return { kind: 'check', next: { ...halfOpen, probeEndsAt: now + CHECK_PROBES * probeMs } };
  return { kind: 'pass', probe: true, next: { ...halfOpen, probeEndsAt: now + probeMs } };
}

/** Counts a result. `random` in [0, 1) spreads the probes of several replicas. */
export function record(
  breaker: Breaker,
  result: CallResult,
  probe: boolean,
  now: number,
  random: number,
  trials?: Trials,
): Breaker {
  switch (breaker.phase) {
    case 'open':
      return breaker;
    case 'half_open':
      if (!probe) return breaker;
      if (result === 'succeeded') return { ...CLOSED, quietUntil: breaker.quietUntil };
      if (result === 'unknown') return { ...breaker, phase: 'open', openUntil: now };
      // A 429 or a foreign 4xx refuses the call unread, so its outcome is known.
      return trials === undefined || result === 'limited' || result === 'foreign'
        ? open(breaker, now, random)
        : openAfterTrial(breaker, now, random, trials);
    case 'closed':
      return result === 'unknown' ? breaker : count(breaker, result, now, random, trials);
  }
}

/** Allows one call to be tried within `validMs`. */
export const checkPassed = (breaker: Breaker, now: number, validMs: number): Breaker =>
  breaker.phase === 'half_open'
    ? { ...breaker, phase: 'open', openUntil: now, checkedUntil: now + validMs }
    : breaker;

/** Plans the next check. The wait doubles with each failed check. If `waitMs` is given, that is the wait, and no failure is counted. */
export function checkFailed(breaker: Breaker, now: number, random: number, waitMs?: number): Breaker {
  if (breaker.phase !== 'half_open') return breaker;
  if (waitMs !== undefined) return { ...breaker, phase: 'open', openUntil: now + waitMs };
  const { openUntil, openings } = open(breaker, now, random);
  return { ...breaker, phase: 'open', openUntil, openings };
}

/** Opens the breaker for `ms`, because another replica's is open. `trials`: its failed trials. Does not interrupt a check or trial. */
export function follow(breaker: Breaker, ms: number, trials: number, now: number): Breaker {
  const { phase, openUntil, checkedUntil } = breaker;
  if (phase === 'half_open' || now < checkedUntil) return breaker;
  const isNews = phase === 'closed' || trials > breaker.trials;
  return {
    ...breaker,
    phase: 'open',
    openUntil: ms > 0 ? now + ms : phase === 'closed' ? now : openUntil,
    trials: Math.max(trials, breaker.trials),
    triedAt: isNews ? now : breaker.triedAt,
  };
}

/** Makes the next check due, because a call of another replica has succeeded. */
export const resume = (breaker: Breaker, now: number): Breaker =>
  breaker.phase === 'open' ? { ...breaker, openUntil: Math.min(breaker.openUntil, now) } : breaker;

/** Blocks calls until the time that the service requested (Retry-After), unless they are already blocked for longer. */
export function quiet(breaker: Breaker, until: number): Breaker {
  return until > breaker.quietUntil ? { ...breaker, quietUntil: until } : breaker;
}

function count(
  breaker: Breaker,
  result: Exclude<CallResult, 'unknown'>,
  now: number,
  random: number,
  trials?: Trials,
): Breaker {
  const fresh = now >= breaker.periodEndsAt;
  const failed = result === 'succeeded' ? 0 : 1;
  // A 503 to a POST has an unknown outcome, so it counts as a failure.
  const isFailure =
    result === 'failed' || result === 'timed_out' || (trials !== undefined && result === 'unavailable');
  const row = rowAfter(breaker, result, now);
  const next: Breaker = {
    ...breaker,
    periodEndsAt: fresh ? now + PERIOD_MS : breaker.periodEndsAt,
    calls: (fresh ? 0 : breaker.calls) + 1,
    failures: (fresh ? 0 : breaker.failures) + (result === 'foreign' ? 0 : failed),
    failuresInRow: result === 'succeeded' ? 0 : breaker.failuresInRow + (isFailure ? 1 : 0),
    row,
  };
  const isDown =
    next.failuresInRow >= FAILURES_IN_ROW || (row.calls >= FAILURES_IN_ROW && now - row.beganAt >= ROW_MS);
  const halfFailed =
    result !== 'foreign' &&
    next.calls >= PERIOD_MIN_CALLS &&
    next.failures >= next.calls * PERIOD_FAILURE_RATIO;
  return failed && (isDown || halfFailed) ? open(next, now, random) : next;
}

function rowAfter({ row, quietUntil }: Breaker, result: CallResult, now: number): Breaker['row'] {
  if (result === 'succeeded') return CLOSED.row;
  if (result === 'limited' || now < quietUntil) return row;
  return { calls: row.calls + 1, beganAt: row.calls === 0 ? now : row.beganAt };
}

function open(breaker: Breaker, now: number, random: number): Breaker {
  return {
    ...CLOSED,
    phase: 'open',
    openUntil: now + openMs(breaker, random),
    openings: breaker.openings + 1,
    quietUntil: breaker.quietUntil,
    trials: breaker.trials,
    triedAt: now,
  };
}

function openAfterTrial(breaker: Breaker, now: number, random: number, { firstMs, longestMs }: Trials) {
  const waitMs = spread(Math.min(firstMs * 2 ** breaker.trials, longestMs), random);
  return { ...open(breaker, now, random), openUntil: now + waitMs, openings: 0, trials: breaker.trials + 1 };
}

const openMs = ({ openings }: Breaker, random: number): number =>
  spread(Math.min(FIRST_OPEN_MS * 2 ** openings, LONGEST_OPEN_MS), random);

const spread = (ms: number, random: number): number => ms * (0.8 + 0.4 * random);
