import type { SendOutcome } from '../send/outcome.rules.js';

/** How an endpoint has been answering. */
export interface Health {
  /** Attempts in a row that failed, whatever the event. */
  readonly failures: number;
  readonly failingSince: Date | null;
  /** Nothing is sent before. */
  readonly quietUntil: Date | null;
}

export interface HealthPlan extends Health {
  /** Why nothing more is to be sent, until a person says so; null otherwise. */
  readonly disable: { readonly reason: 'gone' | 'failing'; readonly since: Date } | null;
  /** Since when it had failed at all it was asked; null unless that has just ended. */
  readonly recoveredFrom: Date | null;
}

/**
 * Requests to one endpoint at once. Enough for 160 events a second from a receiver that takes 100 ms, and few enough not to be mistaken
 * for an attack; a process holds that many sockets and bodies for each endpoint that hangs.
 */
const PLACES = 16;
/**
 * From so many failures in a row on it is the endpoint that fails and not an event: one that fails every fourth time reaches it once in
 * a million. From then on it is tried by one request at a time.
 */
const FAILING_FROM = 10;
/**
 * A failing endpoint is left alone for a share of the time for which it has been failing, so what is back after a minute is found
 * within 15 s, and what is back after an hour within 5 minutes. Longer would delay everything for it after each long outage;
 * shorter would cost a request every few seconds for days.
 */
const QUIET_SHARE = 0.25;
const SHORTEST_QUIET_MS = 1_000;
const LONGEST_QUIET_MS = 5 * 60_000;
/**
 * 5 days, as Svix has it: longer than a weekend with a holiday, and than the whole schedule of an event. The worse failure is to give
 * up somebody who would have come back; what is pending is kept either way.
 */
const DISABLED_AFTER_MS = 5 * 24 * 3_600_000;
/** Twice the attempts that a single event gets, so that an endpoint that is hardly used is not given up over one event. */
const DISABLED_FROM = 20;

export const isFailing = ({ failures }: Pick<Health, 'failures'>): boolean => failures >= FAILING_FROM;

export const placesOf = (health: Pick<Health, 'failures'>): number => (isFailing(health) ? 1 : PLACES);

/** What the outcomes of attempts, in the order in which they ended, mean for the endpoint. */
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
  // One that takes events is no longer failing, but what it asked for itself holds.
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
