import type { SendOutcome } from '../send/outcome.rules.js';

/** What becomes of a delivery after an attempt. */
export type DeliveryPlan =
  | { readonly status: 'delivered' }
  | { readonly status: 'pending'; readonly waitMs: number }
  /** Given up; it can be asked for again. */
  | { readonly status: 'failed' };

/** Spreads what failed together, so that it does not come back together; never earlier than the schedule says. */
const JITTER = 0.1;

/**
 * `attempts` counts those before this one, `schedule` holds the wait after each that fails; `random` is in [0, 1). An endpoint that is
 * gone keeps what is pending, for whoever enables it again.
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
