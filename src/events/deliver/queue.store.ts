import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { repeatWhileUnavailable } from '../../platform/database/repeat-while-unavailable.js';
import type { Transaction } from '../../platform/database/database.js';
import { withCurrentData } from '../event-data.sql.js';
import type { Attempt, DueDelivery } from './outlet.js';
import * as sql from './queue.sql.js';
import { TAKE, type TakenRow } from './take.sql.js';

/** How long to try to record attempts. A delivery whose attempt is not recorded is sent again. */
const RECORD_WITHIN_MS = 10_000;

/** The queue of each endpoint: its deliveries, by subject. */
@Injectable()
export class DeliveryQueue {
  constructor(private readonly database: Database) {}

  /**
   * Turns the next events into deliveries. Returns the first delivery of up to `limit` due subjects that are not in `claimed`, longest due
   * first; none if the endpoint is disabled or another process has its lease. `isThereMore`: more subjects may be due.
   */
  async take(id: string, leaseToken: string, claimed: Iterable<string>, limit: number) {
    const rows = await this.database.query<TakenRow>(TAKE, [id, leaseToken, [...claimed], limit], OUTCOME);
    const deliveries = rows.flatMap((row) => (row.deliveryId === null ? [] : [row]));
    const isThereMore = deliveries.length === limit || rows[0]!.mayMoreBeUnread;
    return { deliveries, isThereMore };
  }

  /** Returns the delivery as it may be sent now: an erasure may have changed its event. Null if the event is deleted. */
  readAgain(delivery: DueDelivery): Promise<DueDelivery | null> {
    return withCurrentData(this.database, delivery.position, delivery);
  }

  /** Records attempts. Returns whether a subject's next delivery is due. */
  async record(id: string, attempts: readonly Attempt[]): Promise<boolean> {
    const { isThereMore } = await this.write((tx) => sql.settle(tx, id, attempts));
    return isThereMore;
  }

  /** Runs a transaction that records attempts. If the database is unavailable, tries again for a while. */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return repeatWhileUnavailable(() => this.database.transaction(work, OUTCOME), RECORD_WITHIN_MS);
  }

  /** Returns in how many ms the next delivery may be sent; null if none is pending. */
  async findNextDue(id: string): Promise<number | null> {
    return (await this.database.query<{ inMs: number }>(sql.NEXT_DUE, [id]))[0]?.inMs ?? null;
  }
}
