import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/database.js';
import { Environment } from '../../platform/env/environment.js';
import * as sql from './polls.sql.js';
import type { SessionState } from '../rules/machine.rules.js';
import type { ReadSession } from '../rules/read-plan.rules.js';
import { phaseOf, planNextReadMs, scheduleSettings } from '../rules/schedule.rules.js';

interface DuePoll extends ReadSession {
  readonly sessionId: string;
  readonly userId: string;
  /** SHA-1 (hex) of the last recorded response; null before the first. */
  readonly answerHash: string | null;
}

/** A session that only this process may read now. */
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

/** A read without a usable response about the session. */
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
 * Longest duration of a read that a caller waits for, in timeouts of a call: a wait for a turn, and on each of the two path shapes a
 * call, a token renewal and the call again. The lease must cover it, because it is not renewed.
 */
const CALLS_PER_READ = 7;

/** Claims sessions, and renews and releases their leases. SessionsStore applies what was read. */
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

  /** Claims at most `limit` due sessions, the longest overdue first. Returns null if none is due. */
  async claimDue(limit: number): Promise<PollBatch | null> {
    return this.claim((tx) => tx.query<DuePoll>(sql.SELECT_DUE, [limit]), this.environment.POLL_LEASE_MS);
  }

  /** Claims one session, due or not. Returns null if it is being read or not watched. */
  async claimOne(sessionId: string): Promise<PollBatch | null> {
    const leaseMs = Math.max(
      this.environment.POLL_LEASE_MS,
      this.environment.SCS_TIMEOUT_MS * CALLS_PER_READ,
    );
    return this.claim((tx) => tx.query<DuePoll>(sql.SELECT_ONE, [sessionId]), leaseMs);
  }

  /** Makes a closed session due once more. Returns false if it does not exist or its user has been erased. */
  async watchClosed(sessionId: string, state: SessionState): Promise<boolean> {
    const rows = await this.database.query(sql.WATCH_CLOSED, [sessionId, phaseOf(state)]);
    return rows.length > 0;
  }

  /** Reverts `watchClosed` after a failed read of the batch. */
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

  /** Renews leases. Returns the ids of the renewed batches; the others are lost. */
  async extendLeases(batchIds: readonly string[]): Promise<Set<string>> {
    const rows = await this.database.query<{ id: string }>(sql.EXTEND_LEASES, [
      batchIds,
      this.environment.POLL_LEASE_MS,
    ]);
    return new Set(rows.map((row) => row.id));
  }

  /** Deletes batches whose reads have all been applied. */
  async closeBatches(batchIds: readonly string[]): Promise<void> {
    await this.database.query(sql.CLOSE_BATCHES, [batchIds]);
  }

  /** Deletes batches whose lease has expired and makes their sessions due. Returns the number of these batches. */
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
