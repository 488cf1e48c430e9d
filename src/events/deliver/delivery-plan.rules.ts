/** The outcome of one attempt. Texts are redacted. */
export interface SendOutcome {
  /** `gone`: the receiver is permanently gone (Standard Webhooks). */
  readonly kind: 'delivered' | 'gone' | 'failed';
  /** The HTTP status, and the beginning of the body. */
  readonly status?: number;
  readonly answer?: string;
  /** Why the attempt was not delivered. */
  readonly error?: string;
  /** The wait that the receiver requests. */
  readonly retryAfterMs?: number;
}

export interface PastAttempts {
  readonly attempts: number;
  /** How many of `attempts` were made before the time of the retry schedule. */
  readonly earlyAttempts: number;
  /** Whether the next attempt is made before its time. */
  readonly isEarly: boolean;
}

export type DeliveryPlan =
  | { readonly status: 'delivered' }
  /** `waitMs` is null if the time of the retry stays as it was. */
  | { readonly status: 'pending'; readonly waitMs: number | null }
  /** No retry follows. A redelivery can be requested. */
  | { readonly status: 'failed' };

/** Lengthens each wait at random by up to 10 %, to spread the retries of deliveries that failed together. */
const JITTER = 0.1;

/**
 * Returns the delivery's status after an attempt. An early attempt does not count towards the schedule. `waitAfter`: returns the ms to wait
 * after so many earlier failures. `random`: in [0, 1).
 */
export function planDelivery(
  { kind }: SendOutcome,
  { attempts, earlyAttempts, isEarly }: PastAttempts,
  waitAfter: (failures: number) => number | undefined,
  random: number,
): DeliveryPlan {
  if (kind === 'delivered') return { status: 'delivered' };
  // Stays pending until the endpoint is enabled again.
  if (kind === 'gone') return { status: 'pending', waitMs: 0 };
  if (isEarly) return { status: 'pending', waitMs: null };
  const waitMs = waitAfter(attempts - earlyAttempts);
  return waitMs === undefined
    ? { status: 'failed' }
    : { status: 'pending', waitMs: waitMs * (1 + JITTER * random) };
}
