import { Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import type { Axios } from 'axios';
import { Environment } from '../platform/env/environment.js';
import { hideSecrets } from '../platform/redaction/secrets.js';
import { createAxios } from './wire/axios.instance.js';
import type { ExchangeBody } from './wire/exchange.js';
import { type Exchanged, judgeAnswer, judgeFailure } from './wire/classify-exchange.js';
import { type Ending, Limiter } from './pace/limiter.js';
import { OperationGate } from './pace/operation-gate.js';
import type { NotSent, OperationClass, Priority, RemoteRequest, Sent } from './outcome.rules.js';
import { RateCeiling } from './pace/rate-ceiling.js';
import type { RemoteStatus } from './remote-status.js';
import { createUndiciAdapter, type UndiciAdapter } from './wire/undici.adapter.js';

const READ_ATTEMPTS = 3;
const FIRST_BACKOFF_MS = 50;
/** Share of SCS_TIMEOUT_MS that a call may wait for its turn; its own deadline starts with the turn. */
const WAIT_SHARE = 0.5;

/** Receives what this process learns and other replicas should know. Called within calls, so it returns at once and never throws. */
export interface RemoteListener {
  /** The service requested a wait for this operation (Retry-After). */
  askedToWait(operation: OperationClass, waitMs: number, reason: string): void;
  /** Calls of this operation are blocked, for the first time or again after a probe. `reason` is redacted. */
  breakerOpened(operation: OperationClass, reason: string): void;
  breakerClosed(operation: OperationClass): void;
}

/** The only way to the Solar Curtailment Service: every call to it goes through `send`. */
@Injectable()
export class Remote implements OnModuleDestroy, OnApplicationShutdown {
  private readonly http: Axios;
  private readonly adapter: UndiciAdapter;
  private readonly limiter: Limiter;
  private readonly gates: Record<OperationClass, OperationGate>;
  private readonly timeoutMs: number;
  private readonly ceiling: number;
  private stopping: Priority | 'none' = 'none';
  private listener: RemoteListener | undefined;
  private share: () => number;

  constructor(environment: Environment) {
    hideSecrets([environment.SCS_API_KEY, environment.SCS_CLIENT_ID, environment.SCS_CLIENT_SECRET]);
    this.timeoutMs = environment.SCS_TIMEOUT_MS;
    this.ceiling = environment.SCS_MAX_CONCURRENCY;
    this.adapter = createUndiciAdapter({
      baseUrl: environment.SCS_BASE_URL,
      headers: {
        ApiKey: environment.SCS_API_KEY,
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'pv-onboarding',
      },
      timeoutMs: this.timeoutMs,
    });
    this.http = createAxios(this.adapter);
    // Uses the whole ceiling until `join` passes this replica's share.
    const perSecond = environment.SCS_MAX_REQUESTS_PER_SECOND || Infinity;
    this.share = () => perSecond;
    const rate = new RateCeiling(() => this.share());
    this.limiter = new Limiter(this.ceiling, rate, monotonicMs, this.timeoutMs * WAIT_SHARE);
    const gate = () => new OperationGate(monotonicMs, this.timeoutMs);
    this.gates = { token: gate(), register_user: gate(), start_session: gate(), read_session: gate() };
  }

  /**
   * Sends one request and returns what is known about it; never throws. Sends a GET up to 3 times and a POST once, because a lost response
   * does not say whether the POST had its effect. It ends within SCS_TIMEOUT_MS of its turn; waiting for the turn takes at most half as
   * long. Adds the ApiKey (interface section 5.1); AuthorisedRemote adds the bearer token.
   */
  async send(request: RemoteRequest): Promise<Sent> {
    const gate = this.gates[request.operation];
    const deadline: Deadline = { at: undefined };
    let sent = await this.attempt(request, gate, deadline);
    if (request.method !== 'GET') return sent;
    gate.budget.deposit();
    for (let attempt = 2; attempt <= READ_ATTEMPTS && isWorthRepeating(sent); attempt++) {
      const backoffMs = FIRST_BACKOFF_MS * 4 ** (attempt - 2) * (0.5 + Math.random());
      if (deadline.at === undefined || monotonicMs() + 2 * backoffMs > deadline.at || !gate.budget.withdraw())
        return sent;
      await new Promise((resolve) => setTimeout(resolve, backoffMs));
      const again = await this.attempt(request, gate, deadline);
      // A local refusal (breaker, limiter) says less than the response that led to it.
      if (again.kind === 'not_sent' && again.reason !== 'unreachable') return sent;
      sent = again;
    }
    return sent;
  }

  /** Connects this process to the other replicas (see Deployment). `share` returns requests per second; Infinity for no ceiling. */
  join(listener: RemoteListener, share: () => number): void {
    this.listener = listener;
    this.share = share;
  }

  /** Blocks calls of this operation for this long. A shorter wait does not undo a longer one. */
  holdBack(operation: OperationClass, ms: number): void {
    this.gates[operation].holdBack(ms);
  }

  /** How many background calls the service takes at once, as learned so far; more would only wait for their turn. */
  get liveLimit(): number {
    return this.limiter.backgroundLimit;
  }

  status(): RemoteStatus {
    return {
      limit: { current: this.limiter.limit, ceiling: this.ceiling },
      inFlight: this.limiter.inFlight,
      queued: {
        foreground: this.limiter.queued('foreground'),
        background: this.limiter.queued('background'),
      },
      operations: {
        token: this.gates.token.status(),
        register_user: this.gates.register_user.status(),
        start_session: this.gates.start_session.status(),
        read_session: this.gates.read_session.status(),
      },
    };
  }

  /** HTTP is still draining: foreground callers get their response, and the poller's reads can be made later. */
  onModuleDestroy(): void {
    this.stopping = 'background';
    this.limiter.dismiss('background');
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = 'foreground';
    this.limiter.dismiss('foreground');
    this.limiter.dismiss('background');
    await this.adapter.close();
  }

  private async attempt(request: RemoteRequest, gate: OperationGate, deadline: Deadline): Promise<Sent> {
    const priority = request.priority ?? (request.operation === 'read_session' ? 'background' : 'foreground');
    const early = this.isStopping(priority, request.signal) ? STOPPING : gate.refusal();
    if (early) return early;
    // All calls need the one token, so its request skips the queue.
    const limited = request.operation !== 'token';
    if (limited) {
      const waiting = this.limiter.turn(priority, request.signal);
      const turn = typeof waiting === 'string' ? waiting : await waiting;
      if (turn === 'timed_out') return { kind: 'not_sent', reason: 'limiter_timeout' };
      if (turn === 'cancelled') return STOPPING;
    }
    const sentAt = monotonicMs();
    let ending: Ending = 'other';
    try {
      const admission = gate.admit();
      if (admission.kind === 'not_sent') return admission;
      deadline.at ??= sentAt + this.timeoutMs;
      const exchanged = await this.exchange(request, deadline.at - sentAt);
      ending = exchanged.ending;
      const { result, fault, quietMs } = exchanged;
      const change = gate.record(result, admission.probe, fault, quietMs);
      if (change !== undefined || quietMs !== undefined) this.tell(request.operation, change, fault, quietMs);
      return exchanged.sent;
    } finally {
      if (limited) this.limiter.end(priority, ending, sentAt);
    }
  }

  private tell(
    operation: OperationClass,
    change: 'opened' | 'closed' | undefined,
    fault: string = 'failures',
    quietMs: number = 0,
  ): void {
    if (quietMs > 0) this.listener?.askedToWait(operation, quietMs, fault);
    if (change === 'opened') this.listener?.breakerOpened(operation, fault);
    if (change === 'closed') this.listener?.breakerClosed(operation);
  }

  private async exchange(request: RemoteRequest, timeoutMs: number): Promise<Exchanged> {
    try {
      return judgeAnswer(
        await this.http.request<ExchangeBody>({
          method: request.method,
          url: request.path,
          headers: request.headers,
          data: request.body,
          timeout: Math.max(1, Math.round(timeoutMs)),
          signal: request.signal,
        }),
      );
    } catch (error) {
      return judgeFailure(error);
    }
  }

  private isStopping(priority: Priority, signal: AbortSignal | undefined): boolean {
    return signal?.aborted === true || this.stopping === 'foreground' || this.stopping === priority;
  }
}

interface Deadline {
  at: number | undefined;
}

const STOPPING: NotSent = { kind: 'not_sent', reason: 'stopping' };

const monotonicMs = (): number => performance.now();

/** Not 429 and 503: the limiter reacts to these with fewer calls, not more. */
function isWorthRepeating(sent: Sent): boolean {
  if (sent.kind !== 'answered') return sent.kind === 'ambiguous' || sent.reason === 'unreachable';
  const { status } = sent.answer;
  return status === 408 || (status >= 500 && status !== 503);
}
