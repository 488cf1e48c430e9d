import type { SendOutcome } from '../send/outcome.rules.js';

/** The new status of a delivery after an attempt. */
export type DeliveryPlan =
  | { readonly status: 'delivered' }
  | { readonly status: 'pending'; readonly waitMs: number }
  /** Given up; a redelivery can be requested. */
  | { readonly status: 'failed' };

/** Spreads retries of deliveries that failed together. It only lengthens the scheduled wait. */
const JITTER = 0.1;

/**
 * `attempts` excludes the current one. `schedule` has the wait in milliseconds after each failed attempt. `random` is in [0, 1). If
 * the endpoint is gone, the delivery stays pending until the endpoint is enabled again.
 */
export function planDelivery(
  outcome: SendOutcome,
  attempts: number,
  schedule: readonly number[],
  random: number,
): DeliveryPlan {
  switch (outcome.kind) {
    case 'delivered':
      return { status: 'delivered' };
    case 'gone':
      return { status: 'pending', waitMs: 0 };
    case 'failed': {
      const waitMs = schedule[attempts];
      return waitMs === undefined
        ? { status: 'failed' }
        : { status: 'pending', waitMs: waitMs * (1 + JITTER * random) };
    }
  }
}
