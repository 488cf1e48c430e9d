import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Environment } from '../../platform/env/environment.js';
import { Metrics } from '../../observability/metrics/metrics.js';
import { errorText } from '../../observability/redaction/error-text.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { traced, untraced } from '../../observability/tracing/tracing.js';
import { Remote } from '../../remote/remote.service.js';
import { PollWrites } from './write-queue.js';
import { PollsStore, type ClaimedPoll } from './polls.store.js';
import { PriceControl } from './price.service.js';
import { planRead, type SessionRead } from '../rules/read-plan.rules.js';
import { longestIntervalMs, PHASES, scheduleSettings } from '../rules/schedule.rules.js';
import { SessionReader } from '../remote/session-reader.service.js';

/** The pause before the next probe (a read of one session), unless the service sent a Retry-After. */
const PROBE_PAUSE_MS = 1_000;
/** How long the reads of a batch should take: long enough to claim the next batch, which takes 10 ms, or 100 ms on a busy database. */
// Rejected: to claim only when at most as many sessions are queued as are in flight. Then no read was in flight for 29 to 48 % of the time.
const BATCH_TARGET_MS = 500;

/** Reads due sessions through one continuous pool of requests, so that a slow response does not delay others. Runs in any number of replicas. */
@Injectable()
export class Poller implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Poller.name);
  private readonly settings = scheduleSettings(this.environment);
  private readonly queue: ClaimedPoll[] = [];
  private readonly giveUp = new AbortController();
  private readonly claims = this.metrics.counter({
    name: 'pv_onboarding_session_claims_total',
    help: 'Due sessions that this process has claimed',
  });
  /** The tasks whose last run failed. */
  private readonly failing = new Set<string>();
  private inFlight = 0;
  private claiming = false;
  /** Whether the last claim was full. If so, the next claim does not wait for the tick. */
  private moreIsDue = false;
  private stopping = false;
  /** After a read that was not sent or was refused, nothing is claimed before this time of performance.now(). Then a single read is the probe. */
  private pausedUntil = -Infinity;
  private probing = false;
  private completed = 0;
  private perSecond = 0;
  private rateSince = performance.now();

  constructor(
    private readonly polls: PollsStore,
    private readonly reader: SessionReader,
    private readonly writes: PollWrites,
    private readonly price: PriceControl,
    private readonly remote: Remote,
    private readonly environment: Environment,
    private readonly timers: SchedulerRegistry,
    private readonly metrics: Metrics,
  ) {
    const longest = metrics.gauge({
      name: 'pv_onboarding_longest_read_interval_seconds',
      help: 'The longest planned interval between two reads of a session at stretch 1, by phase',
      labels: ['phase'],
    });
    for (const phase of PHASES)
      longest.set({ phase }, longestIntervalMs(phase, this.settings.maxIntervalMs) / 1_000);
    // Every read in flight adds a listener.
    setMaxListeners(0, this.giveUp.signal);
  }

  onApplicationBootstrap(): void {
    if (this.environment.ROLE === 'api') return;
    const { POLL_TICK_MS, POLL_LEASE_MS } = this.environment;
    const repeat = (name: string, everyMs: number, task: () => Promise<void>) => {
      const run = () =>
        void task().then(
          () => this.failing.delete(name),
          (error: unknown) => this.warn(name, error),
        );
      this.timers.addInterval(name, setInterval(run, everyMs));
    };
    repeat('poll', POLL_TICK_MS, () => this.tick());
    repeat('release-expired-batches', 1_000, () => this.releaseExpired());
    repeat('renew-leases', POLL_LEASE_MS / 6, () => this.writes.renewLeases());
  }

  /** Makes claimed but unread sessions due at once, and waits for the reads in flight, so that no lease remains. */
  async beforeApplicationShutdown(): Promise<void> {
    if (this.environment.ROLE === 'api') return;
    this.stopping = true;
    this.release(this.queue.splice(0));
    const deadline = performance.now() + STOP_WITHIN_MS.reads;
    await this.waitUntilIdle(deadline);
    this.giveUp.abort();
    await this.waitUntilIdle(deadline + STOP_WITHIN_MS.readResults);
  }

  private async waitUntilIdle(deadline: number): Promise<void> {
    const isBusy = () => this.inFlight > 0 || this.claiming || this.writes.isWriting;
    while (isBusy() && performance.now() < deadline) await pause(10);
  }

  private async tick(): Promise<void> {
    this.measureRate();
    if (this.wantsMore()) await this.claimMore();
    this.fill();
  }

  private async releaseExpired(): Promise<void> {
    const released = await this.polls.releaseExpiredBatches();
    if (released > 0)
      this.logger.warn(`released ${released} batches of workers that did not renew their lease`);
  }

  /** Logs a failed task once until it succeeds. The usual cause is an unavailable database. The next tick retries. */
  private warn(task: string, error: unknown): void {
    if (this.failing.has(task)) return;
    this.failing.add(task);
    this.logger.warn(`polling is held up: ${errorText(error)}`);
  }

  private async claimMore(): Promise<void> {
    const size = this.claimSize();
    const claimedAt = performance.now();
    this.claiming = true;
    try {
      const polls = await this.polls.claimDue(size);
      this.claims.inc(polls.length);
      this.moreIsDue = polls.length === size;
      if (polls.length > 0) {
        this.writes.begin(polls[0]!.batchId, polls.length, claimedAt);
        this.queue.push(...withSpan(polls, claimedAt));
      }
    } finally {
      this.claiming = false;
    }
    if (this.stopping) this.release(this.queue.splice(0));
    this.fill();
  }

  private wantsMore(): boolean {
    if (this.stopping || this.claiming || performance.now() < this.pausedUntil) return false;
    return this.queue.length < this.claimSize() && !(this.probing && this.inFlight > 0);
  }

  private claimSize(): number {
    if (this.probing) return 1;
    const { POLL_BATCH_SIZE, SCS_MAX_CONCURRENCY } = this.environment;
    const inTarget = (perSecond: number) => Math.ceil((perSecond * BATCH_TARGET_MS) / 1_000);
    const forTarget = Math.max(2 * SCS_MAX_CONCURRENCY, inTarget(this.perSecond));
    // Under a tight rate, a session that becomes due must not wait behind a long queue of sessions claimed before.
    return Math.max(1, Math.min(POLL_BATCH_SIZE, forTarget, inTarget(this.remote.perSecond)));
  }

  /** Starts as many reads as the remote service accepts now, or none while too many results wait for the database. */
  private fill(): void {
    while (!this.writes.isBehind && this.inFlight < this.remote.liveLimit && this.queue.length > 0) {
      void this.run(this.queue.shift()!);
    }
  }

  private async run(poll: ClaimedPoll): Promise<void> {
    if (!this.writes.mayRead(poll.batchId)) return this.release([poll]);
    this.inFlight++;
    try {
      await this.read(poll);
    } catch (error) {
      // A bug in reading one session must neither stop the others nor go unrecorded.
      const stack = error instanceof Error ? error.stack : undefined;
      this.logger.error({ message: 'reading a session threw', sessionId: poll.sessionId, stack });
      this.finish(poll, { kind: 'failed', error: 'internal error' });
    } finally {
      this.inFlight--;
      this.completed++;
    }
    this.fill();
    if (this.moreIsDue && this.wantsMore())
      void this.claimMore().catch((error: unknown) => this.warn('poll', error));
  }

  /** Reads the session in a trace of its own, which links to the claim and continues in the events of the read. */
  private read(poll: ClaimedPoll): Promise<void> {
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
    // The shutdown may have aborted the read, so the failure is not counted.
    if (this.stopping && (read.kind === 'not_sent' || read.kind === 'failed')) return this.release([poll]);
    if (read.kind === 'not_sent') {
      const pauseMs = read.retryAfterMs ?? PROBE_PAUSE_MS;
      this.pausedUntil = Math.max(this.pausedUntil, performance.now() + pauseMs);
      this.probing = true;
      this.release(this.queue.splice(0), read.reason, pauseMs);
    } else {
      this.probing = false;
      if (read.kind !== 'failed') this.price.countRead();
    }
    this.writes.finish(poll, planRead(poll, read, poll.now, this.settings, poll.stretch, Math.random()));
  }

  /** Makes claimed but unread sessions due again after `retryMs`. */
  private release(polls: readonly ClaimedPoll[], error: string | null = null, retryMs = 0): void {
    for (const poll of polls) {
      const { failures, notFound } = poll;
      this.writes.finish(poll, { kind: 'postpone', failures, notFound, error, retryMs });
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

/** Returns the polls with the span of their claim. Claims that find nothing have no span, because they repeat every second. */
function withSpan(polls: readonly ClaimedPoll[], beganAtMs: number): readonly ClaimedPoll[] {
  const attributes = { 'pv_onboarding.sessions': polls.length };
  return traced({ name: 'claim sessions', parent: null, beganAtMs, attributes }, ({ traceparent }) =>
    traceparent === undefined ? polls : polls.map((poll) => ({ ...poll, traceparent })),
  );
}
