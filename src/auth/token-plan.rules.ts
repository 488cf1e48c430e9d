import { backoffMs } from '../platform/async/backoff.rules.js';
import type { NotSent, OperationClass, Outcome } from '../remote/outcome.rules.js';

/** The row of the tenant's token. Times are by the database's clock. */
export interface TokenRow {
  readonly now: Date;
  readonly generation: number;
  readonly isLeased: boolean;
  /** Whether the row belongs to the credentials of this process. If not, the fields below are null or 0. */
  readonly isOurs: boolean;
  readonly token: string | null;
  readonly obtainedAt: Date | null;
  readonly renewAt: Date | null;
  readonly expiresAt: Date | null;
  /** Set while calls are blocked until a trial succeeds. */
  readonly rejectedAt: Date | null;
  readonly failures: number;
  readonly nextAttemptAt: Date | null;
  /** The classes of operations whose trials were refused and none of whose calls was accepted since. */
  readonly refusedOperations: readonly OperationClass[];
}

/** The memory of a process, in addition to the row. */
interface TokenMemory {
  /** The newest token generation with which a call was refused. */
  readonly refusedGeneration: number;
  /** The time for which this process must not request a token, because the service rejected its credentials. */
  readonly rejectedForMs: number;
  /** The class of the call that waits for a token. No call waits for a renewal or a probe. */
  readonly purpose: OperationClass | 'renewal' | 'probe';
}

/**
 * The plan to claim the lease. The process that gets it obtains a token or, with `withStored`, uses the stored token. In a trial, a call
 * of this process then tests the token for all replicas.
 */
export interface Claim {
  readonly kind: 'claim';
  readonly isTrial: boolean;
  readonly withStored: boolean;
  /** Whether to obtain and test another token if the trial is refused. */
  readonly mayReplace: boolean;
}

type TokenPlan =
  | { readonly kind: 'use' }
  | Claim
  /** Another process has the lease. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'refuse'; readonly reason: NotSent['reason']; readonly retryAfterMs: number };

/** A refused token that is younger than this is not replaced, because its age is not the reason. */
const YOUNG_MS = 5_000;
/** A class whose trial was refused leaves the next trial to others for this long. They may be accepted. */
const YIELD_MS = 3_000;
/** While a class is refused alone, the token may be renewed at this age: another one may be what the class needs. */
export const ALONE_MS = 5 * 60_000;
const COOL_DOWN = { firstMs: 5_000, mostMs: 300_000 };
const ENDPOINT_WAIT = { firstMs: 1_000, mostMs: 60_000 };

export function planToken(row: TokenRow, memory: TokenMemory): TokenPlan {
  const msUntil = (at: Date | null) => (at === null ? 0 : at.getTime() - row.now.getTime());
  const { purpose, refusedGeneration, rejectedForMs } = memory;
  const isRenewal = purpose === 'renewal';
  const isEarly = isRenewal || purpose === 'probe';
  const wasRefused = row.refusedOperations.some((operation) => operation === purpose);
  const isKept = isRenewal || (wasRefused && row.rejectedAt === null);
  const isRefused = row.isOurs && row.generation <= refusedGeneration && !isKept;
  const isUsable = row.token !== null && !isRefused && msUntil(row.expiresAt) > 0;
  const isInUse = isUsable && row.rejectedAt === null;
  const yieldMs = wasRefused && row.rejectedAt !== null && row.nextAttemptAt !== null ? YIELD_MS : 0;
  const waitMs = msUntil(row.nextAttemptAt) + yieldMs;
  const isOpen = waitMs <= 0 && !row.isLeased;
  const isAlone = row.refusedOperations.length > 0 && msUntil(row.obtainedAt) <= -ALONE_MS;
  const isDue = isAlone || msUntil(row.renewAt) <= 0;
  if (isInUse && !(isEarly && isOpen && isDue)) return { kind: 'use' };
  // Only a call shows whether the service accepts a token again.
  if (isRenewal && row.rejectedAt !== null)
    return { kind: 'refuse', reason: 'token_unavailable', retryAfterMs: 0 };
  if (row.isLeased) return { kind: 'wait' };
  // Replicas with other credentials use the row. A further rejection of our credentials would delete their token, and would be announced.
  if (!row.isOurs && rejectedForMs > 0)
    return { kind: 'refuse', reason: 'credentials_rejected', retryAfterMs: Math.ceil(rejectedForMs) };
  if (waitMs > 0) {
    const isRejected = row.rejectedAt !== null && row.failures > 0;
    const reason = isRejected ? 'credentials_rejected' : 'token_unavailable';
    return { kind: 'refuse', reason, retryAfterMs: waitMs };
  }
  const isTrial = row.rejectedAt !== null || isRefused;
  const withStored = isTrial && isUsable && !isEarly;
  const mayReplace = withStored && msUntil(row.obtainedAt) <= -YOUNG_MS;
  return { kind: 'claim', isTrial, withStored, mayReplace };
}

/** How long the call of a refused trial waits at least, so that another call of its class is the next trial. */
export const refusedCallMs = (refusals: number): number => coolDownMs(refusals) + YIELD_MS + 1_000;

/** Returns how long to block calls after consecutive refusals. The block after the first is short, because it may concern only one call. */
export const coolDownMs = (refusals: number): number =>
  refusals <= 1 ? 1_000 : backoffMs(COOL_DOWN, refusals - 1);

/** Returns what to record after a token request that yielded no token. `random` is in [0, 1). */
export function planFailure(
  outcome: Exclude<Outcome<unknown>, { kind: 'done' }>,
  failures: number,
  random: number,
) {
  // RFC 6749, section 5.2, allows a 400 for rejected credentials.
  const isRejected = outcome.kind === 'rejected' && [400, 401, 403].includes(outcome.status);
  const isStatus = outcome.kind === 'rejected';
  const refusal = outcome.kind === 'not_sent' && outcome.detail !== undefined ? `: ${outcome.detail}` : '';
  const reason = isStatus
    ? `responded with status ${outcome.status}: ${outcome.detail}`
    : `${outcome.reason}${refusal}`;
  const requestedMs = 'retryAfterMs' in outcome ? (outcome.retryAfterMs ?? 0) : 0;
  const waitMs = isRejected
    ? coolDownMs(failures + 2)
    : Math.max(backoffMs(ENDPOINT_WAIT, failures + 1, random), requestedMs);
  return { error: `no token: ${reason}`, waitMs, isRejected };
}

/** Returns after how long to renew a token: a random time between 80 and 90 % of its lifetime. */
export const renewAfterMs = (lifetimeMs: number, random: number): number =>
  Math.floor(lifetimeMs * (0.8 + 0.1 * random));
