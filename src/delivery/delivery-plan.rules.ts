/** The outcome of one attempt. Texts are redacted. */
export interface SendOutcome {
  /** `gone`: the receiver responded with 410 and wants no more events (Standard Webhooks). */
  readonly kind: 'delivered' | 'gone' | 'failed';
  /** The URL of the webhook endpoint that it was sent to. */
  readonly url?: string;
  /** The HTTP status of the response, and the beginning of its body. */
  readonly status?: number;
  readonly answer?: string;
  /** Why the attempt failed. */
  readonly error?: string;
  /** The wait that the receiver requests with Retry-After. */
  readonly retryAfterMs?: number;
}

export interface PastAttempts {
  readonly attempts: number;
  /** How many of `attempts` were early: made before the time of the retry. */
  readonly earlyAttempts: number;
  /** Whether the next attempt is early. */
  readonly isEarly: boolean;
}

export type DeliveryPlan =
  | { readonly status: 'delivered' }
  /** `waitMs` is null if the time of the retry does not change. */
  | { readonly status: 'pending'; readonly waitMs: number | null }
  /** No retry follows, but a caller can request a redelivery. */
  | { readonly status: 'failed' };

/** Lengthens each wait at random by up to 10 %, to spread the retries of deliveries that failed at the same time. */
const JITTER = 0.1;

/**
 * Returns the delivery's status after an attempt. An early attempt does not count towards the schedule. `waitAfter`: returns the ms to wait
 * after a failure, given the number of earlier failures. `random`: in [0, 1).
 */
export function planDelivery(
  { kind }: SendOutcome,
  { attempts, earlyAttempts, isEarly }: PastAttempts,
  waitAfter: (failures: number) => number | undefined,
  random: number,
): DeliveryPlan {
  if (kind === 'delivered') return { status: 'delivered' };
  // The endpoint is disabled. The delivery stays pending until the endpoint is enabled again.
  if (kind === 'gone') return { status: 'pending', waitMs: 0 };
  if (isEarly) return { status: 'pending', waitMs: null };
  const waitMs = waitAfter(attempts - earlyAttempts);
  return waitMs === undefined
    ? { status: 'failed' }
    : { status: 'pending', waitMs: waitMs * (1 + JITTER * random) };
}
