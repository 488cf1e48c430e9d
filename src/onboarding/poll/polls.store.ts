import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/database.js';
import { Environment } from '../../platform/env/environment.js';
import * as sql from './polls.sql.js';
import type { SessionState } from '../rules/machine.rules.js';
import type { ReadSession } from '../rules/read-plan.rules.js';
import { phaseOf, planNextReadMs, scheduleSettings } from '../rules/schedule.rules.js';

/** A session to be claimed. */
interface DuePoll extends ReadSession {
  readonly sessionId: string;
  readonly userId: string;
  /** SHA-1 of the last answer that was kept, hexadecimal; null before the first. */
  readonly answerHash: string | null;
}

/** A session that this process may read now, and nobody else. */
export interface ClaimedPoll extends DuePoll {
  /** The database's clock at the claim. */
  readonly now: Date;
}

interface OpenedBatch {
  readonly id: string;
  readonly now: Date;
}

export interface PollBatch {
  readonly id: string;
  readonly polls: readonly ClaimedPoll[];
}

/** A read that brought no answer about the session. */
export interface FailedRead {
  readonly sessionId: string;
  readonly batchId: string;
  readonly failures: number;
  readonly notFound: number;
  /** Redacted. */
  readonly error: string | null;
  readonly retryMs: number;
}

/**
 * Nobody extends the lease of a read that a caller waits for, so it covers the longest there is: a wait for a turn, and on each of
 * the two path shapes a call, a token renewal and the call again.
 */
const CALLS_PER_READ = 7;

/** Claims, leases and releases. What a read brought is applied by SessionsStore. */
@Injectable()
export class PollsStore {
  private readonly worker = `${hostname()}:${process.pid}`;
  private readonly settings;

  constructor(
    private readonly database: Database,
    private readonly environment: Environment,
  ) {
    this.settings = scheduleSettings(environment);
  }

  /** The oldest due sessions, at most `limit`; null when none is due. */
  async claimDue(limit: number): Promise<PollBatch | null> {
    return this.claim((tx) => tx.query<DuePoll>(sql.SELECT_DUE, [limit]), this.environment.POLL_LEASE_MS);
  }

  /** One session, due or not; null while it is being read, or when it is not watched. */
  async claimOne(sessionId: string): Promise<PollBatch | null> {
    const leaseMs = Math.max(
      this.environment.POLL_LEASE_MS,
      this.environment.SCS_TIMEOUT_MS * CALLS_PER_READ,
    );
    return this.claim((tx) => tx.query<DuePoll>(sql.SELECT_ONE, [sessionId]), leaseMs);
  }

  /** Makes a closed session due once more; false when there is none, or its user has been erased. */
  async watchClosed(sessionId: string, state: SessionState): Promise<boolean> {
    const rows = await this.database.query(sql.WATCH_CLOSED, [sessionId, phaseOf(state)]);
    return rows.length > 0;
  }

  /** Takes back what `watchClosed` did when the read of the batch brought nothing. */
  async stopWatchingClosed(sessionId: string, batchId: string): Promise<void> {
    await this.database.query(sql.STOP_CLOSED_POLL, [sessionId, batchId]);
  }

  private async claim(
    select: (tx: Transaction) => Promise<DuePoll[]>,
    leaseMs: number,
  ): Promise<PollBatch | null> {
    return this.database.transaction(async (tx) => {
      const due = await select(tx);
      if (due.length === 0) return null;
      const [batch] = await tx.query<OpenedBatch>(sql.OPEN_BATCH, [this.worker, due.length, leaseMs]);
      const { id, now } = batch!;
      const claimed = await tx.query<{ sessionId: string }>(sql.CLAIM, [
        id,
        due.map((poll) => poll.sessionId),
        due.map(({ phase, anchorAt }) =>
          planNextReadMs({ phase, anchorAt, failures: 0 }, now, this.settings, Math.random()),
        ),
      ]);
      if (claimed.length === 0) {
        await tx.query(sql.CLOSE_BATCHES, [[id]]);
        return null;
      }
      const ours = new Set(claimed.map((row) => row.sessionId));
      const polls = due.filter((poll) => ours.has(poll.sessionId)).map((poll) => ({ ...poll, now }));
      return { id, polls };
    });
  }

  /** The ids of the batches whose lease could be extended; the others are lost. */
  async extendLeases(batchIds: readonly string[]): Promise<Set<string>> {
    const rows = await this.database.query<{ id: string }>(sql.EXTEND_LEASES, [
      batchIds,
      this.environment.POLL_LEASE_MS,
    ]);
    return new Set(rows.map((row) => row.id));
  }

  /** Ends batches whose reads have all been applied. */
  async closeBatches(batchIds: readonly string[]): Promise<void> {
    await this.database.query(sql.CLOSE_BATCHES, [batchIds]);
  }

  /** Ends batches whose worker died, and makes what they held due. Answers how many there were. */
  async releaseExpiredBatches(): Promise<number> {
    return this.database.transaction(async (tx) => {
      const expired = await tx.query<{ id: string }>(sql.DELETE_EXPIRED_BATCHES);
      if (expired.length > 0) await tx.query(sql.RELEASE_BATCHES, [expired.map((row) => row.id)]);
      return expired.length;
    });
  }

  async recordFailures(failed: readonly FailedRead[]): Promise<void> {
    const rows = failed.map((read) => ({
      session_id: read.sessionId,
      batch_id: read.batchId,
      failures: read.failures,
      not_found: read.notFound,
      last_error: read.error,
      retry_ms: read.retryMs,
    }));
    await this.database.query(sql.RECORD_FAILURES, [JSON.stringify(rows)]);
  }
}
