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

/** Throwing makes the job run again after a growing wait. */
export type Task = (payload: unknown, job: RunningJob) => Promise<void>;

/**
 * A webhook endpoint that hangs has one of these for 15 s, and again for each probe afterwards, which is seldom; a handler that hangs
 * for 60 s. With 50, dozens of them may begin to hang at once before others have to wait. Each that is free asks for a job every
 * POLL_INTERVAL_MS: together 25 small queries a second and 1 % of a core on an idle machine, twice that with 100.
 */
const CONCURRENCY = 50;
/** One connection listens; the others take and finish jobs, which needs a moment each. */
const CONNECTIONS = 4;
/** How long a job may wait when the notification about it was lost. */
const POLL_INTERVAL_MS = 2_000;
/**
 * graphile-worker gives the jobs of a dead worker to others after 4 hours, which is fixed in its SQL. So live workers say so
 * every few seconds, and jobs of those that do not are released. 30 s, because saying so may take 20 s to fail (5 s for a
 * connection, 15 s for the statement), and the next time must still come before the end: with less, every short outage of the
 * database would have jobs run twice at once. The price is that what a killed process had in hand waits that long.
 */
const LEASE_MS = 30_000;
const BEAT_MS = 5_000;
/** How long running jobs may go on when the process is asked to stop; afterwards they are another's. */
const STOP_MS = 3_000;
const RESTART_MS = 1_000;

/**
 * Work that is done later, in order of due time, by any process with ROLE worker or all, and again until it succeeds. A task is
 * run at least once per job. A job is added by the SQL function `graphile_worker.add_job`, in the transaction of what it is for;
 * its payload is stored as it is, so it must hold no secret.
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
    // Of its own, so that a burst of requests cannot keep jobs from being finished, nor the other way round.
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
      // A single connection that is lost while a job is being finished makes graphile-worker stop. The promise that should
      // tell may then stay pending (0.17.3 counts what is left to finish below zero), so the beginning counts, and what is
      // running here: only when nothing is may the jobs be given back.
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
            // Without a delay for batches, 0.17.3 finishes a job by a promise that nobody awaits: a connection lost at
            // that moment is an unhandled rejection, which ends the process. With one, it stops the worker in good order.
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
            // No local queue: jobs waiting in one look like running ones and would have to be given back.
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
        // graphile-worker stores and logs the message and the stack, and either may hold what must not stand there.
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

  // No more jobs are taken from here on; the other modules begin to stop at the same time.
  onModuleDestroy(): void {
    this.stopping.abort();
    this.stopped = this.stop();
  }

  // HTTP and the database are closed after this hook, so a running job may still use both.
  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  private async stop(): Promise<void> {
    const { worker } = this;
    if (worker !== undefined) {
      const ended = Promise.resolve(worker.gracefulShutdown('the process stops')).catch(() => {});
      await withinStopTime(Promise.all([ended, this.running]));
      // Whatever has not ended in time is taken up by another, while it may still be running here.
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

  // Its `info` is a line per job. The level is a const enum, whose values are these words.
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

// graphile-worker 0.17.3 looks up the ids of its tasks once, and keeps the answer even if it was an error: a worker whose
// first look for a job failed, such as one started while the database is away, would find none for ever.
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
