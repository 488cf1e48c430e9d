import type { SendOutcome } from '../../delivery/delivery-plan.rules.js';

export interface Health {
  /** Consecutive failed attempts, across all events. */
  readonly failures: number;
  readonly failingSince: Date | null;
  /** Whether the log has reported that the endpoint fails. */
  readonly isReported: boolean;
  /** Before this time, nothing is sent to the endpoint. */
  readonly quietUntil: Date | null;
}

export interface HealthPlan extends Health {
  /** Why the endpoint must be disabled; null if it stays enabled. */
  readonly disable: { readonly reason: 'gone' | 'failing'; readonly since: Date } | null;
  /** The number of consecutive failures that a successful attempt has ended; 0 if none has. */
  readonly recoveredFrom: number;
}

/** The most concurrent requests to one endpoint. Allows 160 events a second at 100 ms per response, but does not look like an attack. */
const PLACES = 16;
/** The number of consecutive failures from which an endpoint counts as failing, and gets one request at a time. */
const FAILING_FROM = 10;
/**
 * The log reports a failing endpoint after this many consecutive failures over this time. The first retry of a delivery comes later than
 * this time, so a delivery that fails twice is reported. A single failure between successes is not.
 */
const REPORTED_FROM = 2;
const REPORTED_AFTER_MS = 3_000;
/** A failing endpoint gets no request for this share of the time since it began to fail: for 15 s after a minute, at most for 5 minutes. */
const QUIET_SHARE = 0.25;
const SHORTEST_QUIET_MS = 1_000;
const LONGEST_QUIET_MS = 5 * 60_000;
/** How long an endpoint may fail before it is disabled. Svix uses 5 days, too: longer than a long weekend or all retries of an event. */
const DISABLED_AFTER_MS = 5 * 24 * 3_600_000;
/** The fewest failures before disabling: twice the 10 attempts of one event, so that one event cannot disable a rarely used endpoint. */
const DISABLED_FROM = 20;

export const isFailing = ({ failures }: Pick<Health, 'failures'>): boolean => failures >= FAILING_FROM;

export const placesOf = (health: Pick<Health, 'failures'>): number => (isFailing(health) ? 1 : PLACES);

/** Returns the health after these outcomes, which are ordered by the end of their attempts. */
export function planHealth(before: Health, outcomes: readonly SendOutcome[], now: Date): HealthPlan {
  let { failures, failingSince, isReported, quietUntil } = before;
  let recoveredFrom = 0;
  let isGone = false;
  for (const outcome of outcomes) {
    if (outcome.kind === 'delivered') {
      recoveredFrom = Math.max(recoveredFrom, failures);
      failures = 0;
      failingSince = null;
      isReported = false;
      continue;
    }
    failures += 1;
    failingSince ??= now;
    isGone ||= outcome.kind === 'gone';
    const quietMs = Math.max(quietOf(failures, failingSince, now), outcome.retryAfterMs ?? 0);
    quietUntil = later(quietUntil, quietMs, now);
  }
  // A success ends the quiet period, unless a response has requested a wait with Retry-After.
  if (failures === 0 && !outcomes.some(({ retryAfterMs = 0 }) => retryAfterMs > 0)) quietUntil = null;
  const failingMs = failingSince === null ? 0 : now.getTime() - failingSince.getTime();
  isReported ||= failures >= REPORTED_FROM && failingMs >= REPORTED_AFTER_MS;
  const hasFailedLong = failures >= DISABLED_FROM && failingMs >= DISABLED_AFTER_MS;
  const reason = isGone ? 'gone' : hasFailedLong ? 'failing' : null;
  const disable = reason === null ? null : ({ reason, since: failingSince ?? now } as const);
  return { failures, failingSince, isReported, quietUntil, disable, recoveredFrom };
}

function quietOf(failures: number, failingSince: Date, now: Date): number {
  if (!isFailing({ failures })) return 0;
  const failingMs = now.getTime() - failingSince.getTime();
  return Math.min(Math.max(failingMs * QUIET_SHARE, SHORTEST_QUIET_MS), LONGEST_QUIET_MS);
}

function later(until: Date | null, quietMs: number, now: Date): Date | null {
  const end = now.getTime() + quietMs;
  return quietMs > 0 && end > (until?.getTime() ?? 0) ? new Date(end) : until;
}
