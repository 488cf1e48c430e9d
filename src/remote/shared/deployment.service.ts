import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { listenTo } from '../../platform/database/listen.js';
import { Environment } from '../../platform/env/environment.js';
import { OPERATIONS_CHANNEL } from './operations.sql.js';
import { OperationsStore, type SharedOperation } from './operations.store.js';
import type { OperationClass } from '../outcome.rules.js';
import { planShare } from '../pace/rate-share.js';
import { Remote, type RemoteListener } from '../remote.service.js';
import { ReplicasStore } from './replicas.store.js';

/**
 * A replica learns what another one was told within the few milliseconds of NOTIFY or, if the notification is lost, within this time. After
 * a Retry-After, calls may still be sent for that long, besides those already in flight.
 */
const READ_EVERY_MS = 250;
const BEAT_EVERY_MS = 500;
/**
 * The share of a replica that dies stays unused for this long. A replica that cannot reach the database stops using its share after the
 * same time.
 */
const LIFE_MS = 5_000;
const STOP_WITHIN_MS = 1_000;
/** Every refused call reports a wait; waits that exceed the known one by less than this are not written. */
const WAIT_STEP_MS = 50;
/** A breaker that stays open is probed at least every 36 s, and each failed probe reports the trouble again. */
const TROUBLE_LASTS_MS = 90_000;
/** With waits of seconds a service regulates its load. Waits of a minute or more are announced to people. */
const NOTABLE_WAIT_MS = 60_000;

/**
 * The state that replicas share to act as one caller of the remote service: how long it wants no calls, how many replicas share the ceiling
 * of requests per second, and whether it is in trouble. Calls never wait for this: what they learn is written beside them, and what other
 * replicas learned is read a few times a second.
 */
@Injectable()
export class Deployment implements RemoteListener, OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(Deployment.name);
  private readonly ceiling: number;
  private readonly databaseUrl: string;
  /** Per operation, monotonic: until when all replicas are known to wait (`told`), and the waits not written yet (`toTell`). */
  private readonly told = new Map<OperationClass, number>();
  private readonly toTell = new Map<OperationClass, number>();
  private telling = false;
  private share = { perSecond: 0, until: -Infinity };
  private nextBeatAt = -Infinity;
  private stopListening: (() => Promise<void>) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private lookAgain = false;
  private blind = false;
  private stopped = false;
  private readonly writing = new Set<Promise<void>>();

  constructor(
    private readonly remote: Remote,
    private readonly operations: OperationsStore,
    private readonly replicas: ReplicasStore,
    environment: Environment,
  ) {
    this.databaseUrl = environment.DATABASE_URL;
    this.ceiling = environment.SCS_MAX_REQUESTS_PER_SECOND;
    remote.join(this, this.ceiling > 0 ? () => this.sharePerSecond() : () => Infinity);
  }

  /** A process that has just started must not call a service that requested a wait before. */
  async onModuleInit(): Promise<void> {
    await this.look();
    this.stopListening = listenTo(this.databaseUrl, OPERATIONS_CHANNEL, () => void this.look());
    this.timer = setInterval(() => void this.look(), READ_EVERY_MS);
  }

  /** All calls have ended, so other replicas may use this share. An unresponsive database must not delay the shutdown. */
  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    const ended = Promise.all([this.stopListening?.(), this.looking, ...this.writing]);
    const leaves = this.ceiling > 0 && !this.blind;
    const left = ended.then(() => (leaves ? this.replicas.leave() : undefined)).catch(() => {});
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([left, new Promise((resolve) => (timer = setTimeout(resolve, STOP_WITHIN_MS)))]);
    clearTimeout(timer);
  }

  askedToWait(operation: OperationClass, waitMs: number, reason: string): void {
    const until = monotonicMs() + waitMs;
    if (until < Math.max(this.told.get(operation) ?? 0, this.toTell.get(operation) ?? 0) + WAIT_STEP_MS)
      return;
    this.toTell.set(operation, until);
    this.write('tell a wait', () => this.tellWaits());
    if (waitMs < NOTABLE_WAIT_MS) return;
    const said = `${reason}, asked to wait for ${Math.ceil(waitMs / 1_000)} s`;
    this.write('announce a wait', () => this.operations.degrade(operation, said, waitMs));
  }

  breakerOpened(operation: OperationClass, reason: string): void {
    this.write('announce trouble', () => this.operations.degrade(operation, reason, TROUBLE_LASTS_MS));
  }

  breakerClosed(operation: OperationClass): void {
    this.write('announce a recovery', () => this.operations.recover(operation, 'now'));
  }

  private sharePerSecond(): number {
    return monotonicMs() < this.share.until ? this.share.perSecond : 0;
  }

  /** Reads once at a time. A request during a read triggers another one afterwards, since the current one may have read too early. */
  private look(): Promise<void> {
    if (this.looking) {
      this.lookAgain = true;
      return this.looking;
    }
    return (this.looking = this.lookOnce().finally(() => {
      this.looking = undefined;
      if (this.lookAgain && !this.stopped) void this.look();
      this.lookAgain = false;
    }));
  }

  private async lookOnce(): Promise<void> {
    try {
      for (const shared of await this.operations.read()) await this.apply(shared);
      await this.tellWaits();
      if (this.ceiling > 0 && monotonicMs() >= this.nextBeatAt) await this.beat();
      this.blind = false;
    } catch (error) {
      // Logs once per outage, not four times a second.
      if (!this.blind) this.warn('learn what other replicas know', error);
      this.blind = true;
    }
  }

  private async apply({ operation, health, quietMs, troubleMs }: SharedOperation): Promise<void> {
    if (quietMs > 0) {
      this.remote.holdBack(operation, quietMs);
      this.told.set(operation, monotonicMs() + quietMs);
    }
    // The replica that reported the trouble may have died, or may never call again.
    if (health !== 'degraded' || troubleMs > 0) return;
    const { breaker, lastSuccessAt } = this.remote.status().operations[operation];
    const successAgeMs = lastSuccessAt === null ? Infinity : Date.now() - lastSuccessAt.getTime();
    if (breaker === 'closed' && successAgeMs < -troubleMs)
      await this.operations.recover(operation, 'once_trouble_is_over');
  }

  private async tellWaits(): Promise<void> {
    if (this.telling) return;
    this.telling = true;
    try {
      for (let next = this.firstToTell(); next; next = this.firstToTell()) {
        const [operation, until] = next;
        await this.operations.holdBack(operation, Math.max(0, until - monotonicMs()));
        this.told.set(operation, Math.max(until, this.told.get(operation) ?? 0));
        // A longer wait may have arrived in the meantime.
        if (this.toTell.get(operation) === until) this.toTell.delete(operation);
      }
    } finally {
      this.telling = false;
    }
  }

  private firstToTell(): [OperationClass, number] | undefined {
    for (const entry of this.toTell) return entry;
    return undefined;
  }

  /** Renews this replica's share. The share lapses here before it lapses in the database, however long the database takes to respond. */
  private async beat(): Promise<void> {
    const beganAt = monotonicMs();
    this.nextBeatAt = beganAt + BEAT_EVERY_MS;
    const joins = beganAt >= this.share.until;
    const beat = await this.replicas.beat(LIFE_MS);
    const perSecond = joins ? 0 : planShare(this.ceiling, this.share.perSecond, beat);
    this.share = { perSecond, until: beganAt + LIFE_MS };
  }

  /** Writes beside the calls. If the database is unreachable, a wait is retried at the next read, and an announcement is lost. */
  private write(what: string, work: () => Promise<void>): void {
    const written = work().catch((error: unknown) => this.warn(what, error));
    this.writing.add(written);
    void written.finally(() => this.writing.delete(written));
  }

  private warn(what: string, error: unknown): void {
    if (!this.stopped)
      this.logger.warn(`could not ${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const monotonicMs = (): number => performance.now();
