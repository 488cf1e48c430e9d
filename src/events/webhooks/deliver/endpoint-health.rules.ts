import type { SendOutcome } from '../send/outcome.rules.js';

/** The recent results of attempts at an endpoint. */
export interface Health {
  /** Consecutive failed attempts, across all events. */
  readonly failures: number;
  readonly failingSince: Date | null;
  /** Nothing is sent before this time. */
  readonly quietUntil: Date | null;
}

export interface HealthPlan extends Health {
  /** Why sending stops until a person enables the endpoint again. Null: sending continues. */
  readonly disable: { readonly reason: 'gone' | 'failing'; readonly since: Date } | null;
  /** The start of the outage (at least `FAILING_FROM` failures in a row) that these outcomes ended. Null if they ended none. */
  readonly recoveredFrom: Date | null;
}

/**
 * Concurrent requests to one endpoint. 16 allow 160 events a second to a receiver that takes 100 ms, and are too few to look like an
 * attack. For each hanging endpoint, a process ties up this many sockets and bodies.
 */
const PLACES = 16;
/**
 * After this many consecutive failures, the endpoint is considered failing, rather than single events: a receiver that fails every
 * fourth request reaches it once in a million. A failing endpoint gets one request at a time.
 */
const FAILING_FROM = 10;
/**
 * A failing endpoint is left quiet for this share of the time since it began to fail. So a recovery after one minute is noticed
 * within 15 s, and one after an hour within 5 minutes. A larger share delays all its events after each long outage; a smaller one
 * costs a request every few seconds for days.
 */
const QUIET_SHARE = 0.25;
const SHORTEST_QUIET_MS = 1_000;
const LONGEST_QUIET_MS = 5 * 60_000;
/**
 * 5 days, as at Svix: longer than a long weekend, and longer than the whole retry schedule of an event. Disabling a receiver that
 * would have come back is the worse failure. Pending deliveries are kept either way.
 */
const DISABLED_AFTER_MS = 5 * 24 * 3_600_000;
/** Twice the attempts of a single event, so that one event cannot disable a rarely used endpoint. */
const DISABLED_FROM = 20;

export const isFailing = ({ failures }: Pick<Health, 'failures'>): boolean => failures >= FAILING_FROM;

export const placesOf = (health: Pick<Health, 'failures'>): number => (isFailing(health) ? 1 : PLACES);

/** Returns the new health after these outcomes, which are in the order in which the attempts ended. */
export function planHealth(before: Health, outcomes: readonly SendOutcome[], now: Date): HealthPlan {
  let { failures, failingSince, quietUntil } = before;
  let recoveredFrom: Date | null = null;
  let isGone = false;
  for (const outcome of outcomes) {
    if (outcome.kind === 'delivered') {
      if (failingSince !== null && isFailing({ failures })) recoveredFrom = failingSince;
      failures = 0;
      failingSince = null;
      continue;
    }
    failures += 1;
    failingSince ??= now;
    isGone ||= outcome.kind === 'gone';
    const quietMs = Math.max(quietOf(failures, failingSince, now), askedQuietOf(outcome));
    quietUntil = later(quietUntil, quietMs, now);
  }
  // A successful delivery ends the quiet period, unless the receiver itself asked for it (Retry-After).
  if (failures === 0 && !outcomes.some((outcome) => askedQuietOf(outcome) > 0)) quietUntil = null;
  const hasFailedLong =
    failingSince !== null &&
    failures >= DISABLED_FROM &&
    now.getTime() - failingSince.getTime() >= DISABLED_AFTER_MS;
  const reason = isGone ? 'gone' : hasFailedLong ? 'failing' : null;
  const disable = reason === null ? null : ({ reason, since: failingSince ?? now } as const);
  return { failures, failingSince, quietUntil, disable, recoveredFrom };
}

function quietOf(failures: number, failingSince: Date, now: Date): number {
  if (!isFailing({ failures })) return 0;
  const failingMs = now.getTime() - failingSince.getTime();
  return Math.min(Math.max(failingMs * QUIET_SHARE, SHORTEST_QUIET_MS), LONGEST_QUIET_MS);
}

const askedQuietOf = (outcome: SendOutcome): number =>
  outcome.kind === 'failed' ? (outcome.retryAfterMs ?? 0) : 0;

function later(until: Date | null, quietMs: number, now: Date): Date | null {
  const asked = now.getTime() + quietMs;
  return quietMs > 0 && asked > (until?.getTime() ?? 0) ? new Date(asked) : until;
}
