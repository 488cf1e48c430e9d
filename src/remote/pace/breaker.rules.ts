/**
 * The circuit breaker of one operation class. Times are milliseconds of any monotonic clock. In every phase, a Retry-After blocks all calls
 * until `quietUntil`.
 * - `closed`: calls pass. The breaker opens after 5 consecutive failures, or if half of at least 20 calls within 10 s failed. A 429 or a burst of
 *   503 counts only towards the second condition: the call queue reacts to it by lowering the concurrency. But 5 consecutive failures or 503
 *   over 2 s or more open it, too: the service is down, and each further POST would have an unknown outcome. Responses that arrive during a
 *   requested wait count as one.
 * - `open`: no call passes until `openUntil`. The duration doubles with each opening until a probe succeeds.
 * - `half_open`: one call passes as a probe. Its result closes or opens the breaker; results of earlier calls are ignored.
 */
export interface Breaker {
  readonly phase: 'closed' | 'open' | 'half_open';
  readonly failuresInRow: number;
  /** Failures and 503 since the last success, and the time of the first. */
  readonly row: { readonly calls: number; readonly beganAt: number };
  readonly periodEndsAt: number;
  readonly calls: number;
  readonly failures: number;
  readonly openUntil: number;
  readonly openings: number;
  readonly probeEndsAt: number;
  readonly quietUntil: number;
}

/** `unknown`: we cancelled the call, so its result says nothing about the service. */
export type CallResult = 'succeeded' | 'failed' | 'unavailable' | 'limited' | 'unknown';

type Admission =
  | { readonly kind: 'pass'; readonly probe: boolean; readonly next: Breaker }
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
};

/** Returns whether a call may pass, and the next state. If a probe has no result after `probeMs`, the next call becomes the probe. */
export function admit(breaker: Breaker, now: number, probeMs: number): Admission {
  const { phase, quietUntil, openUntil, probeEndsAt } = breaker;
  if (now < quietUntil)
    return { kind: 'refused', reason: 'wait_requested', retryAfterMs: Math.ceil(quietUntil - now) };
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

/** Blocks calls until the time that the service requested (Retry-After), unless they are already blocked for longer. */
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
  const row = rowAfter(breaker, result, now);
  const next: Breaker = {
    ...breaker,
    periodEndsAt: fresh ? now + PERIOD_MS : breaker.periodEndsAt,
    calls: (fresh ? 0 : breaker.calls) + 1,
    failures: (fresh ? 0 : breaker.failures) + failed,
    failuresInRow: result === 'succeeded' ? 0 : breaker.failuresInRow + (result === 'failed' ? 1 : 0),
    row,
  };
  const isDown =
    next.failuresInRow >= FAILURES_IN_ROW || (row.calls >= FAILURES_IN_ROW && now - row.beganAt >= ROW_MS);
  const halfFailed = next.calls >= PERIOD_MIN_CALLS && next.failures >= next.calls * PERIOD_FAILURE_RATIO;
  return failed && (isDown || halfFailed) ? open(next, now, random) : next;
}

function rowAfter({ row, quietUntil }: Breaker, result: CallResult, now: number): Breaker['row'] {
  if (result === 'succeeded') return CLOSED.row;
  if (result === 'limited' || now < quietUntil) return row;
  return { calls: row.calls + 1, beganAt: row.calls === 0 ? now : row.beganAt };
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
