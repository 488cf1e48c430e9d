import { Injectable } from '@nestjs/common';
import {
  actingCaller,
  actingKey,
  requireActing,
  requireOneActing,
  type Caller,
} from '../../access/acting-caller.js';
import { Database, type Statement } from '../../platform/database/database.js';
import { Environment } from '../../platform/env/environment.js';
import { REPLICA_NAME } from '../../platform/replica-name.js';
import { ReadHabits } from './habits.service.js';
import * as sql from './polls.sql.js';
import type { ReadableSession } from '../remote/session-reader.service.js';
import type { SessionState } from '../rules/machine.rules.js';
import type { Postponement, ReadSession } from '../rules/read-plan.rules.js';
import { shareOfFresh } from './lanes.rules.js';
import { phaseOf, planNextReadMs, scheduleSettings } from '../rules/schedule.rules.js';

interface Claim {
  readonly batchId: string;
  /** The database's clock at the claim. */
  readonly now: Date;
  readonly stretch: number;
  /** The trace context of the claim or, once the session has been read, of the read. */
  readonly traceparent?: string;
}

/** A session that only this process may read now. */
export interface ClaimedPoll extends Claim, ReadSession, ReadableSession {}

type DuePoll = Omit<ClaimedPoll, keyof Claim | 'learned'> & { readonly brand: string | null };

export type FailedRead = Pick<ClaimedPoll, 'sessionId' | 'batchId'> & Omit<Postponement, 'kind'>;

/** The longest usual read, in multiples of SCS_TIMEOUT_MS: a wait in the call queue, then call, token renewal and retry for two paths. */
const TIMEOUTS_PER_READ = 7;

/** Claims sessions, and renews and releases their leases. SessionsStore applies the readings. */
@Injectable()
export class PollsStore {
  private readonly settings = scheduleSettings(this.environment);

  constructor(
    private readonly database: Database,
    private readonly environment: Environment,
    private readonly habits: ReadHabits,
  ) {}

  /** Claims at most `limit` due sessions as one batch, chosen as in lanes.rules.ts. */
  async claimDue(limit: number): Promise<ClaimedPoll[]> {
    const which = [shareOfFresh(limit, Math.random()), limit];
    return this.claim(sql.SELECT_DUE, which, this.environment.POLL_LEASE_MS);
  }

  /**
   * Claims one session, due or not. Returns undefined if the session is being read or is not watched. Throws Problem unauthenticated if none
   * of the callers that wait for the read may act any longer.
   */
  async claimOne(
    sessionId: string,
    callers: readonly (Caller | undefined)[] = [actingCaller()],
  ): Promise<ClaimedPoll | undefined> {
    const { POLL_LEASE_MS, SCS_TIMEOUT_MS } = this.environment;
    const leaseMs = Math.max(POLL_LEASE_MS, SCS_TIMEOUT_MS * TIMEOUTS_PER_READ);
    return (await this.claim(sql.SELECT_ONE, [sessionId], leaseMs, callers))[0];
  }

  /**
   * Makes a closed session due for a single read. Returns false if the session does not exist or its user has been erased. Throws Problem
   * unauthenticated if the caller of the request may no longer act.
   */
  async watchClosed(sessionId: string, state: SessionState): Promise<boolean> {
    const values = [sessionId, phaseOf(state), actingKey()];
    if ((await this.database.query(sql.WATCH_CLOSED, values)).length > 0) return true;
    await requireActing(this.database);
    return false;
  }

  /** Ends the watch that `watchClosed` began, after the read of the batch has failed. */
  async stopWatchingClosed(sessionId: string, batchId: string): Promise<void> {
    await this.database.query(sql.STOP_CLOSED_POLL, [sessionId, batchId]);
  }

  private async claim(
    select: Statement,
    which: readonly unknown[],
    leaseMs: number,
    callers?: readonly (Caller | undefined)[],
  ): Promise<ClaimedPoll[]> {
    return this.database.transaction(async (tx) => {
      if (callers !== undefined) await requireOneActing(tx, callers);
      const rows = await tx.query<DuePoll>(select, which);
      const due = rows.map((poll) => ({ ...poll, learned: this.habits.learnedOf(poll) }));
      if (due.length === 0) return [];
      const [batch] = await tx.query<Claim>(sql.OPEN_BATCH, [REPLICA_NAME, due.length, leaseMs]);
      const { batchId, now, stretch } = batch!;
      const nextMs = due.map((poll) =>
        planNextReadMs({ ...poll, failures: 0 }, now, this.settings, stretch, Math.random()),
      );
      const values = [batchId, due.map((poll) => poll.sessionId), nextMs];
      const claimed = await tx.query<{ sessionId: string }>(sql.CLAIM_POLLS, values);
      if (claimed.length === 0) await tx.query(sql.CLOSE_BATCHES, [[batchId]]);
      const ours = new Set(claimed.map((row) => row.sessionId));
      return due.filter((poll) => ours.has(poll.sessionId)).map((poll) => ({ ...poll, ...batch! }));
    });
  }

  /** Renews the leases of batches. Returns the ids of the renewed batches. The leases of all other batches are lost. */
  async renewLeases(batchIds: readonly string[]): Promise<Set<string>> {
    const values = [batchIds, this.environment.POLL_LEASE_MS];
    const rows = await this.database.query<{ id: string }>(sql.RENEW_LEASES, values);
    return new Set(rows.map((row) => row.id));
  }

  /** Deletes batches whose reads have all been applied. */
  async closeBatches(batchIds: readonly string[]): Promise<void> {
    await this.database.query(sql.CLOSE_BATCHES, [batchIds]);
  }

  /** Deletes batches whose lease has expired and makes their sessions due. Returns the number of deleted batches. */
  async releaseExpiredBatches(): Promise<number> {
    return this.database.transaction(async (tx) => {
      const expired = await tx.query<{ id: string }>(sql.DELETE_EXPIRED_BATCHES);
      if (expired.length > 0) await tx.query(sql.RELEASE_BATCHES, [expired.map((row) => row.id)]);
      return expired.length;
    });
  }

  async recordFailures(failed: readonly FailedRead[]): Promise<void> {
    await this.database.query(sql.RECORD_FAILURES, [JSON.stringify(failed)]);
  }
}
