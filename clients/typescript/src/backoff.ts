import { ProblemError } from './problem.js';

const LONGEST_MS = 30_000;
/** The longest delay of a JavaScript timer. A timer with a longer delay fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface RetryOptions {
  /**
   * Receives each error before the next attempt: a network error (also for a wrong host in `baseUrl`), or a ProblemError during an outage.
   * Example: `console.warn`. If the function throws, the call throws the same error. Default: errors before a retry are not reported.
   */
  readonly onRetry?: (error: unknown) => void;
}

/** Pauses between attempts. The pause doubles with each failure, up to 30 seconds, and is varied so that clients do not return together. */
export class Backoff {
  /** The pause after the first failure. */
  firstMs = 1_000;
  #failures = 0;

  constructor(private readonly onRetry: RetryOptions['onRetry']) {}

  succeeded(): void {
    this.#failures = 0;
  }

  /** Reports the error, if there is one. Resolves after the pause, or early when `signal` is aborted. */
  async pause(error: unknown, signal: AbortSignal | undefined): Promise<void> {
    if (error !== undefined && !signal?.aborted) this.onRetry?.(error);
    const doubled = Math.min(this.firstMs * 2 ** this.#failures++, LONGEST_MS);
    const wantedMs = error instanceof ProblemError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
    const ms = Math.max(doubled, wantedMs) * (1 + Math.random() / 4);
    await sleep(Math.min(ms, LONGEST_TIMER_MS), signal);
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
