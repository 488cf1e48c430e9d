import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Metrics } from '../../observability/metrics/metrics.js';
import { errorText } from '../../observability/redaction/error-text.js';
import { traced } from '../../observability/tracing/tracing.js';
import { Loop } from '../../platform/async/loop.js';
import { WakeUp } from '../../platform/async/wake-up.js';
import { Environment } from '../../platform/env/environment.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { longestIntervalMs, PHASES } from '../rules/schedule.rules.js';
import { PollsStore, type ClaimedPoll } from './polls.store.js';
import { ReadPool } from './read-pool.js';
import { PollWrites } from './write-queue.js';

const RELEASE_EVERY_MS = 1_000;
/** How many times the leases are renewed while one lasts. */
const RENEWALS_PER_LEASE = 6;

/** Claims due sessions for the pool that reads them, and keeps their leases. Runs in any number of replicas. */
@Injectable()
export class Poller implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Poller.name);
  private readonly claims = this.metrics.counter({
    name: 'pv_onboarding_session_claims_total',
    help: 'Due sessions that this process has claimed',
  });
  /** Whether the last claim was full. If so, the next claim does not wait for the tick. */
  private moreIsDue = false;
  /** Signalled when more is due and the pool has room. */
  private readonly room = new WakeUp();
  private readonly claiming = this.loop(() => this.claim(), this.environment.POLL_TICK_MS, this.room);
  private readonly leasing = [
    this.loop(() => this.releaseExpired(), RELEASE_EVERY_MS),
    this.loop(() => this.writes.renewLeases(), this.environment.POLL_LEASE_MS / RENEWALS_PER_LEASE),
  ];

  constructor(
    private readonly polls: PollsStore,
    private readonly pool: ReadPool,
    private readonly writes: PollWrites,
    private readonly environment: Environment,
    private readonly metrics: Metrics,
  ) {
    const longest = metrics.gauge({
      name: 'pv_onboarding_longest_read_interval_seconds',
      help: 'The longest planned interval between two reads of a session at stretch 1, by phase',
      labels: ['phase'],
    });
    for (const phase of PHASES)
      longest.set({ phase }, longestIntervalMs(phase, environment.POLL_MAX_INTERVAL_MS) / 1_000);
    pool.onEnd = () => {
      if (this.moreIsDue && pool.wanted > 0) this.room.signal();
    };
  }

  onApplicationBootstrap(): void {
    if (this.environment.ROLE === 'api') return;
    for (const loop of [this.claiming, ...this.leasing]) loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.environment.ROLE === 'api') return;
    // The pool releases what a claim still adds.
    await Promise.all([this.claiming.stop(STOP_WITHIN_MS.reads), this.pool.close()]);
    await Promise.all(this.leasing.map((loop) => loop.stop(STOP_WITHIN_MS.readResults)));
  }

  /** Logs a failure once until the task succeeds. The usual cause is an unavailable database. */
  private loop(task: () => Promise<number | undefined>, everyMs: number, wakeUp?: WakeUp): Loop {
    return new Loop({
      step: async () => (await task()) ?? everyMs,
      onError: (error, failures) => {
        if (failures === 1) this.logger.warn(`polling is held up: ${errorText(error)}`);
        return everyMs;
      },
      wakeUp,
    });
  }

  /** Claims as many sessions as the pool wants. Returns 0 if the next claim need not wait. */
  private async claim(): Promise<number | undefined> {
    // The results of earlier reads may have been written since.
    this.pool.start();
    const size = this.pool.wanted;
    if (size === 0) return undefined;
    this.moreIsDue = false;
    const claimedAt = performance.now();
    const polls = await this.polls.claimDue(size);
    this.claims.inc(polls.length);
    if (polls.length > 0) {
      this.writes.begin(polls[0]!.batchId, polls.length, claimedAt);
      this.pool.add(withSpan(polls, claimedAt));
    }
    this.moreIsDue = polls.length === size;
    return this.moreIsDue && this.pool.wanted > 0 ? 0 : undefined;
  }

  private async releaseExpired(): Promise<undefined> {
    const released = await this.polls.releaseExpiredBatches();
    if (released > 0)
      this.logger.warn(`released ${released} batches of workers that did not renew their lease`);
  }
}

/** Returns the polls with the span of their claim. Claims that find nothing have no span, because they repeat every second. */
function withSpan(polls: readonly ClaimedPoll[], beganAtMs: number): readonly ClaimedPoll[] {
  const attributes = { 'pv_onboarding.sessions': polls.length };
  return traced({ name: 'claim sessions', parent: null, beganAtMs, attributes }, ({ traceparent }) =>
    traceparent === undefined ? polls : polls.map((poll) => ({ ...poll, traceparent })),
  );
}
