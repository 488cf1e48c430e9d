import { admit, type Breaker, type CallResult, CLOSED, quiet, record } from './breaker.rules.js';
import type { NotSent } from '../outcome.rules.js';
import type { OperationStatus } from '../remote-status.js';
import { RetryBudget } from './retry-budget.js';

/** The state of one operation class: its breaker, its retry budget, and how its last calls ended. */
export class OperationGate {
  readonly budget = new RetryBudget();
  private breaker: Breaker = CLOSED;
  private lastSuccessAtMs: number | undefined;
  private lastError: { readonly at: Date; readonly text: string } | undefined;

  constructor(
    private readonly clock: () => number,
    private readonly timeoutMs: number,
  ) {}

  /** Returns the refusal before queueing, so that a call that will be refused does not wait for it. Does not take the probe. */
  refusal(): NotSent | undefined {
    const admission = admit(this.breaker, this.clock(), this.timeoutMs);
    return admission.kind === 'pass'
      ? undefined
      : { kind: 'not_sent', reason: admission.reason, retryAfterMs: admission.retryAfterMs };
  }

  /** Admits or refuses a call right before sending. The result of an admitted probe must be recorded. */
  admit(): NotSent | { readonly kind: 'pass'; readonly probe: boolean } {
    const admission = admit(this.breaker, this.clock(), this.timeoutMs);
    if (admission.kind === 'refused')
      return { kind: 'not_sent', reason: admission.reason, retryAfterMs: admission.retryAfterMs };
    this.breaker = admission.next;
    return admission;
  }

  /** Records a result; `fault` is redacted text. Returns how the breaker changed. Opening again after a failed probe counts as a change. */
  record(
    result: CallResult,
    probe: boolean,
    fault?: string,
    quietMs?: number,
  ): 'opened' | 'closed' | undefined {
    const now = this.clock();
    const { phase } = this.breaker;
    this.breaker = record(this.breaker, result, probe, now, Math.random());
    if (quietMs !== undefined) this.holdBack(quietMs);
    if (result === 'succeeded') this.lastSuccessAtMs = Date.now();
    if (fault !== undefined) this.lastError = { at: new Date(), text: fault };
    if (this.breaker.phase === phase || result === 'unknown') return undefined;
    return this.breaker.phase === 'closed' ? 'closed' : 'opened';
  }

  /** Blocks calls for this long. A shorter wait does not undo a longer one. */
  holdBack(ms: number): void {
    this.breaker = quiet(this.breaker, this.clock() + ms);
  }

  status(): OperationStatus {
    const { phase } = this.breaker;
    const refusal = this.refusal();
    const failedLast =
      this.lastError !== undefined && this.lastError.at.getTime() > (this.lastSuccessAtMs ?? 0);
    return {
      health: refusal
        ? 'unavailable'
        : failedLast
          ? 'degraded'
          : this.lastSuccessAtMs === undefined
            ? 'unknown'
            : 'healthy',
      breaker: phase,
      retryAfterMs: refusal?.retryAfterMs ?? null,
      lastSuccessAt: this.lastSuccessAtMs === undefined ? null : new Date(this.lastSuccessAtMs),
      lastErrorAt: this.lastError?.at ?? null,
      lastError: this.lastError?.text ?? null,
    };
  }
}
