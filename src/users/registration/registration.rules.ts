import type { NotSentReason, Outcome } from '../../remote/outcome.rules.js';
import type { RemoteUser } from '../remote/remote-user.rules.js';

/**
 * - `pending`: nothing has had an effect at the remote service yet. Put there by a request or a person's retry; taken out by
 *   the answer to the call. A crash during the call leaves a lease that runs out, which makes it `uncertain`.
 * - `registered`: the service confirmed the user, or a person did. Final.
 * - `rejected`: the service refused the request, so there is no user. A person may try again, or the tenant may register anew.
 * - `uncertain`: the call may have made a user, and the interface has no way to ask. Only a person takes it out.
 * - `discarded`: a person gave it up. The tenant may register the reference anew.
 */
export const REGISTRATION_STATUSES = ['pending', 'registered', 'rejected', 'uncertain', 'discarded'] as const;
export type RegistrationStatus = (typeof REGISTRATION_STATUSES)[number];

/**
 * What the outcome of a call makes of the registration. `lastError` is for the tenant, who may read the remote service's own
 * words; `reason` goes into an event, which must not carry what a foreign text may contain (an EAN, a name).
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

/** Someone is probably waiting for the first tries; an outage that lasts gets one call in five minutes per registration. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 300_000;
/** A Retry-After beyond an hour is more likely a mistake than a plan, and the worse failure is a user nobody registers. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** Why nothing was sent, and the least delay where the usual backoff would begin too soon. */
const NOT_SENT: Record<NotSentReason, { readonly said: string; readonly leastDelayMs: number }> = {
  unreachable: { said: 'the Solar Curtailment Service cannot be reached', leastDelayMs: 0 },
  breaker_open: {
    said: 'the Solar Curtailment Service has been failing and is being left alone',
    leastDelayMs: 0,
  },
  rate_limited: { said: 'the Solar Curtailment Service takes no more requests now', leastDelayMs: 0 },
  limiter_timeout: { said: 'too many calls to the Solar Curtailment Service are waiting', leastDelayMs: 0 },
  // Only a person can mend credentials, and every try is one more failed login there.
  credentials_rejected: {
    said: 'the Solar Curtailment Service does not accept our credentials',
    leastDelayMs: 60_000,
  },
  token_unavailable: { said: 'the Solar Curtailment Service gave no access token', leastDelayMs: 0 },
  stopping: { said: 'the service was stopping; another replica sends it', leastDelayMs: 0 },
};

/**
 * Decides by certainty alone: no effect for sure is tried again, an effect that is possible never is. `attempts` counts this
 * call, from 1; `random` is uniform in [0, 1).
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

/** What comes of an answer that names users or grid locations of somebody else here. */
export function withForeignIds(fields: readonly string[]): Uncertain {
  const named = fields.length === 0 ? '' : ` (${fields.join(', ')})`;
  return uncertain(`the service answered with ids that belong to another user here${named}`);
}

/** Doubles from one second to five minutes; half of it is random, so that what failed together does not come back together. */
export function backoffMs(attempts: number, random: number): number {
  const wholeMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempts - 1, 20), LONGEST_DELAY_MS);
  return Math.round(wholeMs * (0.5 + random / 2));
}

const uncertain = (reason: string): Uncertain => ({ status: 'uncertain', lastError: reason, reason });

export const PERSON_DECISIONS = ['retry', 'discard', 'resolve'] as const;
export type PersonDecision = (typeof PERSON_DECISIONS)[number];

/**
 * The statuses a person may decide about; one that is being sent at the moment never is. docs/registrations.md says why.
 */
export const DECIDABLE: Record<PersonDecision, readonly RegistrationStatus[]> = {
  retry: ['pending', 'uncertain', 'rejected'],
  discard: ['pending', 'uncertain', 'rejected'],
  resolve: ['pending', 'uncertain', 'rejected', 'discarded'],
};
