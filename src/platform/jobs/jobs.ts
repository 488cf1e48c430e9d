import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import * as graphile from 'graphile-worker';
import pg from 'pg';
import { Database } from '../database/database.js';
import { OUTCOME } from '../database/patience.js';
import {
  CONNECT_WITHIN_MS,
  JOB_TIMEOUTS,
  RESPONSE_WITHIN_MS,
  withSettings,
} from '../database/connection-settings.js';
import { Environment } from '../env/environment.js';
import { Loop } from '../async/loop.js';
import { within } from '../async/within.js';
import { Metrics } from '../../observability/metrics/metrics.js';
import { isDatabaseUnavailable } from '../problem/database-unavailable.js';
import { errorText } from '../../observability/redaction/error-text.js';
import { STOP_WITHIN_MS } from '../shutdown/limits.js';
import { RELEASE_EXPIRED, RELEASE_JOBS, RENEW_JOBS } from './jobs.sql.js';
import { JobInterruptedError, RunningJob } from './running-job.js';

/** If the task throws, the job is retried with backoff. */
type Task = (payload: unknown, job: RunningJob) => Promise<void>;

/** Enough even if dozens of jobs hang, each for up to 60 s. Free slots poll: 25 small queries a second in all, which take 1 % of a core. */
export const JOB_SLOTS = 50;
/**
 * Workers renew the leases of their jobs, and release jobs with an expired lease: graphile-worker itself releases the jobs of a dead worker
 * only after 4 hours. 30 s, because a renewal may take 20 s to fail: with a shorter lease, a short outage would run jobs twice.
 */
const LEASE_MS = 30_000;
const BEAT_MS = 5_000;
/** How long a claimed job may not run here: longer than a response takes to arrive or to be given up. */
const LOST_AFTER_MS = RESPONSE_WITHIN_MS + 1_000;
const LEVELS = { error: 'warn', warning: 'warn', info: 'debug', debug: 'debug' } as const;

/** Runs jobs when due, at least once, and retries them until they succeed. Payloads must not contain secrets: they are not encrypted. */
@Injectable()
export class Jobs implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(Jobs.name);
  private readonly tasks = new Map<string, Task>();
  private readonly pool: pg.Pool;
  private readonly seconds = this.metrics.histogram({
    name: 'pv_onboarding_job_duration_seconds',
    help: 'Duration of the jobs of this process, by task and outcome: completed, failed, interrupted. Failed ones are retried',
    labels: ['task', 'outcome'],
  });
  private worker: graphile.WorkerPool | undefined;
  /** The running jobs, with their ids. */
  private readonly inFlight = new Map<Promise<void>, string>();
  private readonly interrupted: string[] = [];
  private running: Promise<unknown> = Promise.resolve();
  private stopped: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private readonly beat = new Loop({
    step: async () => {
      const running = [...this.inFlight.values()];
      const worker = this.worker?.id;
      if (worker !== undefined) await this.database.query(RENEW_JOBS, [worker, running], OUTCOME);
      const values = [LEASE_MS, worker, LOST_AFTER_MS, running];
      const { length } = await this.database.query(RELEASE_EXPIRED, values, OUTCOME);
      if (length > 0)
        this.logger.warn(
          `released ${length} jobs of workers that did not renew their leases for ${LEASE_MS} ms`,
        );
      return BEAT_MS;
    },
    onError: (error, failures) => {
      if (failures === 1) this.logger.warn(`job leases could not be renewed: ${errorText(error)}`);
      return BEAT_MS;
    },
  });

  constructor(
    private readonly environment: Environment,
    private readonly database: Database,
    private readonly metrics: Metrics,
  ) {
    metrics.gauge({
      name: 'pv_onboarding_jobs_running',
      help: 'Jobs that run in this process',
      collect: (gauge) => gauge.set(this.inFlight.size),
    });
    // A separate pool, so that a burst of requests cannot prevent jobs from completing, and jobs cannot block requests.
    this.pool = new JobsPool({
      connectionString: environment.DATABASE_DIRECT_URL,
      // One connection listens; the others claim and complete jobs, which takes little time.
      max: 4,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: RESPONSE_WITHIN_MS,
      keepAlive: true,
      application_name: `pv-onboarding ${environment.ROLE} jobs`,
      ...withSettings(JOB_TIMEOUTS),
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
    this.beat.start();
    this.running = this.work();
  }

  private async work(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const events: graphile.WorkerEvents = new EventEmitter();
      const worker = this.start(events);
      this.worker = worker;
      stopUnusable(worker, events);
      // If a connection is lost while a job is being completed, graphile-worker 0.17.3 stops, and its promise may stay pending. So wait for
      // the start of its shutdown, then until no job runs here. Only then may the jobs be released.
      await Promise.race([once(events, 'pool:gracefulShutdown'), worker.promise]).catch(() => {});
      if (!this.stopping.signal.aborted) this.logger.warn('the job worker stopped and is restarted');
      do {
        await Promise.allSettled(this.inFlight.keys());
        await this.pause();
      } while (this.inFlight.size > 0);
      // While the database accepts no writes, a new worker would fail, too.
      while (!(await this.giveBack(worker)) && !this.stopping.signal.aborted) await this.pause();
    }
  }

  /** Waits a second, or until the process stops. */
  private pause(): Promise<void> {
    return sleep(1_000, undefined, { signal: this.stopping.signal }).catch(() => {});
  }

  private start(events: graphile.WorkerEvents): graphile.WorkerPool {
    return graphile.runTaskList(
      {
        concurrency: JOB_SLOTS,
        // How long a job may wait if its notification was lost.
        pollInterval: 2_000,
        noHandleSignals: true,
        events,
        // graphile-worker logs a line of level `info` for each job, so LEVELS makes it `debug`.
        logger: new graphile.Logger(() => (level, message) => this.logger[LEVELS[level]](message)),
        preset: {
          worker: {
            // Without a batch delay, 0.17.3 completes a job with a promise that is never awaited: a connection lost at that moment is an
            // unhandled rejection, which ends the process. With a delay of 0, the worker stops in order instead.
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
            // No local queue: jobs waiting in it look like running ones and would have to be released.
          },
        },
      },
      Object.fromEntries([...this.tasks].map(([name, run]) => [name, this.runner(name, run)])),
      this.pool,
    );
  }

  private runner(name: string, run: Task): graphile.Task {
    return async (payload, { job }) => {
      const isStopping = () => this.stopping.signal.aborted;
      const work = run(payload, new RunningJob(this.database, job.locked_by ?? '', job.id, isStopping));
      this.inFlight.set(work, job.id);
      const end = this.seconds.startTimer({ task: name });
      try {
        await work;
        end({ outcome: 'completed' });
      } catch (error) {
        const isInterrupted = error instanceof JobInterruptedError;
        end({ outcome: isInterrupted ? 'interrupted' : 'failed' });
        if (isInterrupted) this.interrupted.push(job.id);
        // graphile-worker stores and logs the message and the stack, and either may contain secrets or personal data.
        const failure = new Error(errorText(error));
        delete failure.stack;
        throw failure;
      } finally {
        this.inFlight.delete(work);
      }
    };
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
      await within(STOP_WITHIN_MS.jobs, Promise.all([ended, this.running, this.beat.stop()]));
      // Releases jobs that did not end in time, even if they still run here, so that other workers claim them.
      await this.giveBack(worker);
    }
    await within(STOP_WITHIN_MS.jobs, this.pool.end());
  }

  /** Releases the jobs of a stopped worker. Returns false if the database is unavailable. */
  private async giveBack(worker: graphile.WorkerPool): Promise<boolean> {
    const interrupted = this.interrupted.splice(0);
    try {
      await this.database.transaction((tx) => tx.query(RELEASE_JOBS, [worker.id, interrupted]));
      return true;
    } catch (error) {
      this.interrupted.push(...interrupted);
      // An outage of the database is logged elsewhere. After other errors, the jobs are released when their leases expire.
      if (isDatabaseUnavailable(error)) return false;
      this.logger.warn(`jobs could not be released; other workers claim them later: ${errorText(error)}`);
      return true;
    }
  }
}

/** Stops a worker whose first search for a job failed: graphile-worker 0.17.3 caches this error, and the worker would never find a job. */
function stopUnusable(worker: graphile.WorkerPool, events: graphile.WorkerEvents): void {
  let isUsable = false;
  const works = () => (isUsable = true);
  events.once('worker:getJob:empty', works).once('job:start', works);
  events.once('worker:getJob:error', () => {
    if (!isUsable)
      void Promise.resolve(worker.gracefulShutdown('the search for jobs failed')).catch(() => {});
  });
}

type Done = (reason?: Error | boolean) => void;
type Callback = (error: Error | undefined, client: pg.PoolClient | undefined, done: Done) => void;

// Ignores a second release of a client. graphile-worker 0.17.3 releases its listening client twice if the connection is lost while the
// worker stops. pg would then throw an error, which ends the process as an unhandled rejection.
export class JobsPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | void {
    if (callback === undefined) return super.connect();
    // pg passes no `done` if it found no connection in time.
    super.connect((error, client, done?: Done) => {
      let isGivenBack = false;
      callback(error, client, (reason) => {
        if (isGivenBack) return;
        isGivenBack = true;
        done?.(reason);
      });
    });
  }
}
