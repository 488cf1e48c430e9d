import { counted } from '../../platform/counted.rules.js';
import { Injectable } from '@nestjs/common';
import { Metrics } from '../../platform/metrics/metrics.js';
import { traced } from '../../platform/tracing/tracing.js';
import { BackgroundTasks, task } from '../../platform/tasks/background-tasks.js';
import { Environment } from '../../platform/env/environment.js';
import { longestIntervalMs, PHASES } from '../rules/schedule.rules.js';
import { ANY_DUE, ANY_SETTLED, ANY_SETTLED_DUE, EXPIRED_BATCHES } from './polls.sql.js';
import { PollsStore, type ClaimedPoll } from './polls.store.js';
import { ReadPool, READS_STOP_WITHIN_MS } from './read-pool.js';
import { PollWrites } from './write-queue.js';

const RELEASE_EVERY_MS = 1_000;
const RENEWALS_PER_LEASE = 6;
const STOPPED_AT_ONCE = 1_000;

/*
 * The poll loop.
 *
 * The remote service announces nothing, so every open session is read again and again: claim (poller.ts, polls.sql.ts), read (read-pool.ts),
 * decide (rules/), write (write-queue.ts). Any number of replicas run it; there is no leader.
 *
 * States of a row of session_polls, and who leaves them
 * - waiting (`due_at` in the future): becomes due by the clock of the database.
 * - due: a claim takes it. A claim takes fresh sessions first, then those that are the latest relative to their interval (lanes.rules.ts).
 * - claimed (`batch_id` names a row of poll_batches): one worker reads it. The claim has already set the next `due_at`.
 * - closed: the row is deleted once the session is over, lost or erased.
 * - settled: once an online session is closed, its row stays in the phase `watching`, and it is read every WATCH_ONLINE_DAYS. A claim of its
 *   own takes few of these rows, by an index of their own, while the reads of all others fit the budget. So they are in no figure of how late
 *   reads are. The row is deleted once the remote service no longer has the session.
 *
 * The batch is the lease
 * - A claim inserts a row into poll_batches and writes its id into every row that it takes. While the batch exists, nobody else claims them.
 * - The batch is also the fence: every statement that writes a result names it. A worker whose lease has expired changes nothing.
 * - The claim is the reschedule, so that a poll writes one narrow row and an unchanged response writes nothing more. Rejected: a lease in
 *   each row. Its release would be a second update per poll, and neither would be HOT, because of the index on `due_at`.
 * - The cost: a session is claimed again only after the slowest read of its batch.
 * - After the batch is deleted, `claimed_at` is the time of the last successful read, since a failed read resets it.
 *
 * What happens to a read
 * - unchanged: nothing is written.
 * - changed: session, observation, transition and event commit together, conditional on the state that they leave (sessions.store.ts).
 * - failed: `failures` grows, and the session is due again after a backoff.
 * - not found or refused on every path: the same, and lost.rules.ts counts it. After enough of them, the session is `lost`, as a change.
 * - not sent (breaker, Retry-After, stopping): the queue is released, and its rows are due at their old times, as if they had not been
 *   claimed. The pool pauses; then it claims a single session, whose read is the probe.
 * - cannot be saved: the set is applied one by one; the response at fault is tried for 5 s, then its session is postponed for 15 min.
 *
 * What a crash leaves
 * - Before the reads: claimed rows whose lease expires after POLL_LEASE_MS. Any worker then deletes the batch and makes them due.
 * - During the reads: the same. A read changes nothing at the remote service, so it is repeated without harm.
 * - Between two sets of results: the written ones stay; the others are read again.
 * A SIGTERM releases what is queued, waits for the reads in flight, writes their results and deletes the batches.
 *
 * At night: `admin.poll_lag` (how late reads are), `admin.poll_batches` (who reads what, until when), `admin.session_timeline` (what was
 * seen of a session). Late reads of all sessions mean too few workers, a budget that is too small (the stretch in GET /status) or a
 * remote service that is slow; late reads of one session mean that its reads fail.
 */
/** Claims due sessions for the pool that reads them, and renews their leases. Runs in any number of replicas. */
@Injectable()
export class Poller extends BackgroundTasks {
  protected readonly tasks = [
    task({
      name: 'polls.claim',
      everyMs: this.environment.POLL_TICK_MS,
      due: ANY_DUE,
      run: (stop: AbortSignal) => this.claimWhileDue(stop),
    }),
    this.environment.WATCH_ONLINE_DAYS > 0
      ? task({
          name: 'polls.claim_settled',
          everyMs: this.environment.POLL_TICK_MS,
          due: ANY_SETTLED_DUE,
          run: () => this.claimSettled(),
        })
      : task({
          name: 'polls.stop_settled',
          everyMs: this.environment.POLL_TICK_MS,
          due: ANY_SETTLED,
          run: () => this.stopSettled(),
        }),
    // Results may have been written meanwhile, so the pool may now start reads for which the write queue was too long.
    task({
      name: 'polls.start_reads',
      everyMs: this.environment.POLL_TICK_MS,
      run: async () => this.pool.start(),
    }),
    task({
      name: 'polls.release_expired',
      everyMs: RELEASE_EVERY_MS,
      due: EXPIRED_BATCHES,
      run: () => this.releaseExpired(),
    }),
    task({
      name: 'polls.renew_leases',
      everyMs: this.environment.POLL_LEASE_MS / RENEWALS_PER_LEASE,
      run: () => this.writes.renewLeases(),
    }),
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
    super('polling is held up', environment.ROLE !== 'api', READS_STOP_WITHIN_MS);
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
      const size = this.pool.wanted;
      if (size === 0) await this.pool.ended.wait(stop, this.environment.POLL_TICK_MS, count);
      else isMoreDue = (await this.claim(size)) === size;
    }
  }

  private async claimSettled(): Promise<void> {
    const size = this.pool.wantedOfSettled;
    if (size > 0) await this.claim(size, (most) => this.polls.claimSettled(most));
  }

  private async stopSettled(): Promise<void> {
    while ((await this.polls.stopWatchingSettled(STOPPED_AT_ONCE)) === STOPPED_AT_ONCE);
  }

  private async claim(
    size: number,
    claimMost: (most: number) => Promise<ClaimedPoll[]> = (most) => this.polls.claimDue(most),
  ): Promise<number> {
    const claimedAt = performance.now();
    const polls = await claimMost(size);
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
