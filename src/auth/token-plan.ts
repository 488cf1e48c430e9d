/** The row of the tenant's token as read; times are milliseconds from now by the database's clock (negative: past). */
export interface TokenRow {
  readonly generation: number;
  readonly tokenCiphertext: Uint8Array | null;
  /** Obtained with the credentials and from the service in this process's configuration. */
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
  | { readonly kind: 'use'; readonly renewBeside: boolean }
  /** Obtain a token; the process that gets the lease does it. */
  | { readonly kind: 'renew' }
  /** The service refused the last token: the process that gets the lease tests with one call whether the service accepts calls again. */
  | { readonly kind: 'try'; readonly withToken: 'held' | 'new' }
  /** Another process has the lease. */
  | { readonly kind: 'wait' }
  | {
      readonly kind: 'refuse';
      readonly reason: 'credentials_rejected' | 'token_unavailable';
      readonly retryAfterMs: number;
    };

/** Returns the next step of a process that needs a token. */
export function planToken(row: TokenRow): TokenPlan {
  // A token of other credentials, and its recorded failures, do not concern this process.
  if (!row.ours) return row.leased ? { kind: 'wait' } : { kind: 'renew' };
  const usable = row.tokenCiphertext !== null && (row.expiresInMs ?? 0) > 0;
  const held = row.nextAttemptInMs > 0;
  if (usable && !row.rejected) {
    return { kind: 'use', renewBeside: (row.renewInMs ?? 0) <= 0 && !row.leased && !held };
  }
  if (row.leased) return { kind: 'wait' };
  if (held) {
    const reason = row.rejected && row.failures > 0 ? 'credentials_rejected' : 'token_unavailable';
    return { kind: 'refuse', reason, retryAfterMs: Math.ceil(row.nextAttemptInMs) };
  }
  return row.rejected ? { kind: 'try', withToken: usable ? 'held' : 'new' } : { kind: 'renew' };
}

/**
 * Returns how long calls are blocked after the nth refusal in a row. The first wait is short, since the refusal may concern only that call.
 * After that wrong credentials are the likelier cause, and only a person can fix them.
 */
export function coolDownMs(refusals: number): number {
  return refusals <= 1 ? 1_000 : Math.min(5_000 * 2 ** (refusals - 2), 300_000);
}

/** Returns how long all replicas wait before they call a failing token endpoint again; `random` in [0, 1). */
export function backoffMs(failures: number, random: number): number {
  return Math.min(1_000 * 2 ** Math.min(failures, 10), 60_000) * (0.5 + random / 2);
}

/** Returns a time between 80 and 90 % of the lifetime, different for each token. */
export function renewAfterMs(lifetimeMs: number, random: number): number {
  return Math.floor(lifetimeMs * (0.8 + 0.1 * random));
}
