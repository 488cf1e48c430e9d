import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Loop } from '../../platform/async/loop.js';
import { WakeUp } from '../../platform/async/wake-up.js';
import { within } from '../../platform/async/within.js';
import { Listener } from '../../platform/database/connection/listen.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { stopsWithin } from '../../platform/shutdown/limits.js';
import type { Exchanged, OperationClass } from '../outcome.rules.js';
import { type BreakerChange, WAIT_STEP_MS } from '../pace/operation-gate.js';
import { addWait, describeTrouble, type RequestedWait } from '../pace/requested-waits.rules.js';
import { type Peers, Remote } from '../remote.service.js';
import { Breakers } from './breakers.service.js';
import { OPERATIONS_CHANNEL, OperationsStore, type SharedOperation } from './operations.store.js';

/** Writing what this replica has learned of the remote service, after all calls have ended. */
const STOP_WITHIN_MS = stopsWithin(1_000);
/** How often to read the shared state. Notifications announce each change that stops or resumes calls, so this finds only what one missed. */
const READ_EVERY_MS = 5_000;
/** How often to read it while no notifications arrive: until the next read, this replica may send calls that it should not. */
const READ_UNHEARD_EVERY_MS = 250;
/** How long an operation is in trouble after its breaker opened. Without TRIALS, a failed probe reopens the breaker within 36 s. */
const TROUBLE_LASTS_MS = 90_000;
const LEARN = 'read what other replicas know';

/** Shares with the other replicas which waits the service requested and which operations fail. Calls do not wait for these writes. */
@Injectable()
export class SharedState implements Peers, OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Remote');
  /** The latest waits that the service requested from any replica, by performance.now(). */
  private readonly requested = new Map<OperationClass, readonly RequestedWait[]>();
  private readonly notified = new WakeUp();
  private readonly loop = new Loop({
    step: () => this.synchronise(),
    onError: (error, failures) => {
      // Logs once per outage, not four times a second.
      if (failures === 1) this.warn(LEARN, error);
      return READ_UNHEARD_EVERY_MS;
    },
    wakeUp: this.notified,
  });
  private readonly writing = new Set<Promise<void>>();

  constructor(
    private readonly remote: Remote,
    private readonly store: OperationsStore,
    private readonly breakers: Breakers,
    private readonly listener: Listener,
  ) {
    remote.peers = this;
  }

  /** Reads the shared state first: a process that has just started must respect a wait that the service requested from another replica. */
  async onModuleInit(): Promise<void> {
    await this.synchronise().catch((error: unknown) => this.warn(LEARN, error));
    this.listener.on(OPERATIONS_CHANNEL, () => this.notified.signal());
    this.loop.start();
  }

  /** Waits for the writes about the last calls, but at most STOP_WITHIN_MS. */
  async onApplicationShutdown(): Promise<void> {
    const ended = Promise.all([this.loop.stop(), ...this.writing]);
    await within(STOP_WITHIN_MS, ended);
  }

  readonly drawTokens = (ms: number) => this.store.drawTokens(ms);
  readonly claimTrial = (operation: OperationClass) => this.breakers.claimTrial(operation);

  learn(operation: OperationClass, { fault, quietMs = 0 }: Exchanged, change: BreakerChange): void {
    if (quietMs > 0) this.learnWait(operation, quietMs, fault ?? 'refused');
    if (change === undefined) return;
    this.write('share a breaker', () => this.breakers.tell(operation));
    this.announce(operation, change === 'opened' ? (fault ?? 'failures') : null);
  }

  announce(operation: OperationClass, trouble: string | null): void {
    this.write('announce trouble or a recovery', () =>
      trouble === null
        ? this.store.recover(operation, 'now')
        : this.store.degrade(operation, trouble, TROUBLE_LASTS_MS),
    );
  }

  private learnWait(operation: OperationClass, waitMs: number, reason: string): void {
    if (this.isKnown(operation, waitMs)) return;
    // The wait is recorded before it is announced, since the announcement locks the same row for longer.
    this.write('record a wait', () => this.store.quiet(operation, waitMs));
    this.noteWait(operation, waitMs, reason);
  }

  private isKnown(operation: OperationClass, waitMs: number): boolean {
    const { until } = this.requested.get(operation)?.at(-1) ?? { until: 0 };
    return performance.now() + waitMs < until + WAIT_STEP_MS;
  }

  /** Announces waits that are long or repeat. Every replica counts the waits of all, because a Retry-After reaches only one replica. */
  private noteWait(operation: OperationClass, waitMs: number, reason?: string): void {
    const now = performance.now();
    const waits = addWait(this.requested.get(operation) ?? [], { from: now, until: now + waitMs });
    this.requested.set(operation, waits);
    const wait = describeTrouble(waits);
    if (wait === null) return;
    const trouble = reason === undefined ? wait : `${reason}, ${wait}`;
    const lastsMs = waits.length === 1 ? waitMs : waitMs + TROUBLE_LASTS_MS;
    this.write('announce a wait', () => this.store.degrade(operation, trouble, lastsMs));
  }

  private async synchronise(): Promise<number> {
    const read = () => this.store.readOperations();
    for (const shared of await this.breakers.follow(read)) await this.apply(shared);
    return this.listener.isListening ? READ_EVERY_MS : READ_UNHEARD_EVERY_MS;
  }

  private async apply({ operation, health, quietMs, troubleMs }: SharedOperation): Promise<void> {
    if (quietMs > 0) {
      this.remote.gates[operation].quiet(quietMs);
      if (!this.isKnown(operation, quietMs)) this.noteWait(operation, quietMs);
    }
    // The replica that reported the trouble may have died or may send no more calls, so any replica may record the recovery.
    if (health !== 'degraded' || troubleMs > 0) return;
    const { breaker } = this.remote.status().operations[operation];
    const { successAgeMs } = this.remote.gates[operation];
    if (breaker === 'closed' && successAgeMs < -troubleMs)
      await this.store.recover(operation, 'once_trouble_is_over');
  }

  /** Writes in the background. If the database is unreachable, the event is lost. */
  private write(what: string, work: () => Promise<void>): void {
    const written = work().catch((error: unknown) => this.warn(what, error));
    this.writing.add(written);
    void written.finally(() => this.writing.delete(written));
  }

  private warn(what: string, error: unknown): void {
    this.logger.warn(`could not ${what}: ${errorText(error)}`);
  }
}
