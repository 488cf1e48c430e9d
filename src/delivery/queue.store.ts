import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database.js';
import { OUTCOME, OUTCOME_PATIENCE_MS } from '../platform/database/connection/patience.js';
import type { Attempt, DueDelivery } from './outlet.js';
import * as sql from './queue.sql.js';
import { TAKE, type TakenRow } from './take.sql.js';

/** The queues of pending deliveries, one queue per endpoint. A queue contains each subject once. */
@Injectable()
export class DeliveryQueue {
  /** How long to try to record an attempt that the database refuses. Replaced in tests. */
  patienceMs = OUTCOME_PATIENCE_MS;

  constructor(private readonly database: Database) {}

  /**
   * Turns the next events into deliveries. Chooses at most `limit` due subjects that are not in `claimed`, the longest overdue first, and
   * returns the first delivery of each. Returns no delivery if the endpoint is disabled or another process has its lease. `isThereMore`:
   * whether further subjects may be due.
   */
  async take(id: string, leaseToken: string, claimed: Iterable<string>, limit: number) {
    const rows = await this.database.query<TakenRow>(TAKE, [id, leaseToken, [...claimed], limit], OUTCOME);
    const deliveries = rows.flatMap((row) => (row.deliveryId === null ? [] : [row]));
    const isThereMore = deliveries.length === limit || rows[0]!.mayMoreBeUnread;
    return { deliveries, isThereMore };
  }

  /** Records attempts, at most one per subject. Returns whether the next delivery of one of the subjects is due. */
  record(id: string, attempts: readonly Attempt[]): Promise<boolean> {
    return this.write((tx) => sql.settle(tx, id, attempts));
  }

  /** Runs a transaction that records attempts. */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.database.transaction(work, OUTCOME);
  }

  /** Makes a delivery due later whose attempt cannot be recorded. Returns false if it is no longer queued. */
  async postpone(id: string, { deliveryId, subject }: DueDelivery): Promise<boolean> {
    return (await this.database.query(sql.POSTPONE, [id, subject, deliveryId], OUTCOME)).length > 0;
  }

  /** Repeats `step` until it returns true, or until the process stops. */
  repeatUntil(step: () => Promise<boolean>, pauseMs: number): Promise<void> {
    return this.database.outcomes.repeatUntil(step, pauseMs);
  }

  /** Returns in how many ms the next delivery may be sent; null if none is pending or the endpoint is disabled. */
  async findNextDue(id: string): Promise<number | null> {
    return (await this.database.query<{ inMs: number }>(sql.NEXT_DUE, [id]))[0]?.inMs ?? null;
  }
}
