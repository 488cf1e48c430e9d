import { Logger, type RunnerOptions } from 'graphile-worker';
import type pg from 'pg';

/** graphile-worker alone: quiet, and `tuned` with what its documentation offers for throughput: a local queue, and completing in batches. */
export const runnerOptions = (pgPool: pg.Pool, concurrency: number, isTuned: boolean): RunnerOptions => ({
  pgPool,
  concurrency,
  // As often as our poller looks in the benchmarks.
  pollInterval: 50,
  noHandleSignals: true,
  logger: new Logger(() => () => {}),
  preset: {
    worker: isTuned ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {},
  },
});
