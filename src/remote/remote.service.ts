import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { hideSecrets } from '../platform/redaction/secrets.js';
import { traced } from '../platform/tracing/tracing.js';
import { classifyFailure, classifyResponse, type ExchangeBody, type Exchanged } from './wire/exchange.js';
import { CallQueue, type CallEnding } from './pace/call-queue.js';
import { type BreakerChange, OperationGate } from './pace/operation-gate.js';
import {
  type NotSent,
  OPERATION_CLASSES,
  type OperationClass,
  type Priority,
  type RemoteRequest,
  type Sent,
} from './outcome.rules.js';
import { RequestRate } from './pace/request-rate.js';
import { createAxios } from './wire/remote-axios.js';

const READ_ATTEMPTS = 3;
const FIRST_BACKOFF_MS = 50;
/** A call may wait in the queue for this fraction of SCS_TIMEOUT_MS. The timeout of the call itself starts after this wait. */
const WAIT_SHARE = 0.5;
/** The poller may let as many calls wait in the queue as the rate allows in this time. */
const WAITING_SECONDS = 0.5;

/** Receives the result of every exchange, to inform other replicas. Must return at once and never throw: calls wait for it. */
export type Learn = (
  operation: OperationClass,
  exchanged: Pick<Exchanged, 'result' | 'fault' | 'quietMs'>,
  change: BreakerChange,
  seconds: number,
) => void;

/** Receives every attempt. `seconds` is null if the call was not sent. */
type Observe = (operation: OperationClass, sent: Sent, seconds: number | null) => void;

/** The only way to the Solar Curtailment Service: every call to it goes through `send`. */
@Injectable()
export class Remote implements OnModuleDestroy, OnApplicationShutdown {
  private readonly http: ReturnType<typeof createAxios>;
  private readonly requests: RequestRate;
  private readonly queue: CallQueue;
  private readonly gates: Record<OperationClass, OperationGate>;
  private stopping: Priority | 'none' = 'none';
  private learn: Learn = () => {};
  private observe: Observe = () => {};
  /** Returns the requests per second that this replica may send. Until `join` is called, this is the ceiling of all replicas. */
  private share: () => number;

  constructor(private readonly environment: Environment) {
    hideSecrets([environment.SCS_API_KEY, environment.SCS_CLIENT_ID, environment.SCS_CLIENT_SECRET]);
    const { SCS_BASE_URL: baseUrl, SCS_API_KEY: ApiKey, SCS_TIMEOUT_MS: timeoutMs } = environment;
    const headers = {
      ApiKey,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'pv-onboarding',
    };
    this.http = createAxios({ baseUrl, headers, timeoutMs });
    this.share = () => environment.SCS_MAX_REQUESTS_PER_SECOND || Infinity;
    this.requests = new RequestRate(() => this.share());
    this.queue = new CallQueue(environment.SCS_MAX_CONCURRENCY, this.requests, timeoutMs * WAIT_SHARE);
    this.gates = perOperation(() => new OperationGate(timeoutMs));
  }

  /** Sends a request and returns its response, or why there is none. Never throws. Retries a GET at most twice, and never a POST. */
  async send(request: RemoteRequest): Promise<Sent> {
    const gate = this.gates[request.operation];
    // The deadline of all attempts: SCS_TIMEOUT_MS after the first attempt leaves the queue.
    const deadline: { at?: number } = {};
    let sent = await this.attempt(request, gate, deadline);
    if (request.method !== 'GET') return sent;
    gate.earnRetry();
    for (let attempt = 2; attempt <= READ_ATTEMPTS && isWorthRepeating(sent); attempt++) {
      const backoffMs = FIRST_BACKOFF_MS * 4 ** (attempt - 2) * (0.5 + Math.random());
      if (deadline.at === undefined || performance.now() + 2 * backoffMs > deadline.at || !gate.takeRetry())
        return sent;
      await sleep(backoffMs);
      const again = await this.attempt(request, gate, deadline);
      // A local refusal (breaker, queue) says less than the previous result.
      if (again.kind === 'not_sent' && again.reason !== 'unreachable') return sent;
      sent = again;
    }
    return sent;
  }

  /** Connects this process to the other replicas. `share` returns this process's requests per second; Infinity means no ceiling. */
  join(learn: Learn, share: () => number): void {
    this.learn = learn;
    this.share = share;
  }

  measure(observe: Observe): void {
    this.observe = observe;
  }

  /** Shows an error that only the reader of a response could find. `fault` must contain no secret. */
  noteFault(operation: OperationClass, fault: string): void {
    this.gates[operation].noteFault(fault);
  }

  /** Announces, for all replicas together, that calls of an operation are refused. */
  announceTrouble(operation: OperationClass, fault: string): void {
    this.learn(operation, { result: 'unknown', fault }, 'opened', 0);
  }

  announceRecovery(operation: OperationClass): void {
    this.learn(operation, { result: 'unknown' }, 'closed', 0);
  }

  /** Blocks calls of this operation for `ms`, unless they are already blocked for longer. */
  quiet(operation: OperationClass, ms: number): void {
    this.gates[operation].quiet(ms);
  }

  /** Returns how many background calls may be queued or in flight. Any further call would wait long in the queue. */
  // Under a tight rate, a call that waits here is one that was chosen too early: a more urgent session may become due meanwhile.
  get liveLimit(): number {
    const mayWait = Math.max(1, Math.floor(this.share() * WAITING_SECONDS));
    return Math.min(this.queue.backgroundLimit, this.queue.backgroundInFlight + mayWait);
  }

  /** Returns the requests per second that this process may send. Infinity means no ceiling. */
  get perSecond(): number {
    return this.share();
  }

  /** Returns how many calls the ceiling has admitted; token requests are not counted. */
  get admitted(): number {
    return this.requests.admitted;
  }

  /** Whether calls have waited for this replica's share of SCS_MAX_REQUESTS_PER_SECOND in the last seconds. */
  get isPaced(): boolean {
    return this.queue.isPaced;
  }

  /** Returns the state of the remote service as this process sees it, for GET /status. */
  status() {
    const { isPaced } = this.queue;
    const { SCS_MAX_CONCURRENCY: ceiling, SCS_MAX_REQUESTS_PER_SECOND: ceilingPerSecond } = this.environment;
    const rate = { ceilingPerSecond, sharePerSecond: this.share(), isHoldingBack: isPaced };
    return {
      limit: { current: this.queue.limit, ceiling },
      rate: ceilingPerSecond === 0 ? null : rate,
      inFlight: this.queue.inFlight,
      queued: { foreground: this.queue.queued('foreground'), background: this.queue.queued('background') },
      operations: perOperation((operation) => {
        const status = this.gates[operation].status();
        const isByCeiling = isPaced && operation !== 'token';
        return { ...status, heldBackBy: status.heldBackBy ?? (isByCeiling ? ('ceiling' as const) : null) };
      }),
    };
  }

  /** Stops only background calls: callers of our API still get the responses to their open requests. */
  onModuleDestroy(): void {
    this.stopping = 'background';
    this.queue.dismiss('background');
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = 'foreground';
    this.queue.dismiss('foreground');
    this.queue.dismiss('background');
    await this.http.close();
  }

  private async attempt(
    request: RemoteRequest,
    gate: OperationGate,
    deadline: { at?: number },
  ): Promise<Sent> {
    const priority = request.priority ?? (request.operation === 'read_session' ? 'background' : 'foreground');
    const isStopping = this.stopping === 'foreground' || this.stopping === priority;
    const early = isStopping || request.signal?.aborted === true ? STOPPING : gate.refusal();
    if (early) return this.refused(request, early);
    // Every call needs a token, so a token request skips the queue.
    const limited = request.operation !== 'token';
    const name = `${priority} ${request.operation === 'read_session' ? 'read' : 'change'}` as const;
    if (limited) {
      const turn = await this.queue.turn(name, request.signal);
      if (turn === 'timed_out') return this.refused(request, { kind: 'not_sent', reason: 'limiter_timeout' });
      if (turn === 'cancelled') return this.refused(request, STOPPING);
    }
    const sentAt = performance.now();
    let ending: CallEnding = 'other';
    try {
      const admission = gate.admit();
      if (admission.kind === 'not_sent') return this.refused(request, admission);
      deadline.at ??= sentAt + this.environment.SCS_TIMEOUT_MS;
      const exchanged = await this.exchange(request, deadline.at - sentAt);
      ending = exchanged.ending;
      const seconds = (performance.now() - sentAt) / 1_000;
      this.observe(request.operation, exchanged.sent, seconds);
      this.learn(request.operation, exchanged, gate.record(exchanged, admission.probe), seconds);
      return exchanged.sent;
    } finally {
      if (limited) this.queue.end(name, ending, sentAt);
    }
  }

  private refused({ operation }: RemoteRequest, outcome: NotSent): NotSent {
    this.observe(operation, outcome, null);
    return outcome;
  }

  private exchange(request: RemoteRequest, timeoutMs: number): Promise<Exchanged> {
    const { operation, method, path: url, body: data, signal } = request;
    const timeout = Math.max(1, Math.round(timeoutMs));
    const attributes = { 'http.request.method': method };
    return traced({ name: `SCS ${operation}`, kind: 'client', attributes }, async (span) => {
      const { traceparent } = span;
      const headers = traceparent === undefined ? request.headers : { ...request.headers, traceparent };
      const sending = this.http.axios.request<ExchangeBody>({ method, url, headers, data, timeout, signal });
      const exchanged = await sending.then(classifyResponse).catch(classifyFailure);
      const { sent, fault } = exchanged;
      const status = sent.kind === 'response' ? sent.response.status : undefined;
      if (status !== undefined) span.set({ 'http.response.status_code': status });
      if (fault !== undefined) span.fail(String(status ?? sent.kind));
      return exchanged;
    });
  }
}

const perOperation = <T>(valueOf: (operation: OperationClass) => T) =>
  Object.fromEntries(OPERATION_CLASSES.map((name) => [name, valueOf(name)])) as Record<OperationClass, T>;

const STOPPING: NotSent = { kind: 'not_sent', reason: 'stopping' };

/** Returns whether to retry. A 429 or 503 is not retried: the queue lowers the concurrency instead. A 501 is about the path. */
function isWorthRepeating(sent: Sent): boolean {
  if (sent.kind !== 'response') return sent.kind === 'ambiguous' || sent.reason === 'unreachable';
  const { status } = sent.response;
  return status === 408 || (status >= 500 && status !== 501 && status !== 503);
}
