import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Loop } from '../../platform/async/loop.js';
import { WakeUp } from '../../platform/async/wake-up.js';
import { within } from '../../platform/async/within.js';
import { listenTo } from '../../platform/database/listen.js';
import { repeatWhileUnavailable } from '../../platform/database/repeat-while-unavailable.js';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../observability/redaction/error-text.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import type { OperationClass } from '../outcome.rules.js';
import { WAIT_STEP_MS } from '../pace/operation-gate.js';
import { planDemand, planShare, usableShare, type PublishedShare } from '../pace/rate-share.rules.js';
import { addWait, describeTrouble, type RequestedWait } from '../pace/requested-waits.rules.js';
import { addDuration, areSlow, countSlow, type CallDuration } from '../pace/slow-calls.rules.js';
import { type Learn, Remote } from '../remote.service.js';
import { Breakers } from './breakers.service.js';
import { DeploymentStore, OPERATIONS_CHANNEL, type SharedOperation } from './deployment.store.js';
import { Signs } from './signs.js';

/** If a notification is lost, a replica learns within this time that the service requested a wait. Until then, the replica may send calls. */
const READ_EVERY_MS = 250;
const BEAT_EVERY_MS = 500;
/** The weight of the time since the last heartbeat in the calls per second. */
const SMOOTHING = 0.3;
/** Without a ceiling, a heartbeat is only a sign of life. */
const SIGN_OF_LIFE_EVERY_MS = 2_000;
const ROUNDING = 1e-9;
const READS_PERIOD_MS = 10_000;
/** A replica's share of the request rate ends this long after its last heartbeat, whether the replica died or lost the database. */
const LIFE_MS = 5_000;
/** An operation counts as in trouble for this long after its breaker has opened. While probes fail, it opens again at least every 36 s. */
const TROUBLE_LASTS_MS = 90_000;
const LEARN = 'read what other replicas know';

/**
 * Informs the other replicas that this one is alive, which waits the service requested and which operations fail. Divides the request rate
 * among all replicas. No call waits for this.
 */
@Injectable()
export class Deployment implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(Deployment.name);
  private readonly ceiling = this.environment.SCS_MAX_REQUESTS_PER_SECOND;
  /** Parts of the ceiling. */
  private share = { usable: 0, published: 0, until: -Infinity };
  private others: readonly PublishedShare[] = [];
  private used = { admitted: 0, perSecond: 0, at: performance.now() };
  private nextBeatAt = -Infinity;
  /** The latest waits that the service requested from any replica, by performance.now(). */
  private readonly requested = new Map<OperationClass, readonly RequestedWait[]>();
  private readonly durations = new Map<OperationClass, readonly CallDuration[]>();
  private reads = { count: 0, since: performance.now(), perSecond: 0 };
  private readonly notified = new WakeUp();
  private readonly loop = new Loop({
    step: () => this.synchronise(),
    onError: (error, failures) => {
      // Logs once per outage, not four times a second.
      if (failures === 1) this.warn(LEARN, error);
      return READ_EVERY_MS;
    },
    wakeUp: this.notified,
  });
  private stopListening: (() => Promise<void>) | undefined;
  private readonly writing = new Set<Promise<void>>();
  private isStopping = false;

  constructor(
    private readonly remote: Remote,
    private readonly store: DeploymentStore,
    private readonly signs: Signs,
    private readonly breakers: Breakers,
    private readonly environment: Environment,
  ) {
    const perSecond = () => (performance.now() < this.share.until ? this.share.usable * this.ceiling : 0);
    const share = this.ceiling > 0 ? perSecond : () => Infinity;
    remote.join(this.learn, share, (operation) => breakers.claimTrial(operation));
  }

  /** Reads the shared state first: a process that has just started must respect a wait that the service requested from another replica. */
  async onModuleInit(): Promise<void> {
    await this.synchronise().catch((error: unknown) => this.warn(LEARN, error));
    const notify = () => this.notified.signal();
    this.stopListening = listenTo(this.environment.DATABASE_DIRECT_URL, OPERATIONS_CHANNEL, notify);
    this.loop.start();
  }

  /** Ends this replica's sign of life and its share of the request rate, since all calls have ended. Waits only a limited time for the database. */
  async onApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    const ended = Promise.all([this.stopListening?.(), this.loop.stop(), ...this.writing]);
    const left = ended.then(() => this.store.leave()).catch(() => {});
    await within(STOP_WITHIN_MS.replicaShare, left);
  }

  private readonly learn: Learn = (operation, { result, fault, quietMs = 0 }, change, seconds) => {
    if (result === 'succeeded' && fault === undefined) {
      if (operation === 'read_session') this.reads.count++;
      const call = { endedAt: performance.now(), seconds };
      this.durations.set(operation, addDuration(this.durations.get(operation) ?? [], call));
    }
    if (quietMs > 0) this.learnWait(operation, quietMs, fault ?? 'refused');
    if (change !== undefined) this.write('share a breaker', () => this.breakers.tell(operation, change));
    if (change === 'opened')
      this.write('announce trouble', () =>
        this.store.degrade(operation, fault ?? 'failures', TROUBLE_LASTS_MS),
      );
    if (change === 'closed') this.write('announce a recovery', () => this.store.recover(operation, 'now'));
  };

  private learnWait(operation: OperationClass, waitMs: number, reason: string): void {
    if (this.isKnown(operation, waitMs)) return;
    const until = performance.now() + waitMs;
    const store = async () => {
      if (!this.isStopping) await this.store.quiet(operation, Math.max(0, until - performance.now()));
    };
    // Begins before the announcement, which locks the same row for longer.
    this.write('record a wait', () => repeatWhileUnavailable(store, waitMs));
    this.noteWait(operation, waitMs, reason);
  }

  private isKnown(operation: OperationClass, waitMs: number): boolean {
    const { until } = this.requested.get(operation)?.at(-1) ?? { until: 0 };
    return performance.now() + waitMs < until + WAIT_STEP_MS;
  }

  /** Announces waits that are long or repeat. Every replica counts the waits of all replicas, since only one call receives each. */
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
    if (performance.now() >= this.nextBeatAt) await this.beat();
    return READ_EVERY_MS;
  }

  private async apply({ operation, health, quietMs, troubleMs }: SharedOperation): Promise<void> {
    if (quietMs > 0) {
      this.remote.quiet(operation, quietMs);
      if (!this.isKnown(operation, quietMs)) this.noteWait(operation, quietMs);
    }
    // The replica that reported the trouble may have died or may send no more calls, so any replica may record the recovery.
    if (health !== 'degraded' || troubleMs > 0) return;
    const { breaker, lastSuccessAt } = this.remote.status().operations[operation];
    const successAgeMs = lastSuccessAt === null ? Infinity : Date.now() - lastSuccessAt.getTime();
    if (breaker === 'closed' && successAgeMs < -troubleMs)
      await this.store.recover(operation, 'once_trouble_is_over');
  }

  /** Renews this replica's sign of life and share of the request rate. Stops using the share before it expires in the database. */
  private async beat(): Promise<void> {
    const { isPaced } = this.remote;
    const beganAt = performance.now();
    const joins = beganAt >= this.share.until;
    const used = this.ceiling > 0 ? this.usedPerSecond() / this.ceiling : 0;
    const demand = planDemand(this.others.length + 1, used, isPaced);
    // A replica that joins does not know yet what the others want.
    const published = joins ? 0 : planShare(demand, this.others);
    const { usable, published: publishedBefore, until } = this.share;
    const before = joins ? 0 : publishedBefore;
    // The share falls before it is published, since the statement may take effect without a response.
    this.share = { usable: Math.min(usable, published), published: Math.min(before, published), until };
    this.others = await this.store.beat(LIFE_MS, {
      role: this.environment.ROLE,
      readsPerSecond: this.readRate(),
      isPaced,
      now: Date.now(),
      signs: await this.signs.read(this.latestCalls()),
      slowOperations: this.slowOperations(),
      demand,
      share: published,
    });
    this.share = { usable: usableShare(before, published, this.others), published, until: beganAt + LIFE_MS };
    // While the share is to rise, publishes and reads again soon.
    const everyMs = joins || this.share.usable < published - ROUNDING ? READ_EVERY_MS : BEAT_EVERY_MS;
    this.nextBeatAt = beganAt + (this.ceiling > 0 ? everyMs : SIGN_OF_LIFE_EVERY_MS);
  }

  /** Returns the calls per second of the last seconds. */
  private usedPerSecond(): number {
    const now = performance.now();
    const { admitted } = this.remote;
    const perSecond = ((admitted - this.used.admitted) * 1_000) / Math.max(1, now - this.used.at);
    this.used = {
      admitted,
      perSecond: this.used.perSecond + SMOOTHING * (perSecond - this.used.perSecond),
      at: now,
    };
    return this.used.perSecond;
  }

  private slowOperations(): OperationClass[] {
    return this.latestCalls()
      .filter(areSlow)
      .map(({ operation }) => operation);
  }

  private latestCalls() {
    const now = performance.now();
    return [...this.durations].map(([operation, latest]) => ({ operation, ...countSlow(latest, now) }));
  }

  /** Returns the reads per second of the last full period. */
  private readRate(): number {
    const { count, since } = this.reads;
    const now = performance.now();
    if (now - since >= READS_PERIOD_MS)
      this.reads = { count: 0, since: now, perSecond: Math.round((count * 1e6) / (now - since)) / 1_000 };
    return this.reads.perSecond;
  }

  /** Writes in the background. If the database is unreachable, an event is lost. */
  private write(what: string, work: () => Promise<void>): void {
    const written = work().catch((error: unknown) => this.warn(what, error));
    this.writing.add(written);
    void written.finally(() => this.writing.delete(written));
  }

  private warn(what: string, error: unknown): void {
    this.logger.warn(`could not ${what}: ${errorText(error)}`);
  }
}
