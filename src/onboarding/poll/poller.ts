import { setMaxListeners } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Environment } from '../../platform/env/environment.js';
import { Remote } from '../../remote/remote.service.js';
import { PollWrites } from './write-queue.js';
import { PollsStore } from './polls.store.js';
import type { ClaimedPoll, PollBatch } from './polls.store.js';
import { planRead } from '../rules/read-plan.rules.js';
import type { ReadStep, SessionRead } from '../rules/read-plan.rules.js';
import { scheduleSettings } from '../rules/schedule.rules.js';
import { SessionReader } from '../remote/session-reader.service.js';

interface Task {
  readonly batchId: string;
  readonly poll: ClaimedPoll;
}

/** Reads of a stopping process get this long, and then what they brought to be written. */
const DRAIN_MS = 2_000;
const WRITE_MS = 1_000;
/** While the remote service turns everything away, one session at a time asks whether it still does. */
const PROBE_PAUSE_MS = 1_000;
/**
 * A batch should last about this long, and another is claimed while a whole one is left to read: a claim takes 10 ms, ten times
 * that on a busy database, and with no more left than is in flight, reading stood still for 29 to 48 % of the time there. The longer,
 * the more sessions wait for another worker after a crash.
 */
const BATCH_TARGET_MS = 500;
/** Leases are extended three times before they run out. */
const EXTENSIONS_PER_LEASE = 3;
const RELEASE_EVERY_MS = 1_000;

/**
 * Reads every due session: claim, read, plan, write. Reads go through one continuous pool: a slow answer holds up no batch, and the
 * next batch is claimed while the last one is being read. Any number of replicas do the same; the claim keeps them apart.
 */
@Injectable()
export class Poller implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Poller.name);
  private readonly settings;
  private readonly queue: Task[] = [];
  private readonly giveUp = new AbortController();
  private inFlight = 0;
  private claiming = false;
  /** The last claim was full, so the next need not wait for the tick. */
  private moreIsDue = false;
  private stopping = false;
  // Instants are of performance.now(): a clock that is set must neither end a pause nor prolong it.
  /** The remote service turned a read away: pause, then ask with a single one. */
  private pausedUntil = -Infinity;
  private probing = false;
  private completed = 0;
  private perSecond = 0;
  private rateSince = performance.now();
  private releasedAt = -Infinity;

  constructor(
    private readonly polls: PollsStore,
    private readonly reader: SessionReader,
    private readonly writes: PollWrites,
    private readonly remote: Remote,
    private readonly environment: Environment,
    private readonly timers: SchedulerRegistry,
  ) {
    this.settings = scheduleSettings(environment);
    // Every read in flight listens.
    setMaxListeners(0, this.giveUp.signal);
  }

  onApplicationBootstrap(): void {
    if (this.environment.ROLE === 'api') return;
    const { POLL_TICK_MS, POLL_LEASE_MS } = this.environment;
    this.timers.addInterval(
      'poll',
      setInterval(() => void this.tick(), POLL_TICK_MS),
    );
    const extendMs = POLL_LEASE_MS / EXTENSIONS_PER_LEASE;
    this.timers.addInterval(
      'extend-leases',
      setInterval(() => void this.extendLeases(), extendMs),
    );
  }

  /** Leaves no lease behind: what was not read yet is due again at once. */
  async beforeApplicationShutdown(): Promise<void> {
    if (this.environment.ROLE === 'api') return;
    this.stopping = true;
    this.giveBack(null, 0);
    const deadline = performance.now() + DRAIN_MS;
    await this.idle(deadline);
    this.giveUp.abort();
    await this.idle(deadline + WRITE_MS);
    await this.writes.drained(deadline + WRITE_MS);
  }

  private async idle(deadline: number): Promise<void> {
    while ((this.inFlight > 0 || this.claiming) && performance.now() < deadline) await pause(10);
  }

  private async tick(): Promise<void> {
    this.measureRate();
    try {
      if (performance.now() - this.releasedAt >= RELEASE_EVERY_MS) {
        this.releasedAt = performance.now();
        const released = await this.polls.releaseExpiredBatches();
        if (released > 0)
          this.logger.warn(`released ${released} batches of workers that did not extend their lease`);
      }
      if (this.wantsMore()) await this.claimMore();
      this.fill();
    } catch (error) {
      this.warn(error);
    }
  }

  /** The database is away; every tick tries again. */
  private warn(error: unknown): void {
    this.logger.warn(`polling is held up: ${error instanceof Error ? error.message : String(error)}`);
  }

  private async claimMore(): Promise<void> {
    const size = this.claimSize();
    this.claiming = true;
    try {
      const batch = await this.polls.claimDue(size);
      this.moreIsDue = batch?.polls.length === size;
      if (batch !== null) this.take(batch);
    } finally {
      this.claiming = false;
    }
  }

  private wantsMore(): boolean {
    if (this.stopping || this.claiming || performance.now() < this.pausedUntil) return false;
    return this.queue.length < this.claimSize() && !(this.probing && this.inFlight > 0);
  }

  private claimSize(): number {
    if (this.probing) return 1;
    const { POLL_BATCH_SIZE, SCS_MAX_CONCURRENCY } = this.environment;
    const forTarget = Math.ceil((this.perSecond * BATCH_TARGET_MS) / 1_000);
    return Math.min(POLL_BATCH_SIZE, Math.max(2 * SCS_MAX_CONCURRENCY, forTarget));
  }

  private take(batch: PollBatch): void {
    this.writes.begin(batch);
    for (const poll of batch.polls) this.queue.push({ batchId: batch.id, poll });
    if (this.stopping) this.giveBack(null, 0);
    this.fill();
  }

  /**
   * No more than the remote service takes: in its line a read would wait on a claim that others could use. Nothing while answers wait
   * for the database; the next tick looks again.
   */
  private fill(): void {
    while (!this.writes.isBehind && this.inFlight < this.remote.liveLimit && this.queue.length > 0) {
      void this.run(this.queue.shift()!);
    }
  }

  private async run(task: Task): Promise<void> {
    if (!this.writes.isLive(task.batchId)) return;
    this.inFlight++;
    try {
      this.finish(task, await this.reader.read(task.poll, 'background', this.giveUp.signal));
    } catch (error) {
      // A bug in reading one session must not stop the others, nor be forgotten.
      this.logger.error(
        `reading session ${task.poll.sessionId} threw`,
        error instanceof Error ? error.stack : undefined,
      );
      this.finish(task, { kind: 'failed', error: 'internal error' });
    } finally {
      this.inFlight--;
      this.completed++;
    }
    this.fill();
    if (this.moreIsDue && this.wantsMore()) void this.claimMore().catch((error: unknown) => this.warn(error));
  }

  private finish({ batchId, poll }: Task, read: SessionRead): void {
    if (this.stopping && (read.kind === 'not_sent' || read.kind === 'failed')) {
      // We gave it up ourselves, which says nothing of the session or the remote service.
      this.writes.finish(batchId, poll, backAgain(poll, null, 0));
      return;
    }
    if (read.kind === 'not_sent') {
      const pauseMs = read.retryAfterMs ?? PROBE_PAUSE_MS;
      this.pausedUntil = Math.max(this.pausedUntil, performance.now() + pauseMs);
      this.probing = true;
      this.giveBack(read.reason, pauseMs);
    } else if (this.probing) {
      this.probing = false;
    }
    this.writes.finish(batchId, poll, planRead(poll, read, poll.now, this.settings, Math.random()));
  }

  /** Sessions that were claimed and not read are due again after `retryMs`. */
  private giveBack(error: string | null, retryMs: number): void {
    for (const { batchId, poll } of this.queue.splice(0)) {
      this.writes.finish(batchId, poll, backAgain(poll, error, retryMs));
    }
  }

  private async extendLeases(): Promise<void> {
    try {
      await this.writes.extendLeases();
    } catch (error) {
      this.warn(error);
    }
  }

  private measureRate(): void {
    const elapsedMs = performance.now() - this.rateSince;
    if (elapsedMs < 1_000) return;
    this.perSecond = (this.completed * 1_000) / elapsedMs;
    this.completed = 0;
    this.rateSince = performance.now();
  }
}

const backAgain = ({ failures, notFound }: ClaimedPoll, error: string | null, retryMs: number): ReadStep => ({
  kind: 'postpone',
  failures,
  notFound,
  error,
  retryMs,
});

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
