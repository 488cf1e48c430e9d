import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import * as graphile from 'graphile-worker';
import type pg from 'pg';
import { Database } from '../database/database.js';
import { Environment } from '../env/environment.js';
import { errorText } from '../redaction/error-text.js';
import { JobsPool } from './jobs-pool.js';
import { giveBackJobs, keepJobs, releaseLapsedJobs } from './jobs.sql.js';
import { JobBrokenOffError, RunningJob } from './running-job.js';

/** If it throws, the job runs again after a growing wait. */
export type Task = (payload: unknown, job: RunningJob) => Promise<void>;

/**
 * A hanging webhook endpoint occupies one slot for 15 s, and again for each later probe, which is rare; a hanging handler occupies one for
 * 60 s. With 50 slots, dozens may start to hang at once before other jobs have to wait. Each free slot polls every POLL_INTERVAL_MS:
 * together 25 small queries a second and 1 % of a core on an idle machine, twice that with 100 slots.
 */
const CONCURRENCY = 50;
/** One connection listens; the others claim and complete jobs, which takes them only a moment. */
const CONNECTIONS = 4;
/** How long a job may wait if its notification was lost. */
const POLL_INTERVAL_MS = 2_000;
/**
 * graphile-worker releases the jobs of a dead worker after 4 hours, which is fixed in its SQL. So live workers renew their leases every few
 * seconds, and jobs with a lapsed lease are released. 30 s, because a renewal may take 20 s to fail (5 s for a connection, 15 s for the
 * statement) and the next one must still come in time: with a shorter lease, every short outage of the database would run jobs twice at
 * once. The price is that the jobs of a killed process wait that long.
 */
const LEASE_MS = 30_000;
const BEAT_MS = 5_000;
/** How long running jobs may continue after the process is asked to stop; then they are released to other workers. */
const STOP_MS = 3_000;
const RESTART_MS = 1_000;

/**
 * Runs jobs at their due time, in any process with ROLE worker or all, and retries them until they succeed. A task runs at least once per
 * job. Jobs are added with the SQL function `graphile_worker.add_job`, in the transaction that writes the data they work on. The payload is
 * stored unencrypted, so it must not contain a secret.
 */
@Injectable()
export class Jobs implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(Jobs.name);
  private readonly tasks = new Map<string, Task>();
  private readonly pool: pg.Pool;
  private worker: graphile.WorkerPool | undefined;
  private readonly inHand = new Set<Promise<void>>();
  private readonly brokenOff: string[] = [];
  private running: Promise<unknown> = Promise.resolve();
  private stopped: Promise<void> | undefined;
  private readonly stopping = new AbortController();

  constructor(
    private readonly environment: Environment,
    private readonly database: Database,
  ) {
    // A separate pool, so that a burst of requests cannot prevent jobs from completing, and jobs cannot block requests.
    this.pool = new JobsPool({
      connectionString: environment.DATABASE_URL,
      max: CONNECTIONS,
      connectionTimeoutMillis: 5_000,
      statement_timeout: 15_000,
      keepAlive: true,
      application_name: `pv-onboarding ${environment.ROLE} jobs`,
    });
    this.pool.on('error', (error) => this.logger.warn(`idle database connection lost: ${error.message}`));
    this.pool.on('connect', (client) => client.on('error', () => {}));
  }

  register(task: string, run: Task): void {
    if (this.worker !== undefined) throw new Error(`task ${task} is registered after the worker has started`);
    if (this.tasks.has(task)) throw new Error(`task ${task} is registered twice`);
    this.tasks.set(task, run);
  }

  onApplicationBootstrap(): void {
    if (this.environment.ROLE === 'api' || this.tasks.size === 0) return;
    this.running = Promise.all([this.work(), this.beat()]);
  }

  private async work(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const events: graphile.WorkerEvents = new EventEmitter();
      const worker = this.start(events);
      this.worker = worker;
      stopUnusable(worker, events);
      // If a connection is lost while a job is being completed, graphile-worker stops. Its promise may then stay pending (0.17.3 counts the
      // remaining work below zero). So wait for the start of its shutdown, then for the jobs running here: the jobs may be released only
      // when none is running.
      await Promise.race([once(events, 'pool:gracefulShutdown'), worker.promise]).catch(() => {});
      if (!this.stopping.signal.aborted) this.logger.warn('the worker has stopped and is started again');
      do {
        await Promise.allSettled(this.inHand);
        await sleep(RESTART_MS, undefined, { signal: this.stopping.signal }).catch(() => {});
      } while (this.inHand.size > 0);
      await this.giveBack(worker);
    }
  }

  private start(events: graphile.WorkerEvents): graphile.WorkerPool {
    return graphile.runTaskList(
      {
        concurrency: CONCURRENCY,
        pollInterval: POLL_INTERVAL_MS,
        noHandleSignals: true,
        events,
        logger: new graphile.Logger(() => (level, message) => this.log(level, message)),
        preset: {
          worker: {
            // Without a batch delay, 0.17.3 completes a job with a promise that is never awaited: a connection lost at that moment is an
            // unhandled rejection, which ends the process. With a delay of 0 it stops the worker in an orderly way.
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
            // No local queue: jobs waiting in it look like running ones and would have to be released.
          },
        },
      },
      Object.fromEntries([...this.tasks].map(([name, run]) => [name, this.runner(run)])),
      this.pool,
    );
  }

  private runner(run: Task): graphile.Task {
    return async (payload, { job }) => {
      const isStopping = () => this.stopping.signal.aborted;
      const work = run(payload, new RunningJob(this.database, job.locked_by ?? '', job.id, isStopping));
      this.inHand.add(work);
      try {
        await work;
      } catch (error) {
        if (error instanceof JobBrokenOffError) this.brokenOff.push(job.id);
        // graphile-worker stores and logs the message and the stack, and either may contain secrets or personal data.
        const failure = new Error(errorText(error));
        delete failure.stack;
        throw failure;
      } finally {
        this.inHand.delete(work);
      }
    };
  }

  private async beat(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        if (this.worker !== undefined) await keepJobs(this.database, this.worker.id);
        const released = await releaseLapsedJobs(this.database, LEASE_MS);
        if (released > 0)
          this.logger.warn(`took ${released} jobs from workers that have been silent for ${LEASE_MS} ms`);
      } catch (error) {
        this.logger.warn(`jobs could not be kept: ${errorText(error)}`);
      }
      await sleep(BEAT_MS, undefined, { signal: this.stopping.signal }).catch(() => {});
    }
  }

  // Stops claiming jobs; the other modules begin to stop at the same time.
  onModuleDestroy(): void {
    this.stopping.abort();
    this.stopped = this.stop();
  }

  // HTTP and the database close after this hook, so a running job may still use both.
  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  private async stop(): Promise<void> {
    const { worker } = this;
    if (worker !== undefined) {
      const ended = Promise.resolve(worker.gracefulShutdown('the process stops')).catch(() => {});
      await withinStopTime(Promise.all([ended, this.running]));
      // Another worker claims jobs that did not end in time, even if they still run here.
      await this.giveBack(worker);
    }
    await withinStopTime(this.pool.end());
  }

  private async giveBack(worker: graphile.WorkerPool): Promise<void> {
    await giveBackJobs(this.database, worker.id, this.brokenOff.splice(0)).catch((error: unknown) =>
      this.logger.warn(
        `jobs could not be given back, others take them in ${LEASE_MS} ms: ${errorText(error)}`,
      ),
    );
  }

  // graphile-worker's `info` is one line per job. The level is a const enum whose values are these strings.
  private log(level: `${graphile.LogLevel}`, message: string): void {
    switch (level) {
      case 'error':
        return this.logger.warn(message);
      case 'warning':
        return this.logger.warn(message);
      case 'info':
      case 'debug':
        return this.logger.debug(message);
    }
  }
}

// Stops a worker whose first search for a job failed, for instance because it started while the database was unreachable. graphile-worker
// 0.17.3 looks up the ids of its tasks once and caches the result, even an error: such a worker would never find a job.
function stopUnusable(worker: graphile.WorkerPool, events: graphile.WorkerEvents): void {
  let isUsable = false;
  const works = () => (isUsable = true);
  events.once('worker:getJob:empty', works).once('job:start', works);
  events.once('worker:getJob:error', () => {
    if (!isUsable)
      void Promise.resolve(worker.gracefulShutdown('no job could be looked for')).catch(() => {});
  });
}

const withinStopTime = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, sleep(STOP_MS, undefined, { ref: false })]);
