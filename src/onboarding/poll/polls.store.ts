import { Injectable } from '@nestjs/common';
import {
  actingCaller,
  actingKey,
  requireActing,
  requireOneActing,
  type Caller,
} from '../../access/acting-caller.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import { changeWithoutRefused, withoutRefusedRows } from '../../platform/database/refused-rows.js';
import { Environment } from '../../platform/env/environment.js';
import { REPLICA_NAME } from '../../platform/build.js';
import { LearnedSchedules } from './learned-schedules.js';
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

type SelectPolls = (tx: Transaction, spare: number) => Promise<DuePoll[]>;

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
    private readonly schedules: LearnedSchedules,
  ) {}

  /** Claims at most `limit` due sessions as one batch, chosen as in lanes.rules.ts. */
  async claimDue(limit: number): Promise<ClaimedPoll[]> {
    const fresh = shareOfFresh(limit, Math.random());
    const select: SelectPolls = (tx, spare) => tx.query(sql.SELECT_DUE, [fresh, limit + spare]);
    return this.claim(select, limit, this.environment.POLL_LEASE_MS);
  }

  /** Claims at most `limit` due sessions that are settled, if the budget has room for them. */
  async claimSettled(limit: number): Promise<ClaimedPoll[]> {
    const select: SelectPolls = (tx, spare) => tx.query(sql.SELECT_SETTLED, [limit + spare]);
    return this.claim(select, limit, this.environment.POLL_LEASE_MS);
  }

  /** Ends the watch of at most `limit` settled sessions. Returns their number. */
  async stopWatchingSettled(limit: number): Promise<number> {
    return (await this.database.query(sql.STOP_SETTLED, [limit])).length;
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
    const select: SelectPolls = (tx) => tx.query(sql.SELECT_ONE, [sessionId]);
    return (await this.claim(select, 1, leaseMs, callers))[0];
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
    select: SelectPolls,
    limit: number,
    leaseMs: number,
    callers?: readonly (Caller | undefined)[],
  ): Promise<ClaimedPoll[]> {
    return withoutRefusedRows(this.database, async (tx, changeRows, spare) => {
      if (callers !== undefined) await requireOneActing(tx, callers);
      const rows = await select(tx, spare);
      const due = rows.map((poll) => ({ ...poll, learned: this.schedules.learnedOf(poll) }));
      if (due.length === 0) return [];
      const [batch] = await tx.query<Claim>(sql.OPEN_BATCH, [REPLICA_NAME, due.length, leaseMs]);
      const { batchId, now, stretch } = batch!;
      const nextMs = (poll: (typeof due)[number]) =>
        planNextReadMs({ ...poll, failures: 0 }, now, this.settings, stretch, Math.random());
      const claimThese = (polls: readonly (typeof due)[number][]) =>
        tx.query<{ sessionId: string }>(sql.CLAIM_POLLS, [
          batchId,
          polls.map(({ sessionId }) => sessionId),
          polls.map(nextMs),
        ]);
      const claimed = await changeRows(due, claimThese, limit);
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
    return withoutRefusedRows(this.database, async (tx, changeRows) => {
      const expired = await tx.query<{ id: string }>(sql.DELETE_EXPIRED_BATCHES);
      const ids = expired.map(({ id }) => id);
      // The sessions of a batch that is left out are due when its claim planned.
      if (ids.length > 0) await changeRows(ids, (part) => tx.query(sql.RELEASE_BATCHES, [part]));
      return expired.length;
    });
  }

  async recordFailures(failed: readonly FailedRead[]): Promise<void> {
    await changeWithoutRefused(this.database, failed, (on, part) =>
      on.query(sql.RECORD_FAILURES, [JSON.stringify(part)]),
    );
  }
}
