import { backoffMs } from '../../platform/async/backoff.rules.js';
import { describeNotSent, NOT_SENT_TEXT, type Outcome } from '../../remote/outcome.rules.js';
import type { Metadata } from '../metadata.rules.js';
import type { RequestedUser, RemoteUser } from '../remote/remote-user.rules.js';

export interface RegistrationRequest extends RequestedUser {
  readonly metadata: Metadata;
}

/** The right to make one call for one registration and to store the outcome. */
export interface Claim extends RegistrationRequest {
  readonly id: string;
  readonly attempts: number;
  readonly leaseToken: string;
}

/**
 * - `pending`: due, to be retried, or in flight. If the sender dies during the call, the registration becomes `uncertain`.
 * - `registered`: the remote service or a person confirmed the user. Final.
 * - `rejected`: the remote service refused the request; no user exists. A person may retry, or the tenant may register the reference anew.
 * - `uncertain`: the call may have created a user, and the interface has no look-up. A person's decision or a late response ends it.
 * - `discarded`: a person gave up the registration. The tenant may register the reference anew.
 */
export const REGISTRATION_STATUSES = ['pending', 'registered', 'rejected', 'uncertain', 'discarded'] as const;
export type RegistrationStatus = (typeof REGISTRATION_STATUSES)[number];

/** The status after a call or a decision. `lastError` may quote the remote service. `reason` goes into an event and must not quote it. */
export type Settlement =
  | { readonly status: 'registered'; readonly user: RemoteUser }
  | {
      readonly status: 'rejected' | 'uncertain' | 'pending' | 'discarded';
      readonly lastError: string | null;
      readonly reason: string;
      readonly nextAttemptInMs?: number;
    };

/** The wait before a retry. It starts short, since a caller may wait for the first attempts, and grows to five minutes in a long outage. */
const BACKOFF = { firstMs: 1_000, mostMs: 300_000 };
/** The longest Retry-After that is obeyed. A longer Retry-After is probably a mistake and would delay the user for too long. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;
const LONGEST_BREAKER_WAIT_MS = 30_000;

/** The least delay after refused credentials. TenantTokens gives a longer one, unless the service accepts the token for other calls. */
const REJECTED_DELAY_MS = 5_000;

/** Returns the status after a call. Retries a call that certainly had no effect, but never one that may have had an effect. */
export function planSettlement(outcome: Outcome<RemoteUser>, attempts: number, random: number): Settlement {
  switch (outcome.kind) {
    case 'done':
      return { status: 'registered', user: outcome.value };
    case 'rejected': {
      const reason = `the Solar Curtailment Service refused it with status ${outcome.status}`;
      // An earlier call may have created the user with which a repeated call conflicts.
      const mayBeOurs = outcome.status === 409 && attempts > 1;
      return {
        status: mayBeOurs ? 'uncertain' : 'rejected',
        lastError: outcome.detail ? `${reason}: ${outcome.detail}` : reason,
        reason,
      };
    }
    case 'not_sent': {
      const leastDelayMs = outcome.reason === 'credentials_rejected' ? REJECTED_DELAY_MS : 0;
      // Limits the wait, since the breaker may close earlier than planned. A worker sends nothing while the breaker is open.
      const longestMs = outcome.reason === 'breaker_open' ? LONGEST_BREAKER_WAIT_MS : LONGEST_RETRY_AFTER_MS;
      const retryAfterMs = Math.min(outcome.retryAfterMs ?? 0, longestMs);
      return {
        status: 'pending',
        lastError: describeNotSent(outcome),
        reason: NOT_SENT_TEXT[outcome.reason],
        nextAttemptInMs: Math.max(backoffMs(BACKOFF, attempts, random), leastDelayMs, retryAfterMs),
      };
    }
    case 'ambiguous':
      return uncertain(
        outcome.status === undefined
          ? `the call may have had its effect, but its response was lost (${outcome.reason})`
          : `the Solar Curtailment Service responded with status ${outcome.status}, which does not say whether the call had its effect`,
      );
    case 'unreadable':
      return uncertain(`the response ${outcome.status} does not confirm the user (${outcome.reason})`);
  }
}

/** The registration of a call that has ended, if no newer call has begun. */
export interface CalledRegistration {
  readonly status: RegistrationStatus;
  readonly userId: string | null;
  readonly lastError: string | null;
  readonly isLeased: boolean;
  readonly isFree: boolean;
}

/**
 * Returns what to do with the outcome of a call. `write`: store it. `stored`: nothing, since an earlier try has committed it. `stale`: drop
 * it. If the lease was lost, only a certain outcome is written: an uncertain one could undo a person's decision to retry.
 */
export function planOutcome(called: CalledRegistration | undefined, settlement: Settlement) {
  if (called === undefined) return 'stale';
  const { status, userId, lastError, isLeased, isFree } = called;
  if (isLeased) return 'write';
  if (!isFree) return 'stale';
  const isSame =
    settlement.status === 'registered' ? settlement.user.id === userId : settlement.lastError === lastError;
  if (status === settlement.status && isSame) return 'stored';
  const isUndecided = status === 'pending' || status === 'uncertain';
  return isUndecided && settlement.status !== 'uncertain' ? 'write' : 'stale';
}

/** Returns the settlement of a response with ids that belong to another user in our database. */
export function withForeignIds(fields: readonly string[]): Settlement {
  const named = fields.join(', ');
  return uncertain(
    `the remote service responded with ids that belong to another user in our database (${named})`,
  );
}

/**
 * Returns the settlement of an outcome that the database has refused to store. It contains no text of the remote service, which may be what
 * was refused. `why` describes the error. A person who resolves the registration needs the id of the user.
 */
export function unstored(settlement: Settlement, why: string): Settlement & { readonly lastError: string } {
  if (settlement.status === 'registered') {
    const reason = `the Solar Curtailment Service has registered the user, but our database could not store it (${why})`;
    return { status: 'uncertain', lastError: `${reason}; the user's id is ${settlement.user.id}`, reason };
  }
  return { ...settlement, lastError: `${settlement.reason}; our database could not store more (${why})` };
}

const uncertain = (reason: string): Settlement => ({ status: 'uncertain', lastError: reason, reason });
