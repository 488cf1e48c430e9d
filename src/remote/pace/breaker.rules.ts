/**
 * Whether calls of one operation class are worth making. Pure: state, event and time in, state out. Times are milliseconds of any monotonic
 * clock.
 *
 * - `closed`: calls pass. 5 failures in a row open it (the service is down). So does a period in which half of 20 or more calls failed (it
 *   is half down). Refusals for overload count only for the latter: the limiter reacts to them by lowering concurrency, and a run of them
 *   is normal while it finds the limit.
 * - `open`: no call passes until `openUntil`. The time doubles with each opening until a call succeeds.
 * - `half_open`: one call passes as a probe; its result decides. Results of earlier calls are ignored as outdated.
 *
 * Independently of the phase, Retry-After blocks every call of the class until `quietUntil`.
 */
export interface Breaker {
  readonly phase: 'closed' | 'open' | 'half_open';
  readonly failuresInRow: number;
  readonly periodEndsAt: number;
  readonly calls: number;
  readonly failures: number;
  readonly openUntil: number;
  readonly openings: number;
  readonly probeEndsAt: number;
  readonly quietUntil: number;
}

/** `unknown`: we cancelled the call, so it says nothing about the service. */
export type CallResult = 'succeeded' | 'failed' | 'overloaded' | 'unknown';

export type Admission =
  | { readonly kind: 'pass'; readonly probe: boolean; readonly next: Breaker }
  | {
      readonly kind: 'refused';
      readonly reason: 'breaker_open' | 'rate_limited';
      readonly retryAfterMs: number;
    };

const FAILURES_IN_ROW = 5;
const PERIOD_MS = 10_000;
const PERIOD_MIN_CALLS = 20;
const PERIOD_FAILURE_RATIO = 0.5;
const FIRST_OPEN_MS = 1_000;
const LONGEST_OPEN_MS = 30_000;

export const CLOSED: Breaker = {
  phase: 'closed',
  failuresInRow: 0,
  periodEndsAt: 0,
  calls: 0,
  failures: 0,
  openUntil: 0,
  openings: 0,
  probeEndsAt: 0,
  quietUntil: 0,
};

/** Returns whether a call may pass. After `probeMs` without a result, a probe counts as lost and another call may be the probe. */
export function admit(breaker: Breaker, now: number, probeMs: number): Admission {
  const { phase, quietUntil, openUntil, probeEndsAt } = breaker;
  if (now < quietUntil)
    return { kind: 'refused', reason: 'rate_limited', retryAfterMs: Math.ceil(quietUntil - now) };
  if (phase === 'closed') return { kind: 'pass', probe: false, next: breaker };
  const wait = Math.ceil((phase === 'open' ? openUntil : probeEndsAt) - now);
  if (wait > 0)
    return { kind: 'refused', reason: 'breaker_open', retryAfterMs: Math.min(wait, LONGEST_OPEN_MS) };
  return { kind: 'pass', probe: true, next: { ...breaker, phase: 'half_open', probeEndsAt: now + probeMs } };
}

/** Counts a result. `random` in [0, 1) spreads the probes of several replicas. */
export function record(
  breaker: Breaker,
  result: CallResult,
  probe: boolean,
  now: number,
  random: number,
): Breaker {
  switch (breaker.phase) {
    case 'open':
      return breaker;
    case 'half_open':
      if (!probe) return breaker;
      if (result === 'succeeded') return { ...CLOSED, quietUntil: breaker.quietUntil };
      if (result === 'unknown') return { ...breaker, phase: 'open', openUntil: now };
      return open(breaker, now, random);
    case 'closed':
      return result === 'unknown' ? breaker : count(breaker, result, now, random);
  }
}

/** Blocks calls until the given time, as the service requested (Retry-After). A shorter wait does not undo a longer one. */
export function quiet(breaker: Breaker, until: number): Breaker {
  return until > breaker.quietUntil ? { ...breaker, quietUntil: until } : breaker;
}

function count(
  breaker: Breaker,
  result: Exclude<CallResult, 'unknown'>,
  now: number,
  random: number,
): Breaker {
  const fresh = now >= breaker.periodEndsAt;
  const failed = result === 'succeeded' ? 0 : 1;
  const next: Breaker = {
    ...breaker,
    periodEndsAt: fresh ? now + PERIOD_MS : breaker.periodEndsAt,
    calls: (fresh ? 0 : breaker.calls) + 1,
    failures: (fresh ? 0 : breaker.failures) + failed,
    failuresInRow: result === 'succeeded' ? 0 : breaker.failuresInRow + (result === 'failed' ? 1 : 0),
  };
  const halfDown = next.calls >= PERIOD_MIN_CALLS && next.failures >= next.calls * PERIOD_FAILURE_RATIO;
  return failed && (next.failuresInRow >= FAILURES_IN_ROW || halfDown) ? open(next, now, random) : next;
}

function open(breaker: Breaker, now: number, random: number): Breaker {
  const openMs = Math.min(FIRST_OPEN_MS * 2 ** breaker.openings, LONGEST_OPEN_MS) * (0.8 + 0.4 * random);
  return {
    ...CLOSED,
    phase: 'open',
    openUntil: now + openMs,
    openings: breaker.openings + 1,
    quietUntil: breaker.quietUntil,
  };
}
