import { Logger, type RunnerOptions } from 'graphile-worker';
import type pg from 'pg';

/** Returns options without logging. `isTuned` adds graphile-worker's options for throughput: a local queue and batched completion. */
export const runnerOptions = (pgPool: pg.Pool, concurrency: number, isTuned: boolean): RunnerOptions => ({
  pgPool,
  concurrency,
  // Equal to POLL_TICK_MS of the benchmarks.
  pollInterval: 50,
  noHandleSignals: true,
  logger: new Logger(() => () => {}),
  preset: {
    worker: isTuned ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {},
  },
});
