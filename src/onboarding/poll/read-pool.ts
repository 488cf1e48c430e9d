import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { traced, untraced } from '../../platform/tracing/tracing.js';
import { WakeUp } from '../../platform/async/wake-up.js';
import { Environment } from '../../platform/env/environment.js';
import { RateMeter } from '../../platform/rate/rate-meter.js';
import { stopsWithin } from '../../platform/shutdown/limits.js';
import { Remote } from '../../remote/remote.service.js';
import { SessionReader } from '../remote/session-reader.service.js';
import { planRead, planUnread, type SessionRead } from '../rules/read-plan.rules.js';
import { scheduleSettings } from '../rules/schedule.rules.js';
import type { ClaimedPoll } from './polls.store.js';
import { PollWrites } from './write-queue.js';

/** Reads of sessions in flight. After this time, they are aborted. */
export const READS_STOP_WITHIN_MS = stopsWithin(2_000);
/** Writing the results of the reads, after the reads. */
const RESULTS_STOP_WITHIN_MS = stopsWithin(1_000);
/** The pause before the next probe (a read of one session), unless the remote service sent a Retry-After. */
const PROBE_PAUSE_MS = 1_000;
/** How long the reads of a batch should take: long enough to claim the next batch, which takes 10 ms, or 100 ms on a busy database. */
// Rejected: to claim only when at most as many sessions are queued as are in flight. Then no read was in flight for 29 to 48 % of the time.
const BATCH_TARGET_MS = 500;
/** The size of a claim of settled sessions, as a part of another claim. Nobody waits for them, so they must hardly delay others. */
const SHARE_OF_SETTLED = 0.1;

/** Reads claimed sessions, as many at once as the remote service accepts. A slow response does not delay other reads. */
@Injectable()
export class ReadPool {
  private readonly logger = new Logger(ReadPool.name);
  private readonly settings = scheduleSettings(this.environment);
  private readonly queue: ClaimedPoll[] = [];
  private readonly giveUp = new AbortController();
  private readonly completed = new RateMeter(1_000);
  private inFlight = 0;
  private isClosing = false;
  /** When a single session may be claimed and read as a probe, by performance.now(). Undefined while the service accepts reads. */
  private probeAt: number | undefined;
  readonly ended = new WakeUp();

  constructor(
    private readonly reader: SessionReader,
    private readonly writes: PollWrites,
    private readonly remote: Remote,
    private readonly environment: Environment,
  ) {
    // Allows any number of listeners, since every read in flight adds one.
    setMaxListeners(0, this.giveUp.signal);
  }

  /** Returns how many sessions to claim now. Returns 0 if enough are queued or no read may be sent. */
  get wanted(): number {
    if (this.isClosing) return 0;
    if (this.probeAt !== undefined) return performance.now() >= this.probeAt && !this.isBusy ? 1 : 0;
    const inTarget = (perSecond: number) => Math.ceil((perSecond * BATCH_TARGET_MS) / 1_000);
    const forTarget = Math.max(2 * this.remote.queue.backgroundLimit, inTarget(this.completed.perSecond));
    // Under a tight budget, a session that becomes due must not wait behind a long queue of sessions claimed before.
    const most = Math.min(this.environment.POLL_BATCH_SIZE, inTarget(this.remote.budget.perSecond));
    const size = Math.max(1, Math.min(most, forTarget));
    return this.queue.length < size ? size : 0;
  }

  /**
   * Returns how many settled sessions to claim now: few, and only while half of the calls that the remote service accepts are free. While it
   * accepts none, returns 1 if a probe is due.
   */
  get wantedOfSettled(): number {
    if (this.queue.length > 0 || this.inFlight > this.remote.liveLimit / 2) return 0;
    return Math.min(this.wanted, Math.max(1, Math.floor(this.wanted * SHARE_OF_SETTLED)));
  }

  add(polls: readonly ClaimedPoll[]): void {
    this.queue.push(...polls);
    if (this.isClosing) this.releaseQueue();
    this.start();
  }

  /** Starts as many reads as the remote service accepts now, or none while too many results wait for the database. */
  start(): void {
    while (!this.writes.isBehind && this.inFlight < this.remote.liveLimit && this.queue.length > 0) {
      const poll = this.queue.shift()!;
      if (this.writes.mayRead(poll.batchId)) void this.read(poll);
      else this.release(poll);
    }
  }

  /**
   * Releases the queued sessions, and those that the claim in flight adds until `claimed` resolves. Waits for the reads in flight and
   * their results, so that no lease remains.
   */
  async close(claimed: Promise<void>): Promise<void> {
    this.isClosing = true;
    this.releaseQueue();
    const deadline = performance.now() + READS_STOP_WITHIN_MS;
    await claimed;
    await this.waitUntilIdle(deadline);
    this.giveUp.abort();
    await this.waitUntilIdle(deadline + RESULTS_STOP_WITHIN_MS);
  }

  private async waitUntilIdle(deadline: number): Promise<void> {
    while ((this.isBusy || this.writes.isWriting) && performance.now() < deadline) await pause(10);
  }

  private get isBusy(): boolean {
    return this.inFlight > 0 || this.queue.length > 0;
  }

  private async read(poll: ClaimedPoll): Promise<void> {
    this.inFlight++;
    try {
      await this.readTraced(poll);
    } catch (error) {
      // A bug in reading one session must neither stop the others nor go unrecorded.
      const stack = error instanceof Error ? error.stack : undefined;
      this.logger.error({ message: 'reading a session threw', sessionId: poll.sessionId, stack });
      this.finish(poll, { kind: 'failed', error: 'internal error' });
    }
    this.inFlight--;
    this.completed.add();
    this.start();
    this.ended.signal();
  }

  /** Reads the session in a trace of its own, which links to the claim and continues in the events of the read. */
  private readTraced(poll: ClaimedPoll): Promise<void> {
    const { sessionId, traceparent } = poll;
    const links = traceparent === undefined ? [] : [traceparent];
    const attributes = { 'pv_onboarding.session.id': sessionId };
    return traced({ name: 'read session', parent: null, links, attributes }, async (span) => {
      const read = await this.reader.read(poll, 'background', this.giveUp.signal);
      span.set({ 'pv_onboarding.outcome': read.kind });
      untraced(() => this.finish({ ...poll, traceparent: span.traceparent }, read));
    });
  }

  private finish(poll: ClaimedPoll, read: SessionRead): void {
    // The shutdown may have aborted the read, so it does not count as a failure.
    if (this.isClosing && (read.kind === 'not_sent' || read.kind === 'failed')) return this.release(poll);
    const now = performance.now();
    if (read.kind === 'not_sent') {
      this.probeAt = Math.max(this.probeAt ?? 0, now + (read.retryAfterMs ?? PROBE_PAUSE_MS));
      this.releaseQueue(read.reason);
    } else if (this.probeAt !== undefined && now >= this.probeAt) this.probeAt = undefined;
    this.writes.finish(poll, planRead(poll, read, this.settings, Math.random()));
  }

  private releaseQueue(error?: string): void {
    for (const poll of this.queue.splice(0)) this.release(poll, error);
  }

  /** Makes an unread session due again, as it was before its claim. */
  private release(poll: ClaimedPoll, error: string | null = null): void {
    this.writes.finish(poll, planUnread(poll, error, 0));
  }
}
