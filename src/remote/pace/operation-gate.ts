import type { Exchanged, NotSent, Sent } from '../outcome.rules.js';
import { isRefusal } from '../wire/exchange.js';
import * as rules from './breaker.rules.js';
import { ForeignResponses, NOTABLE_MS } from './foreign-responses.js';

/** Retries may add a tenth to the calls of a class, so that a failing service does not receive three times the load. */
const RETRIES_PER_CALL = 0.1;
/** The maximum of the retry budget: enough for the reads that fail when one connection is lost or the service restarts. */
const MOST_RETRIES = 10;

/** A wait is new if it ends at least this much later than the known wait. */
export const WAIT_STEP_MS = 50;

/** How a result changed the breaker. Opening again after a failed probe also counts as `opened`. */
export type BreakerChange = 'opened' | 'closed' | undefined;

/*
 * Whether and when a call may be sent.
 *
 * A call of `Remote.send` passes four checks, in this order, and the first that refuses ends it as `not_sent`:
 * 1. stopping: a process that stops sends no background call, later none.
 * 2. the breaker of its class (this file, breaker.rules.ts): `token`, `register_user`, `start_session`, `read_session`,
 *    `pass_through`.
 * 3. the call queue (call-queue.ts): a place among the calls in flight, and a token of the budget of all replicas (request-budget.ts).
 *    Foreground and changes precede background and reads; a call waits for at most half of SCS_TIMEOUT_MS. A token request skips the queue.
 * 4. the breaker again, because it may have opened meanwhile.
 * SCS_TIMEOUT_MS then bounds the call, with its retries if it is a GET.
 *
 * Phases of a breaker, and who leaves them
 * - closed: calls pass. Five failures in a row open it, or half of twenty calls within 10 s, or five 503s or gateway responses over 2 s.
 * - open: nothing passes until `openUntil`. The wait doubles, up to 30 s.
 * - half_open: one call passes as a probe. Its result closes or opens the breaker. A probe without a result is replaced after a timeout.
 * In every phase, a Retry-After (`quietUntil`) blocks all calls, for at most an hour, in all replicas.
 * With `Trials` (registrations and starts), a probe could create a user or a session whose response is lost. So a request that changes
 * nothing, the base probe, comes first, and then one call of all replicas is the trial. After a failed trial the wait doubles.
 *
 * The live limit (concurrency-limit.ts) grows with successes while it is used. A 429 or 503 lowers it by a tenth (the first one by half), a
 * timeout by half. It is per process. The budget per second is of the deployment, by draws from one bucket in the database.
 *
 * Who shares what (shared/)
 * - Breakers with trials and requested waits are rows of remote_operations. A replica is notified of changes. It also reads the rows every
 *   5 s, and every 250 ms while it does not listen.
 * - A replica's own breaker of `token`, `read_session` and `pass_through` is not shared: it opens by itself within five failures.
 * - Health (`degraded`, `healthy`) is one row per class, so that `remote.degraded` and `remote.recovered` are announced once.
 *
 * What a crash leaves: a trial that was claimed blocks the next one for at most two timeouts. Drawn requests are lost, at most those of
 * 250 ms. If the database is unreachable, a replica keeps what it knows; with a budget per second, it sends nothing.
 *
 * At night: GET /status has breaker, limit, queue and the last error of each class; `admin.remote_health` what all replicas know.
 * `heldBackBy` says why nothing is sent: `remote_service` (a Retry-After), `breaker` or `ceiling` (our own budget).
 */
/** The state of one operation class: its breaker, its retry budget, its last success and its last error. */
export class OperationGate {
  private breaker = rules.CLOSED;
  private retries = MOST_RETRIES;
  private requestedMs = 0;
  private lastSuccessAt: Date | null = null;
  /** When the last call succeeded, by the clock that is never set. */
  private succeededMs = -Infinity;
  private lastError: { readonly at: Date; readonly text: string } | null = null;
  /** Whether the last error came after the last success. Their times may be equal. */
  private hasFailed = false;
  private readonly foreign = new ForeignResponses();

  /** With `trials`, a call is tried only after a check. Without `trials`, a call is itself the probe. */
  constructor(
    private readonly timeoutMs: number,
    private readonly trials?: rules.Trials,
  ) {}

  /** Returns the refusal that a call would get now. Starts no probe, so the caller may use it before it queues a call. */
  refusal(): NotSent | undefined {
    const admission = this.admission();
    return admission.kind === 'refused' ? { ...admission, kind: 'not_sent' } : undefined;
  }

  /** Returns how many calls may be sent now: none, a single call as a test of the recovery, or any number. */
  get room(): number {
    if (this.refusal()) return 0;
    return this.breaker.phase === 'closed' ? Infinity : 1;
  }

  /** Returns whether the caller must check the operation first. It must then call `checkPassed` or `checkFailed`. */
  beginCheck(): boolean {
    const admission = this.admission();
    if (admission.kind !== 'check') return false;
    this.breaker = admission.next;
    return true;
  }

  checkPassed(): void {
    this.breaker = rules.checkPassed(this.breaker, performance.now(), this.timeoutMs);
  }

  /** Records a failed check. With `waitMs`, the check had no result, and the next check is due after `waitMs`. */
  checkFailed(waitMs?: number): void {
    this.breaker = rules.checkFailed(this.breaker, performance.now(), Math.random(), waitMs);
  }

  /** Returns whether to try a call after a failed check: a read has succeeded since the breaker opened, or `uncheckedMs` have passed. */
  mayTryUnchecked(reads: OperationGate): boolean {
    const openForMs = performance.now() - this.breaker.triedAt;
    return openForMs >= (this.trials?.uncheckedMs ?? 0) || reads.hasServedFor(openForMs);
  }

  follow(ms: number, trials: number): void {
    this.breaker = rules.follow(this.breaker, ms, trials, performance.now());
  }

  resume(): void {
    this.breaker = rules.resume(this.breaker, performance.now());
  }

  /** Returns how long the breaker stays open, and the number of failed trials; null if it is closed. */
  get opening(): { readonly ms: number; readonly trials: number } | null {
    const { phase, openUntil, trials } = this.breaker;
    if (phase === 'closed') return null;
    return { ms: Math.max(0, openUntil - performance.now()), trials };
  }

  /** Admits or refuses a call that is about to be sent. The caller must record the result of a probe. */
  admit(): NotSent | { readonly kind: 'pass'; readonly probe: boolean } {
    const admission = this.admission();
    if (admission.kind === 'refused') return { ...admission, kind: 'not_sent' };
    // The breaker has opened since the call entered the queue.
    if (admission.kind === 'check') return { kind: 'not_sent', reason: 'breaker_open' };
    this.breaker = admission.next;
    return admission;
  }

  /** Returns the exchange of a call. If its foreign response is familiar, the service has responded, so it counts as a success. */
  recognise(exchanged: Exchanged): Exchanged {
    const { sent, result } = exchanged;
    if (sent.kind !== 'response') return exchanged;
    if (result === 'succeeded' && sent.response.status < 300) this.foreign.recordServed();
    if (result !== 'foreign' || !this.foreign.record(sent.response)) return exchanged;
    const { status } = sent.response;
    return {
      sent: { kind: 'response', response: { ...sent.response, isFamiliar: true } },
      result: 'succeeded',
      ...(isRefusal(status) && { fault: `status ${status}` }),
    };
  }

  /** Returns whether the response is like a foreign response to a call since the last served call. */
  isForeign(sent: Sent): boolean {
    return sent.kind === 'response' && this.foreign.has(sent.response);
  }

  /** Returns whether foreign responses are to be announced, even if they are too few to open the breaker. */
  get hasLongBeenForeign(): boolean {
    return this.foreign.lastedMs() >= NOTABLE_MS;
  }

  record({ result, fault, quietMs }: Exchanged, probe: boolean): BreakerChange {
    const { phase } = this.breaker;
    this.breaker = rules.record(this.breaker, result, probe, performance.now(), Math.random(), this.trials);
    if (quietMs !== undefined) this.quiet(quietMs);
    if (fault !== undefined) this.noteFault(fault);
    else if (result === 'succeeded') {
      this.lastSuccessAt = new Date();
      this.succeededMs = performance.now();
      this.hasFailed = false;
    }
    if (this.breaker.phase === phase || result === 'unknown') return undefined;
    return this.breaker.phase === 'closed' ? 'closed' : 'opened';
  }

  /** Records an error for the status. The text must contain no secret. */
  noteFault(text: string): void {
    this.lastError = { at: new Date(), text };
    this.hasFailed = true;
  }

  /** Blocks calls for `ms`, unless they are already blocked for longer. */
  quiet(ms: number): void {
    const now = performance.now();
    const until = now + ms;
    const { quietUntil } = this.breaker;
    // Ignores a known wait that another replica reports: its end differs by a few milliseconds.
    if (until > quietUntil + WAIT_STEP_MS)
      this.requestedMs = Math.max(now < quietUntil ? this.requestedMs : 0, ms);
    this.breaker = rules.quiet(this.breaker, until);
  }

  /** How long ago the last call succeeded; infinite if none has. */
  get successAgeMs(): number {
    return performance.now() - this.succeededMs;
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
      lastError: lastError?.text ?? null,
    } as const;
  }

  private admission() {
    return rules.admit(this.breaker, performance.now(), this.timeoutMs, this.trials);
  }

  /** Returns whether the latest call succeeded, less than `ms` ago. */
  private hasServedFor(ms: number): boolean {
    return this.status().health === 'healthy' && this.successAgeMs < ms;
  }
}
