import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { decodeCursor, toPage, type Page, type PageQuery } from '../../../platform/http/page.js';
import { Problem } from '../../../platform/problem/problem.js';
import type { EventName } from '../../catalogue.rules.js';
import { GET_DELIVERY, LIST_DELIVERIES, LIST_DELIVERIES_OF_SUBJECT } from './deliveries.sql.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface StoredDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly name: EventName;
  /** The sequence of the event. Never null, because deliveries are inserted only for sequenced events. */
  readonly sequence: string;
  readonly position: string;
  readonly subject: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly lastAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly lastAnswer: string | null;
  readonly createdAt: Date;
}

export interface DeliveryFilter {
  readonly endpointId?: string;
  readonly status?: DeliveryStatus;
  readonly eventId?: string;
  readonly subject?: string;
  readonly since?: Date;
}

/** Reads the log of sent and pending deliveries. */
@Injectable()
export class WebhookDeliveriesStore {
  constructor(private readonly database: Database) {}

  /** Throws Problem not_found. */
  async get(id: string): Promise<StoredDelivery> {
    const [row] = await this.database.query<StoredDelivery>(GET_DELIVERY, [id]);
    if (row === undefined) throw new Problem('not_found', `There is no webhook delivery ${id}`);
    return row;
  }

  /** Returns a page, newest first; of deliveries inserted at the same instant, the later event first. */
  async list(
    { endpointId, status, eventId, subject, since }: DeliveryFilter,
    { limit, cursor }: Pick<PageQuery, 'limit' | 'cursor'>,
  ): Promise<Page<StoredDelivery>> {
    const after = decodeCursor(cursor, ['instant', 'integer', 'uuid']) ?? [null, null, null];
    const values = [status ?? null, eventId ?? null, since ?? null, ...after, limit + 1, endpointId ?? null];
    const rows = await (subject === undefined
      ? this.database.query<StoredDelivery>(LIST_DELIVERIES, values)
      : this.database.query<StoredDelivery>(LIST_DELIVERIES_OF_SUBJECT, [...values, subject]));
    return toPage(rows, limit, ({ createdAt, position, endpointId: of }) => [createdAt, position, of]);
  }
}
