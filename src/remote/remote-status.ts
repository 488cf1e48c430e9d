import type { Breaker } from './pace/breaker.rules.js';
import type { OperationClass, Priority } from './outcome.rules.js';

/** The remote service as this process sees it, for GET /status. */
export interface RemoteStatus {
  /** Calls that may be in flight at once: now, and at most (SCS_MAX_CONCURRENCY). */
  readonly limit: { readonly current: number; readonly ceiling: number };
  readonly inFlight: number;
  readonly queued: Readonly<Record<Priority, number>>;
  readonly operations: Readonly<Record<OperationClass, OperationStatus>>;
}

export interface OperationStatus {
  /** `unknown` before the first call, `degraded` if the last call failed, `unavailable` while calls are blocked. */
  readonly health: 'unknown' | 'healthy' | 'degraded' | 'unavailable';
  readonly breaker: Breaker['phase'];
  /** How long calls remain blocked, by the breaker or by the service (Retry-After); null if they are not. */
  readonly retryAfterMs: number | null;
  readonly lastSuccessAt: Date | null;
  readonly lastErrorAt: Date | null;
  /** Redacted text. */
  readonly lastError: string | null;
}
