import type { NotSentReason, Outcome } from '../../remote/outcome.rules.js';
import type { Metadata } from '../metadata.rules.js';
import type { AskedUser, RemoteUser } from '../remote/remote-user.rules.js';

export interface RegistrationRequest extends AskedUser {
  readonly metadata: Metadata;
}

/** The right to make one call for one registration, and to store its outcome. */
export interface Claim extends RegistrationRequest {
  readonly id: string;
  /** The number of this call, from 1. */
  readonly attempts: number;
  readonly leaseToken: string;
}

/**
 * - `pending`: nothing has had an effect at the remote service yet. Entered by a request or a person's retry; left by the outcome of the
 *   call or a person's decision. If the sender dies during the call, its lease expires and the registration becomes `uncertain`.
 * - `registered`: the remote service or a person confirmed the user. Final.
 * - `rejected`: the remote service refused the request, so there is no user. A person may retry it, or the tenant may register anew.
 * - `uncertain`: the call may have created a user, and the interface has no look-up. Left by a person's decision or a late response that
 *   is certain.
 * - `discarded`: a person gave it up. The tenant may register the reference anew.
 */
export const REGISTRATION_STATUSES = ['pending', 'registered', 'rejected', 'uncertain', 'discarded'] as const;
export type RegistrationStatus = (typeof REGISTRATION_STATUSES)[number];

/**
 * What the outcome of a call makes of the registration. `lastError` is for the tenant, and may contain the remote service's words.
 * `reason` goes into an event, and must not contain what foreign text may include (an EAN, a name).
 */
export type Verdict =
  | { readonly status: 'registered'; readonly user: RemoteUser }
  | { readonly status: 'rejected'; readonly lastError: string; readonly reason: string }
  | Uncertain
  | { readonly status: 'pending'; readonly lastError: string; readonly nextAttemptInMs: number };

interface Uncertain {
  readonly status: 'uncertain';
  readonly lastError: string;
  readonly reason: string;
}

/** A caller probably waits for the first attempts. In a long outage, each registration is sent once in five minutes. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 300_000;
/** A Retry-After of more than an hour is more likely a mistake than a plan; the worse failure is a user that is never registered. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** Why nothing was sent, and the minimum delay if the usual backoff would start too early. */
const NOT_SENT: Record<NotSentReason, { readonly said: string; readonly leastDelayMs: number }> = {
  unreachable: { said: 'the Solar Curtailment Service cannot be reached', leastDelayMs: 0 },
  breaker_open: {
    said: 'the Solar Curtailment Service has been failing and is being left alone',
    leastDelayMs: 0,
  },
  rate_limited: { said: 'the Solar Curtailment Service takes no more requests now', leastDelayMs: 0 },
  limiter_timeout: { said: 'too many calls to the Solar Curtailment Service are waiting', leastDelayMs: 0 },
  // Only a person can correct credentials, and every attempt is one more failed login at the remote service.
  credentials_rejected: {
    said: 'the Solar Curtailment Service does not accept our credentials',
    leastDelayMs: 60_000,
  },
  token_unavailable: { said: 'the Solar Curtailment Service gave no access token', leastDelayMs: 0 },
  stopping: { said: 'the service was stopping; another replica sends it', leastDelayMs: 0 },
};

/**
 * Returns what the outcome makes of the registration, by certainty alone: a call that was certainly not sent is retried, one that may
 * have had an effect never is. `attempts` counts this call, from 1; `random` is uniform in [0, 1).
 */
export function planVerdict(outcome: Outcome<RemoteUser>, attempts: number, random: number): Verdict {
  switch (outcome.kind) {
    case 'done':
      return { status: 'registered', user: outcome.value };
    case 'rejected': {
      const reason = `the Solar Curtailment Service refused it with status ${outcome.status}`;
      return {
        status: 'rejected',
        lastError: outcome.detail ? `${reason}: ${outcome.detail}` : reason,
        reason,
      };
    }
    case 'not_sent': {
      const { said, leastDelayMs } = NOT_SENT[outcome.reason];
      const askedDelayMs = Math.min(outcome.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
      return {
        status: 'pending',
        lastError: said,
        nextAttemptInMs: Math.max(backoffMs(attempts, random), leastDelayMs, askedDelayMs),
      };
    }
    case 'ambiguous':
      return uncertain(`the call may have had its effect, but its answer was lost (${outcome.reason})`);
    case 'unreadable':
      return uncertain(`the service answered ${outcome.status}, but not with the user (${outcome.reason})`);
  }
}

/** Returns `uncertain`, for a response with users or grid locations that belong to another user here. */
export function withForeignIds(fields: readonly string[]): Uncertain {
  const named = fields.length === 0 ? '' : ` (${fields.join(', ')})`;
  return uncertain(`the service answered with ids that belong to another user here${named}`);
}

/**
 * Returns a delay that doubles from one second to five minutes. Half of it is random, so that registrations that failed together are not
 * retried together.
 */
export function backoffMs(attempts: number, random: number): number {
  const wholeMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempts - 1, 20), LONGEST_DELAY_MS);
  return Math.round(wholeMs * (0.5 + random / 2));
}

const uncertain = (reason: string): Uncertain => ({ status: 'uncertain', lastError: reason, reason });

export const PERSON_DECISIONS = ['retry', 'discard', 'resolve'] as const;
export type PersonDecision = (typeof PERSON_DECISIONS)[number];

/**
 * The statuses to which a person's decision applies, never while the registration is being sent. For the reasons, see
 * docs/registrations.md.
 */
export const DECIDABLE: Record<PersonDecision, readonly RegistrationStatus[]> = {
  retry: ['pending', 'uncertain', 'rejected'],
  discard: ['pending', 'uncertain', 'rejected'],
  resolve: ['pending', 'uncertain', 'rejected', 'discarded'],
};
