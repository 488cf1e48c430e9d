import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { CallQueue, type Turn } from './pace/call-queue.js';
import { TRIALS } from './pace/breaker.rules.js';
import { type BreakerChange, OperationGate } from './pace/operation-gate.js';
import { OPERATION_CLASSES } from './outcome.rules.js';
import type { Exchanged, NotSent, OperationClass, Priority, RemoteRequest, Sent } from './outcome.rules.js';
import { type DrawTokens, RequestBudget } from './pace/request-budget.js';
import { isUp, isWorthRepeating, type Observe, Wire } from './wire/wire.js';

const READ_ATTEMPTS = 3;
const FIRST_BACKOFF_MS = 50;
/** A call may wait in the queue for this fraction of SCS_TIMEOUT_MS. The timeout of the call itself starts after this wait. */
const WAIT_SHARE = 0.5;
/** Limits how many calls of the poller wait in the queue: as many as the rate limit allows in this time. */
const WAITING_SECONDS = 0.5;
/** The base probe may take this fraction of SCS_TIMEOUT_MS, since a caller waits for it and for a call after it. */
const PROBE_SHARE = 0.5;
/** How long to wait for the trial of another replica. The wait ends earlier if that replica reports its result. */
const OTHER_TRIAL_MS = 500;

/** The state that a replica shares with the others. Only `drawTokens` may throw. */
export interface Peers {
  /** Receives the result of every exchange. Must not block, because calls wait for it. */
  learn(operation: OperationClass, exchanged: Exchanged, change: BreakerChange): void;
  /** Announces, once for all replicas, that calls of an operation fail or are refused. If `trouble` is null, announces the recovery. */
  announce(operation: OperationClass, trouble: string | null): void;
  readonly drawTokens: DrawTokens;
  /** Returns whether this replica may try an operation whose breaker is open. Only one replica at a time may try it. */
  claimTrial(operation: OperationClass): Promise<boolean>;
}

const NO_PEERS: Peers = {
  learn: () => {},
  announce: () => {},
  drawTokens: () => Promise.resolve(0),
  claimTrial: () => Promise.resolve(true),
};

/** The only way to the Solar Curtailment Service: every call to it goes through `send`. */
@Injectable()
export class Remote implements OnModuleDestroy, OnApplicationShutdown {
  private readonly wire = new Wire(this.environment);
  readonly budget = new RequestBudget(this.environment.SCS_MAX_REQUESTS_PER_SECOND || Infinity, (ms) =>
    this.peers.drawTokens(ms),
  );
  readonly queue = new CallQueue(
    this.environment.SCS_MAX_CONCURRENCY,
    this.budget,
    this.environment.SCS_TIMEOUT_MS * WAIT_SHARE,
  );
  readonly gates = perOperation(
    (operation) => new OperationGate(this.environment.SCS_TIMEOUT_MS, TRIALS[operation]),
  );
  private stopping: Priority | 'none' = 'none';
  peers = NO_PEERS;
  /** Receives the result and the duration of every exchange. Must not block, because calls wait for it. */
  onExchange: (operation: OperationClass, exchanged: Exchanged, seconds: number) => void = () => {};

  constructor(private readonly environment: Environment) {}

  /** Sends a request and returns its response, or why there is none. Never throws. Retries a GET of ours at most twice, and nothing else. */
  async send(request: RemoteRequest): Promise<Sent> {
    const gate = this.gates[request.operation];
    // The deadline of all attempts: SCS_TIMEOUT_MS after the first attempt leaves the queue.
    let deadlineAt: number | undefined;
    const deadlineOf = (sentAt: number) => (deadlineAt ??= sentAt + this.environment.SCS_TIMEOUT_MS);
    let sent = await this.attempt(request, gate, deadlineOf);
    if (request.method !== 'GET' || request.passed !== undefined) return sent;
    gate.earnRetry();
    for (let attempt = 2; attempt <= READ_ATTEMPTS && isWorthRepeating(sent); attempt++) {
      const backoffMs = FIRST_BACKOFF_MS * 4 ** (attempt - 2) * (0.5 + Math.random());
      if (deadlineAt === undefined || performance.now() + 2 * backoffMs > deadlineAt || !gate.takeRetry())
        return sent;
      await sleep(backoffMs);
      const again = await this.attempt(request, gate, deadlineOf);
      // Keeps the previous result, because a local refusal (breaker, queue) is less informative.
      if (again.kind === 'not_sent' && !isWorthRepeating(again)) return sent;
      sent = again;
    }
    return sent;
  }

  /** Sends the base probe on behalf of a call. Returns the status of its response if it shows that the service is up, else undefined. */
  // The body tells no more: a gateway may write the path or an id of the request into it.
  async probe({ priority = 'background', signal }: RemoteRequest): Promise<number | undefined> {
    const timeoutMs = this.environment.SCS_TIMEOUT_MS * PROBE_SHARE;
    const sent = await this.queue.inTurn(`${priority} read`, signal, () =>
      this.wire.probe(timeoutMs, signal),
    );
    return typeof sent !== 'string' && sent.kind === 'response' && isUp(sent)
      ? sent.response.status
      : undefined;
  }

  /** What the outbound proxy fails with; null if it opens tunnels, or if there is none. */
  get proxyFault(): string | null {
    return this.wire.proxy.fault;
  }

  measure(observe: Observe): void {
    this.wire.observe = observe;
  }

  /** Returns how many background calls may be queued or in flight. A further call would wait long in the queue. */
  // Under a tight rate, a read that waits in the queue was chosen too early: a more urgent session may become due meanwhile.
  get liveLimit(): number {
    const mayWait = Math.max(1, Math.floor(this.budget.perSecond * WAITING_SECONDS));
    return Math.min(this.queue.backgroundLimit, this.queue.backgroundInFlight + mayWait);
  }

  status() {
    const { queue } = this;
    const { isPaced } = this.budget;
    const { SCS_MAX_CONCURRENCY: ceiling, SCS_MAX_REQUESTS_PER_SECOND: ceilingPerSecond } = this.environment;
    return {
      limit: { current: queue.limit, ceiling },
      rate: ceilingPerSecond === 0 ? null : { ceilingPerSecond, isHoldingBack: isPaced },
      inFlight: queue.inFlight,
      queued: { foreground: queue.queued('foreground'), background: queue.queued('background') },
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
    await this.wire.close();
  }

  private async attempt(request: RemoteRequest, gate: OperationGate, deadlineOf: (sentAt: number) => number) {
    const priority = request.priority ?? (request.operation === 'read_session' ? 'background' : 'foreground');
    const isStopping = this.stopping === 'foreground' || this.stopping === priority;
    const early = isStopping || request.signal?.aborted === true ? STOPPING : gate.refusal();
    if (early) return this.refused(request, early);
    if (gate.beginCheck()) {
      const refusal = await this.check(request, priority, gate);
      if (refusal) return this.refused(request, refusal);
    }
    const isBehindChanges = ['read_session', 'pass_through'].includes(request.operation);
    const name = `${priority} ${isBehindChanges ? 'read' : 'change'}` as const;
    // Every call needs a token, so a token request skips the queue.
    const turn = request.operation === 'token' ? null : name;
    const sent = await this.queue.inTurn(turn, request.signal, async (sentAt) => {
      const admission = gate.admit();
      if (admission.kind === 'not_sent') return { sent: this.refused(request, admission), result: 'unknown' };
      const received = await this.wire.exchange(request, deadlineOf(sentAt) - sentAt);
      const exchanged = gate.recognise(examine(received, request));
      this.onExchange(request.operation, exchanged, (performance.now() - sentAt) / 1_000);
      this.peers.learn(request.operation, exchanged, gate.record(exchanged, admission.probe));
      if (exchanged.result === 'foreign' && gate.hasLongBeenForeign)
        this.peers.announce(request.operation, exchanged.fault ?? null);
      return exchanged;
    });
    return typeof sent === 'string' ? this.refused(request, withoutTurn(sent)) : sent;
  }

  /** Sends the base probe to check whether one call may be tried. If not, returns the refusal. */
  private async check({ operation, signal }: RemoteRequest, priority: Priority, gate: OperationGate) {
    const timeoutMs = this.environment.SCS_TIMEOUT_MS * PROBE_SHARE;
    const sent = await this.queue.inTurn(`${priority} change`, signal, () =>
      this.wire.probe(timeoutMs, signal),
    );
    const isUnknown = typeof sent === 'string' || signal?.aborted === true;
    if (isUnknown) gate.checkFailed(0);
    else if ((!isUp(sent) || gate.isForeign(sent)) && !gate.mayTryUnchecked(this.gates.read_session))
      gate.checkFailed();
    else if (await this.peers.claimTrial(operation)) gate.checkPassed();
    else gate.checkFailed(OTHER_TRIAL_MS);
    return typeof sent === 'string' ? withoutTurn(sent) : gate.refusal();
  }

  private refused({ operation }: RemoteRequest, outcome: NotSent): NotSent {
    this.wire.observe(operation, outcome, null);
    return outcome;
  }
}

/** Returns the exchange of a call. It has failed if its response does not tell the outcome. */
function examine(exchanged: Exchanged, { faultOf }: RemoteRequest): Exchanged {
  const { sent, result } = exchanged;
  if (result !== 'succeeded' || sent.kind !== 'response' || sent.response.status >= 300) return exchanged;
  const fault = faultOf?.(sent.response);
  return fault === undefined ? exchanged : { sent, result: 'failed', fault };
}

const perOperation = <T>(valueOf: (operation: OperationClass) => T) =>
  Object.fromEntries(OPERATION_CLASSES.map((name) => [name, valueOf(name)])) as Record<OperationClass, T>;

const STOPPING: NotSent = { kind: 'not_sent', reason: 'stopping' };

const withoutTurn = (turn: Exclude<Turn, 'granted'>): NotSent =>
  turn === 'timed_out' ? { kind: 'not_sent', reason: 'limiter_timeout' } : STOPPING;
