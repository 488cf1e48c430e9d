import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../access/audit-log.store.js';
import { Database } from '../../../platform/database/database.js';
import { decodeCursor, toPage, type Page, type PageQuery } from '../../../platform/http/page.js';
import { Problem } from '../../../platform/problem/problem.js';
import type { EventName } from '../../catalogue.rules.js';
import { sequenceEvents } from '../../sequence.sql.js';
import { FORGET_FAILURES } from './enabling.sql.js';
import * as sql from './endpoints.sql.js';
import type { WebhookHeaders } from './headers.js';
import { holdEndpoint, unknownEndpoint } from '../deliver/lock-endpoint.sql.js';
import { WebhookSealing } from '../secrets/sealing.service.js';
import { newWebhookSecret } from '../secrets/secret.js';
import { originOf } from './url.js';

/**
 * A tenant has a handful of apps. Each hanging endpoint occupies one of the 50 job slots of a worker (platform/jobs). With fewer
 * endpoints than slots, handlers still get some even if all endpoints hang.
 */
const MAX_ENDPOINTS = 40;

export const DISABLED_REASONS = ['requested', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

export interface StoredEndpoint {
  readonly id: string;
  readonly url: string;
  readonly types: readonly EventName[];
  readonly description: string;
  readonly headerNames: readonly string[];
  readonly previousSecretUntil: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: DisabledReason | null;
  readonly failures: number;
  readonly failingSince: Date | null;
  readonly lastDeliveredAt: Date | null;
  readonly pending: number;
  readonly unread: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type EndpointRow = Omit<StoredEndpoint, 'headerNames'> & { readonly headersCiphertext: Buffer | null };

export interface NewEndpoint {
  readonly url: string;
  readonly types: readonly EventName[];
  readonly description: string;
  readonly headers: WebhookHeaders;
  readonly secret: string | undefined;
}

export interface EndpointChange {
  readonly url?: string;
  readonly types?: readonly EventName[];
  readonly description?: string;
  readonly headers?: WebhookHeaders;
}

/** Every method that takes an id throws Problem not_found. Changes are recorded in the audit log; of a URL, only its origin. */
@Injectable()
export class WebhookEndpointsStore {
  constructor(
    private readonly database: Database,
    private readonly sealing: WebhookSealing,
    private readonly audit: AuditLog,
  ) {}

  /** Inserts an endpoint. Throws Problem webhook_endpoint_limit. */
  async create(endpoint: NewEndpoint, actor: string): Promise<{ id: string; secret: string }> {
    const id = randomUUID();
    const { url, types, description, headers, secret = newWebhookSecret() } = endpoint;
    // Sequence all past events first; otherwise they would follow the newest sequence and be delivered.
    await sequenceEvents(this.database);
    await this.database.transaction(async (tx) => {
      await tx.query(sql.HOLD_CREATION);
      const [row] = await tx.query<{ count: number }>(sql.COUNT_ENDPOINTS);
      if (row!.count >= MAX_ENDPOINTS)
        throw new Problem('webhook_endpoint_limit', `There are ${MAX_ENDPOINTS} endpoints already`);
      const sealed = this.sealing.sealSecret(id, secret);
      const own = this.sealing.sealHeaders(id, headers);
      await tx.query(sql.INSERT_ENDPOINT, [id, url, types, description, own, sealed, actor]);
      const details = { origin: originOf(url), types, headerNames: Object.keys(headers) };
      await this.audit.record(tx, { actor, action: 'webhook_endpoint.created', target: id, details });
    });
    return { id, secret };
  }

  async get(id: string): Promise<StoredEndpoint> {
    const [row] = await this.database.query<EndpointRow>(sql.GET_ENDPOINT, [id]);
    if (row === undefined) throw unknownEndpoint(id);
    return this.open(row);
  }

  /** Returns a page, newest first. */
  async list({ limit, cursor }: Pick<PageQuery, 'limit' | 'cursor'>): Promise<Page<StoredEndpoint>> {
    const [createdAt, id] = decodeCursor(cursor, ['instant', 'uuid']) ?? [null, null];
    const rows = await this.database.query<EndpointRow>(sql.LIST_ENDPOINTS, [createdAt, id, limit + 1]);
    const page = toPage(rows, limit, (row) => [row.createdAt, row.id]);
    return { ...page, items: page.items.map((row) => this.open(row)) };
  }

  /** Updates an endpoint. Returns whether failed deliveries may succeed now. */
  async change(id: string, change: EndpointChange, actor: string): Promise<{ readonly isRepaired: boolean }> {
    const { url, types, description, headers } = change;
    const isRepaired = url !== undefined || headers !== undefined;
    await this.database.transaction(async (tx) => {
      await holdEndpoint(tx, id);
      const own = headers === undefined ? null : this.sealing.sealHeaders(id, headers);
      const values = [url ?? null, types ?? null, description ?? null, own, headers !== undefined];
      await tx.query(sql.UPDATE_ENDPOINT, [id, ...values]);
      if (isRepaired) await tx.query(FORGET_FAILURES, [id]);
      const details = {
        changed: Object.keys(change),
        ...(url !== undefined && { origin: originOf(url) }),
        ...(types !== undefined && { types }),
        ...(headers !== undefined && { headerNames: Object.keys(headers) }),
      };
      await this.audit.record(tx, { actor, action: 'webhook_endpoint.changed', target: id, details });
    });
    return { isRepaired };
  }

  private open({ headersCiphertext, ...endpoint }: EndpointRow): StoredEndpoint {
    return {
      ...endpoint,
      headerNames: Object.keys(this.sealing.openHeaders(endpoint.id, headersCiphertext)),
    };
  }
}
