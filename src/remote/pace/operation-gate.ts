import type { NotSent } from '../outcome.rules.js';
import type { Exchanged } from '../wire/exchange.js';
import { admit, type Breaker, CLOSED, quiet, record } from './breaker.rules.js';

/** Retries may add a tenth to the calls of a class, so that a failing service does not receive three times the load. */
const RETRIES_PER_CALL = 0.1;
/** The maximum of the retry budget: enough for the reads that fail when one connection is lost or the service restarts. */
const MOST_RETRIES = 10;

/** A wait that ends at least this much later than the known wait is another wait. */
export const WAIT_STEP_MS = 50;

/** How a result changed the breaker. Opening again after a failed probe also counts as `opened`. */
export type BreakerChange = 'opened' | 'closed' | undefined;

/** The state of one operation class: its breaker, its retry budget, its last success and its last error. */
export class OperationGate {
  private breaker: Breaker = CLOSED;
  private retries = MOST_RETRIES;
  /** The length of the last wait that the service requested. */
  private requestedMs = 0;
  private lastSuccessAt: Date | null = null;
  private lastError: { readonly at: Date; readonly text: string } | null = null;
  /** Whether the last error came after the last success. Their times may be equal. */
  private hasFailed = false;

  constructor(private readonly timeoutMs: number) {}

  /** Returns the refusal that a call would get now. For a check before the call enters the queue: does not start a probe. */
  refusal(): NotSent | undefined {
    const admission = admit(this.breaker, performance.now(), this.timeoutMs);
    return admission.kind === 'pass' ? undefined : { ...admission, kind: 'not_sent' };
  }

  /** Admits or refuses a call that is about to be sent. The caller must record the result of a probe. */
  admit(): NotSent | { readonly kind: 'pass'; readonly probe: boolean } {
    const admission = admit(this.breaker, performance.now(), this.timeoutMs);
    if (admission.kind === 'refused') return { ...admission, kind: 'not_sent' };
    this.breaker = admission.next;
    return admission;
  }

  record({ result, fault, quietMs }: Exchanged, probe: boolean): BreakerChange {
    const { phase } = this.breaker;
    this.breaker = record(this.breaker, result, probe, performance.now(), Math.random());
    if (quietMs !== undefined) this.quiet(quietMs);
    if (result === 'succeeded' && fault === undefined) this.noteSuccess();
    if (fault !== undefined) this.noteFault(fault);
    if (this.breaker.phase === phase || result === 'unknown') return undefined;
    return this.breaker.phase === 'closed' ? 'closed' : 'opened';
  }

  noteFault(text: string): void {
    this.lastError = { at: new Date(), text };
    this.hasFailed = true;
  }

  private noteSuccess(): void {
    this.lastSuccessAt = new Date();
    this.hasFailed = false;
  }

  quiet(ms: number): void {
    const now = performance.now();
    const until = now + ms;
    const { quietUntil } = this.breaker;
    // Other replicas repeat the rest of a known wait, a few milliseconds off.
    if (until > quietUntil + WAIT_STEP_MS)
      this.requestedMs = Math.max(now < quietUntil ? this.requestedMs : 0, ms);
    this.breaker = quiet(this.breaker, until);
  }

  earnRetry(): void {
    this.retries = Math.min(MOST_RETRIES, this.retries + RETRIES_PER_CALL);
  }

  /** Takes one retry from the budget. Returns false if the budget is spent. */
  takeRetry(): boolean {
    if (this.retries < 1) return false;
    this.retries -= 1;
    return true;
  }

  status() {
    const { lastSuccessAt, lastError, hasFailed } = this;
    const refusal = this.refusal();
    return {
      health: refusal ? 'unavailable' : hasFailed ? 'degraded' : lastSuccessAt ? 'healthy' : 'unknown',
      breaker: this.breaker.phase,
      heldBackBy: (refusal && (refusal.reason === 'wait_requested' ? 'remote_service' : 'breaker')) ?? null,
      retryAfterMs: refusal?.retryAfterMs ?? null,
      requestedWaitMs: refusal?.reason === 'wait_requested' ? Math.round(this.requestedMs) : null,
      lastSuccessAt,
      lastErrorAt: lastError?.at ?? null,
      /** Redacted. */
      lastError: lastError?.text ?? null,
    } as const;
  }
}
