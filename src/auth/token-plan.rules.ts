import { backoffMs } from '../platform/async/backoff.rules.js';

/** The row of the tenant's token. Times are relative to the database's clock: a negative `…InMs` is in the past. */
export interface TokenRow {
  readonly generation: number;
  readonly tokenCiphertext: Uint8Array | null;
  /** Whether the token was obtained from the service, and with the credentials, that this process is configured with. */
  readonly ours: boolean;
  readonly obtainedAgoMs: number | null;
  readonly renewInMs: number | null;
  readonly expiresInMs: number | null;
  readonly rejected: boolean;
  readonly failures: number;
  readonly nextAttemptInMs: number;
  readonly leased: boolean;
}

export type TokenPlan =
  | { readonly kind: 'use'; readonly alsoRenew: boolean }
  /** The process that gets the lease obtains a token. */
  | { readonly kind: 'renew' }
  /** The service refused the last token. The process that gets the lease tests with one call whether the service accepts calls again. */
  | { readonly kind: 'try'; readonly withToken: 'stored' | 'new' }
  /** Another process has the lease. */
  | { readonly kind: 'wait' }
  | {
      readonly kind: 'refuse';
      readonly reason: 'credentials_rejected' | 'token_unavailable';
      readonly retryAfterMs: number;
    };

const COOL_DOWN = { firstMs: 5_000, mostMs: 300_000 };
const ENDPOINT_WAIT = { firstMs: 1_000, mostMs: 60_000 };

/** Returns the next step of a process that needs a token. */
export function planToken(row: TokenRow): TokenPlan {
  // The stored token and failures belong to other credentials, so they are ignored.
  if (!row.ours) return row.leased ? { kind: 'wait' } : { kind: 'renew' };
  const usable = row.tokenCiphertext !== null && (row.expiresInMs ?? 0) > 0;
  const blocked = row.nextAttemptInMs > 0;
  if (usable && !row.rejected) {
    return { kind: 'use', alsoRenew: (row.renewInMs ?? 0) <= 0 && !row.leased && !blocked };
  }
  if (row.leased) return { kind: 'wait' };
  if (blocked) {
    const reason = row.rejected && row.failures > 0 ? 'credentials_rejected' : 'token_unavailable';
    return { kind: 'refuse', reason, retryAfterMs: Math.ceil(row.nextAttemptInMs) };
  }
  return row.rejected ? { kind: 'try', withToken: usable ? 'stored' : 'new' } : { kind: 'renew' };
}

/** Returns how long to block calls after consecutive refusals. The block after the first is short, because it may concern only one call. */
export function coolDownMs(refusals: number): number {
  return refusals <= 1 ? 1_000 : backoffMs(COOL_DOWN, refusals - 1);
}

/** Returns how long all replicas wait before they call a failing token endpoint again. `random` is in [0, 1). */
export function endpointWaitMs(failures: number, random: number): number {
  return backoffMs(ENDPOINT_WAIT, failures + 1, random);
}

/** Returns when to renew a token: at a random point between 80 and 90 % of its lifetime. */
export function renewAfterMs(lifetimeMs: number, random: number): number {
  return Math.floor(lifetimeMs * (0.8 + 0.1 * random));
}
