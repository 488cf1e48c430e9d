import type { Breaker } from './pace/breaker.rules.js';
import type { OperationClass, Priority } from './outcome.rules.js';

/** How this process finds the remote service, for GET /status. */
export interface RemoteStatus {
  /** Calls that may be in flight at once: now, and at most (SCS_MAX_CONCURRENCY). */
  readonly limit: { readonly current: number; readonly ceiling: number };
  readonly inFlight: number;
  readonly queued: Readonly<Record<Priority, number>>;
  readonly operations: Readonly<Record<OperationClass, OperationStatus>>;
}

export interface OperationStatus {
  /** `unknown` before the first call, `degraded` when the last one failed, `unavailable` while calls are held back. */
  readonly health: 'unknown' | 'healthy' | 'degraded' | 'unavailable';
  readonly breaker: Breaker['phase'];
  /** While calls are held back, by the breaker or at the service's own wish (Retry-After): for how long. */
  readonly retryAfterMs: number | null;
  readonly lastSuccessAt: Date | null;
  readonly lastErrorAt: Date | null;
  /** Redacted. */
  readonly lastError: string | null;
}
