import { admit, type Breaker, type CallResult, CLOSED, quiet, record } from './breaker.rules.js';
import type { NotSent } from '../outcome.rules.js';
import type { OperationStatus } from '../remote-status.js';
import { RetryBudget } from './retry-budget.js';

/** What is remembered of one operation class: its breaker, its retry budget, and how its last calls went. */
export class OperationGate {
  readonly budget = new RetryBudget();
  private breaker: Breaker = CLOSED;
  private lastSuccessAtMs: number | undefined;
  private lastError: { readonly at: Date; readonly text: string } | undefined;

  constructor(
    private readonly clock: () => number,
    private readonly timeoutMs: number,
  ) {}

  /** Asked before queueing, so that a call that will be refused does not wait for it. Takes no probe. */
  refusal(): NotSent | undefined {
    const admission = admit(this.breaker, this.clock(), this.timeoutMs);
    return admission.kind === 'pass'
      ? undefined
      : { kind: 'not_sent', reason: admission.reason, retryAfterMs: admission.retryAfterMs };
  }

  /** Asked right before sending; a probe that is admitted must be recorded. */
  admit(): NotSent | { readonly kind: 'pass'; readonly probe: boolean } {
    const admission = admit(this.breaker, this.clock(), this.timeoutMs);
    if (admission.kind === 'refused')
      return { kind: 'not_sent', reason: admission.reason, retryAfterMs: admission.retryAfterMs };
    this.breaker = admission.next;
    return admission;
  }

  /** `fault` is redacted text. Answers what it changed for the breaker; opening it once more, after a probe, is a change too. */
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

  /** No call for so long; a shorter wait does not undo a longer one. */
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
