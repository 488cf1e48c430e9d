import { counted } from '../../platform/counted.rules.js';
import { Injectable } from '@nestjs/common';
import { Metrics } from '../../platform/metrics/metrics.js';
import { traced } from '../../platform/tracing/tracing.js';
import { BackgroundTasks } from '../../platform/async/background-tasks.js';
import { Environment } from '../../platform/env/environment.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { longestIntervalMs, PHASES } from '../rules/schedule.rules.js';
import { PollsStore, type ClaimedPoll } from './polls.store.js';
import { ReadPool } from './read-pool.js';
import { PollWrites } from './write-queue.js';

const RELEASE_EVERY_MS = 1_000;
const RENEWALS_PER_LEASE = 6;

/** Claims due sessions for the pool that reads them, and renews their leases. Runs in any number of replicas. */
@Injectable()
export class Poller extends BackgroundTasks {
  protected readonly tasks = [
    { everyMs: this.environment.POLL_TICK_MS, run: (stop: AbortSignal) => this.claimWhileDue(stop) },
    { everyMs: RELEASE_EVERY_MS, run: () => this.releaseExpired() },
    { everyMs: this.environment.POLL_LEASE_MS / RENEWALS_PER_LEASE, run: () => this.writes.renewLeases() },
  ];
  private readonly claims = this.metrics.counter({
    name: 'pv_onboarding_session_claims_total',
    help: 'Due sessions that this process has claimed',
  });

  constructor(
    private readonly polls: PollsStore,
    private readonly pool: ReadPool,
    private readonly writes: PollWrites,
    private readonly environment: Environment,
    private readonly metrics: Metrics,
  ) {
    super('polling is held up', STOP_WITHIN_MS.reads, environment.ROLE !== 'api');
    const longest = metrics.gauge({
      name: 'pv_onboarding_longest_read_interval_seconds',
      help: 'The longest planned interval between two reads of a session at stretch 1, by phase',
      labels: ['phase'],
    });
    for (const phase of PHASES)
      longest.set({ phase }, longestIntervalMs(phase, environment.POLL_MAX_INTERVAL_MS) / 1_000);
  }

  override beforeApplicationShutdown(): Promise<void> {
    return this.pool.close(super.beforeApplicationShutdown());
  }

  /** Claims as many sessions as the pool wants, until a claim finds fewer. */
  private async claimWhileDue(stop: AbortSignal): Promise<void> {
    for (let isMoreDue = true; isMoreDue && !stop.aborted;) {
      const { count } = this.pool.ended;
      // Results may have been written meanwhile, so the pool may now start reads for which the write queue was too long.
      this.pool.start();
      const size = this.pool.wanted;
      if (size === 0) await this.pool.ended.wait(stop, this.environment.POLL_TICK_MS, count);
      else isMoreDue = (await this.claim(size)) === size;
    }
  }

  private async claim(size: number): Promise<number> {
    const claimedAt = performance.now();
    const polls = await this.polls.claimDue(size);
    this.claims.inc(polls.length);
    if (polls.length > 0) {
      this.writes.begin(polls[0]!.batchId, polls.length, claimedAt);
      this.pool.add(withSpan(polls, claimedAt));
    }
    return polls.length;
  }

  private async releaseExpired(): Promise<void> {
    const released = await this.polls.releaseExpiredBatches();
    if (released > 0)
      this.logger.warn(
        `released ${counted(released, 'batch', 'batches')} of workers that did not renew their lease`,
      );
  }
}

/** Returns the polls with the span of their claim. Claims that find nothing have no span, because they repeat every POLL_TICK_MS. */
function withSpan(polls: readonly ClaimedPoll[], beganAtMs: number): readonly ClaimedPoll[] {
  const attributes = { 'pv_onboarding.sessions': polls.length };
  return traced({ name: 'claim sessions', parent: null, beganAtMs, attributes }, ({ traceparent }) =>
    traceparent === undefined ? polls : polls.map((poll) => ({ ...poll, traceparent })),
  );
}
