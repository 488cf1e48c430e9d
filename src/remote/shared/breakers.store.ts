import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { msFromNow } from '../../platform/database/timestamps.js';
import type { OperationClass } from '../outcome.rules.js';
import { OPERATIONS_CHANNEL } from './operations.store.js';

// Replaces the lease of the trial, if this is its result.
const OPEN_BREAKER = `
  WITH opened AS (
    UPDATE remote_operations SET open_until = ${msFromNow('$2')}, failed_trials = greatest(failed_trials, $3)
    WHERE operation = $1 RETURNING operation
  )
  SELECT pg_notify('${OPERATIONS_CHANNEL}', operation) FROM opened`;

const CLOSE_BREAKER = `
  WITH closed AS (
    UPDATE remote_operations SET open_until = NULL, failed_trials = 0
    WHERE operation = $1 AND open_until IS NOT NULL RETURNING operation
  )
  SELECT pg_notify('${OPERATIONS_CHANNEL}', operation) FROM closed`;

// A breaker that no other replica knows to be open is tried without a lease: the trial concerns this replica alone.
const CLAIM_TRIAL = `
  UPDATE remote_operations SET open_until = CASE WHEN open_until IS NOT NULL THEN ${msFromNow('$2')} END
  WHERE operation = $1 AND (open_until IS NULL OR open_until <= clock_timestamp())
  RETURNING operation`;

/** Stores which breakers are open for all replicas. */
@Injectable()
export class BreakersStore {
  constructor(private readonly database: Database) {}

  /** Withholds the calls of this operation in all replicas. After `openMs`, one of them may try a call. */
  async open(operation: OperationClass, openMs: number, failedTrials: number): Promise<void> {
    await this.database.query(OPEN_BREAKER, [operation, openMs, failedTrials]);
  }

  async close(operation: OperationClass): Promise<void> {
    await this.database.query(CLOSE_BREAKER, [operation]);
  }

  /** Returns whether this replica may try a call. Meanwhile, for at most `leaseMs`, no other replica may. */
  async claimTrial(operation: OperationClass, leaseMs: number): Promise<boolean> {
    return (await this.database.queryAside(CLAIM_TRIAL, [operation, leaseMs])).length > 0;
  }
}
