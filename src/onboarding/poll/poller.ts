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

/** Shutdown budgets: first for the reads in flight, then for writing their results. */
const DRAIN_MS = 2_000;
const WRITE_MS = 1_000;
/** Pause before the next probe while reads are turned away without a Retry-After. A probe is a read of a single session. */
const PROBE_PAUSE_MS = 1_000;
/**
 * Target duration of a batch. The next one is claimed while a whole batch is left to read, because a claim takes 10 ms, and ten times
 * that on a busy database. Rejected: claim when no more are left than are in flight. Reading then stood still for 29 to 48 % of the time
 * on a busy database. The longer a batch, the more sessions wait for another worker after a crash.
 */
const BATCH_TARGET_MS = 500;
/** Renewals within the duration of a lease. */
const EXTENSIONS_PER_LEASE = 3;
const RELEASE_EVERY_MS = 1_000;

/**
 * Reads every due session: claims, reads, plans, writes. All reads share one continuous pool, so a slow response delays no batch. The
 * next batch is claimed while the last one is being read. Any number of replicas do the same; the claim prevents two from reading one
 * session.
 */
@Injectable()
export class Poller implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Poller.name);
  private readonly settings;
  private readonly queue: Task[] = [];
  private readonly giveUp = new AbortController();
  private inFlight = 0;
  private claiming = false;
  /** The last claim was full, so the next one need not wait for the tick. */
  private moreIsDue = false;
  private stopping = false;
  // Instants are of performance.now(): a change of the system clock must neither end nor prolong a pause.
  /** Set when a read was not sent or turned away: pause, then probe with a single read. */
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
    // Every read in flight adds a listener.
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

  /** Makes unread sessions due at once and drains the reads in flight, so that no lease is left behind. */
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

  /** Logs a failure, usually an unavailable database; every tick retries. */
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
   * Starts as many reads as the remote service accepts: a read queued there would delay a claim that other workers could use. Starts none
   * while results wait for the database; the next tick retries.
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
      // A bug in reading one session must neither stop the others nor go unrecorded.
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
      // We aborted the read ourselves, which says nothing about the session or the remote service.
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

  /** Makes sessions that were claimed but not read due again after `retryMs`. */
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
