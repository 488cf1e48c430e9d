import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../access/audit-log.store.js';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Database, type Statement, type Transaction } from '../../platform/database/database.js';
import { decodeCursor, toPage, type Page, type PageQuery } from '../../platform/http/page.js';
import { Problem } from '../../platform/problem/problem.js';
import type { EventName } from '../catalogue.js';
import { sequenceEvents } from '../sequence.sql.js';
import { addWebhookJobs } from './webhook-job.sql.js';
import type { WebhookHeaders } from './webhook-headers.js';
import { newWebhookSecret } from './webhook-secret.js';
import { headersContext, previousSecretContext, secretContext } from './webhook-secrets.sql.js';
import * as sql from './webhook-endpoints.sql.js';
import type { Destination } from './webhook-sender.service.js';
import { originOf } from './webhook-url.js';

/**
 * A tenant has a handful of apps. Each endpoint that hangs keeps one of the 50 places for jobs of a worker (platform/jobs), so fewer than
 * these: were all of them to hang, handlers would still have some.
 */
const MAX_ENDPOINTS = 40;
/** Each costs a signature of every webhook. Enough for a script that rotates again because it lost the answer. */
const MOST_PREVIOUS_SECRETS = 4;

export interface StoredEndpoint {
  readonly id: string;
  readonly url: string;
  readonly types: readonly EventName[];
  readonly description: string;
  readonly headerNames: readonly string[];
  readonly previousSecretUntil: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: 'requested' | 'gone' | 'failing' | null;
  readonly failures: number;
  readonly failingSince: Date | null;
  readonly lastDeliveredAt: Date | null;
  readonly pending: number;
  readonly unread: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type EndpointRow = Omit<StoredEndpoint, 'headerNames'> & { readonly headersCiphertext: Buffer | null };

interface DestinationRow {
  readonly url: string;
  readonly headersCiphertext: Buffer | null;
  readonly secretCiphertext: Buffer;
  readonly previousSecretCiphertext: Buffer | null;
}

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

export interface RotatedSecret {
  readonly secret: string;
  readonly previousSecretUntil: Date | null;
}

/** Every method that takes an id throws Problem not_found. Whatever is done stands in the audit log, with no more of a URL than its origin. */
@Injectable()
export class WebhookEndpointsStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly audit: AuditLog,
  ) {}

  /** Answers the id. Throws Problem webhook_endpoint_limit. */
  async create(endpoint: NewEndpoint, actor: string): Promise<{ id: string; secret: string }> {
    const id = randomUUID();
    const { url, types, description, headers, secret = newWebhookSecret() } = endpoint;
    // What has happened until now must have its sequence, or it would come after the newest.
    await sequenceEvents(this.database);
    await this.database.transaction(async (tx) => {
      await tx.query(sql.HOLD_CREATION);
      const [row] = await tx.query<{ count: number }>(sql.COUNT_ENDPOINTS);
      if (row!.count >= MAX_ENDPOINTS)
        throw new Problem('webhook_endpoint_limit', `There are ${MAX_ENDPOINTS} endpoints already`);
      const sealed = this.cipher.encrypt(secret, secretContext(id));
      const own = this.sealHeaders(id, headers);
      await tx.query(sql.INSERT_ENDPOINT, [id, url, types, description, own, sealed, actor]);
      const details = { origin: originOf(url), types, headerNames: Object.keys(headers) };
      await this.audit.record(tx, { actor, action: 'webhook_endpoint.created', target: id, details });
    });
    return { id, secret };
  }

  async get(id: string): Promise<StoredEndpoint> {
    const [row] = await this.database.query<EndpointRow>(sql.GET_ENDPOINT, [id]);
    return this.open(row ?? refuseUnknown(id));
  }

  /** Where to and with what a webhook is sent to it now. */
  async getDestination(id: string): Promise<Destination> {
    const [row] = await this.database.query<DestinationRow>(sql.GET_DESTINATION, [id]);
    const { url, headersCiphertext, secretCiphertext, previousSecretCiphertext } = row ?? refuseUnknown(id);
    const secret = this.cipher.decrypt(secretCiphertext, secretContext(id));
    const previous = this.openPrevious(id, previousSecretCiphertext);
    return { url, headers: this.openHeaders(id, headersCiphertext), secrets: [secret, ...previous] };
  }

  /** Newest first. */
  async list({ limit, cursor }: Pick<PageQuery, 'limit' | 'cursor'>): Promise<Page<StoredEndpoint>> {
    const [createdAt, id] = decodeCursor(cursor, ['instant', 'uuid']) ?? [null, null];
    const rows = await this.database.query<EndpointRow>(sql.LIST_ENDPOINTS, [createdAt, id, limit + 1]);
    const page = toPage(rows, limit, (row) => [row.createdAt, row.id]);
    return { ...page, items: page.items.map((row) => this.open(row)) };
  }

  async change(id: string, change: EndpointChange, actor: string): Promise<void> {
    const { url, types, description, headers } = change;
    const isRepaired = url !== undefined || headers !== undefined;
    await this.database.transaction(async (tx) => {
      await hold(tx, id);
      const own = headers === undefined ? null : this.sealHeaders(id, headers);
      const values = [url ?? null, types ?? null, description ?? null, own, headers !== undefined];
      await tx.query(sql.UPDATE_ENDPOINT, [id, ...values]);
      if (isRepaired) await tx.query(sql.FORGET_FAILURES, [id]);
      const details = {
        changed: Object.keys(change),
        ...(url !== undefined && { origin: originOf(url) }),
        ...(types !== undefined && { types }),
        ...(headers !== undefined && { headerNames: Object.keys(headers) }),
      };
      await this.audit.record(tx, { actor, action: 'webhook_endpoint.changed', target: id, details });
    });
    if (isRepaired) await this.makeDue(id);
  }

  /** Whoever delivers to it heeds that within a second, as every other change. Does nothing to one that is disabled. */
  async disable(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { isDisabled } = await hold(tx, id);
      if (isDisabled) return;
      await tx.query(sql.DISABLE_ENDPOINT, [id]);
      await this.audit.record(tx, { actor, action: 'webhook_endpoint.disabled', target: id });
    });
  }

  /** It goes on with the event at which it stopped. Does nothing to one that is enabled. */
  async enable(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { isDisabled } = await hold(tx, id);
      if (isDisabled) await this.enableHeld(tx, id, actor, { skippedMissed: false });
    });
    await this.makeDue(id);
  }

  /** It goes on with what happens from now on; what it missed is kept as failed. Throws Problem invalid_request for one that is enabled. */
  async enableWithoutMissed(id: string, actor: string): Promise<void> {
    // While it is disabled nothing is sent and nothing written for it, so these steps need not be one with the last.
    if ((await this.get(id)).disabledAt === null) refuseEnabled();
    await this.inSteps(id, sql.SKIP_SOME_PENDING);
    await sequenceEvents(this.database);
    await this.database.transaction(async (tx) => {
      const { isDisabled } = await hold(tx, id);
      if (!isDisabled) refuseEnabled();
      await tx.query(sql.SKIP_SOME_PENDING, [id]);
      await tx.query(sql.READ_TO_NEWEST, [id]);
      await this.enableHeld(tx, id, actor, { skippedMissed: true });
    });
  }

  /**
   * Whoever rotates again within the overlap may not have had the last answer, so everything that signed goes on to sign with it, until
   * the latest of those times; an overlap of 0 ends all of it.
   */
  async rotateSecret(
    id: string,
    secret: string | undefined,
    overlapSeconds: number,
    actor: string,
  ): Promise<RotatedSecret> {
    const renewed = secret ?? newWebhookSecret();
    return this.database.transaction(async (tx) => {
      const { secretCiphertext, previousSecretCiphertext } = await hold(tx, id);
      const signing = [
        this.cipher.decrypt(secretCiphertext, secretContext(id)),
        ...this.openPrevious(id, previousSecretCiphertext),
      ];
      const previous = overlapSeconds > 0 ? signing.filter((other) => other !== renewed) : [];
      const [row] = await tx.query<{ previousSecretUntil: Date | null }>(sql.ROTATE_SECRET, [
        id,
        this.cipher.encrypt(renewed, secretContext(id)),
        this.sealPrevious(id, previous.slice(0, MOST_PREVIOUS_SECRETS)),
        overlapSeconds,
      ]);
      const details = { overlapSeconds };
      await this.audit.record(tx, { actor, action: 'webhook_endpoint.secret_rotated', target: id, details });
      return { secret: renewed, previousSecretUntil: row!.previousSecretUntil };
    });
  }

  /**
   * With its deliveries. It is disabled first, so one whose deletion broke off sends nothing, and can be deleted again; the audit log
   * says so from then on.
   */
  async delete(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { url } = await hold(tx, id);
      await tx.query(sql.DISABLE_ENDPOINT, [id]);
      const details = { origin: originOf(url) };
      await this.audit.record(tx, { actor, action: 'webhook_endpoint.deleted', target: id, details });
    });
    await this.inSteps(id, sql.DELETE_SOME_DELIVERIES);
    await this.database.query(sql.DELETE_ENDPOINT, [id]);
  }

  private async enableHeld(
    tx: Transaction,
    id: string,
    actor: string,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await tx.query(sql.ENABLE_ENDPOINT, [id]);
    await tx.query(sql.FORGET_FAILURES, [id]);
    await addWebhookJobs(tx, [id]);
    await this.audit.record(tx, { actor, action: 'webhook_endpoint.enabled', target: id, details });
  }

  /** Whatever waits for another attempt gets it now. */
  private async makeDue(id: string): Promise<void> {
    await this.inSteps(id, sql.SOME_PENDING_DUE);
    await this.database.transaction((tx) => addWebhookJobs(tx, [id]));
  }

  private async inSteps(id: string, statement: Statement): Promise<void> {
    for (;;) {
      const changed = await this.database.transaction((tx) => tx.query(statement, [id]));
      if (changed.length < sql.STEP_SIZE) return;
    }
  }

  private sealHeaders(id: string, headers: WebhookHeaders): Buffer | null {
    if (Object.keys(headers).length === 0) return null;
    return this.cipher.encrypt(JSON.stringify(headers), headersContext(id));
  }

  private openHeaders(id: string, ciphertext: Buffer | null): WebhookHeaders {
    if (ciphertext === null) return {};
    return JSON.parse(this.cipher.decrypt(ciphertext, headersContext(id))) as WebhookHeaders;
  }

  /** Newest first, with blanks between them. */
  private sealPrevious(id: string, secrets: readonly string[]): Buffer | null {
    return secrets.length === 0 ? null : this.cipher.encrypt(secrets.join(' '), previousSecretContext(id));
  }

  private openPrevious(id: string, ciphertext: Buffer | null): string[] {
    return ciphertext === null ? [] : this.cipher.decrypt(ciphertext, previousSecretContext(id)).split(' ');
  }

  private open({ headersCiphertext, ...endpoint }: EndpointRow): StoredEndpoint {
    return { ...endpoint, headerNames: Object.keys(this.openHeaders(endpoint.id, headersCiphertext)) };
  }
}

async function hold(tx: Transaction, id: string): Promise<sql.HeldEndpoint> {
  const [row] = await tx.query<sql.HeldEndpoint>(sql.HOLD_ENDPOINT, [id]);
  return row ?? refuseUnknown(id);
}

function refuseUnknown(id: string): never {
  throw new Problem('not_found', `There is no webhook endpoint ${id}`);
}

function refuseEnabled(): never {
  const message = 'is for an endpoint that is disabled; this one is enabled';
  throw new Problem('invalid_request', `skipMissed ${message}`, {
    errors: [{ field: 'skipMissed', message }],
  });
}
