import { counted } from '../../platform/counted.rules.js';
import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { requireActing } from '../../access/acting-caller.js';
import { isAudited, recordAudit, type AuditEntry } from '../../access/audit-log.store.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import type { Prisma } from '../../platform/database/generated/client.js';
import { StallViews, type StoredStall } from '../../stalls/stall-views.service.js';
import type { Page } from '../../platform/http/page.js';
import { List } from '../../platform/list/list.js';
import type { EventName } from '../../events/catalogue.rules.js';
import { toEventType } from '../../events/cloud-event.js';
import { newestSequence, sequenceEvents } from '../../events/sequence.sql.js';
import { dequeue, makeDue } from '../../delivery/queue.sql.js';
import { lockEndpoint, readEndpoint, type EndpointRow } from '../endpoint.sql.js';
import { newWebhookSecret, WebhookSealing } from '../secrets/sealing.service.js';
import { lastEndOf, planRotation } from '../secrets/secret.rules.js';
import {
  WebhookEndpointView,
  type NewWebhookEndpoint,
  type SecretRotation,
  type WebhookEndpointChange,
} from './endpoints.dto.js';

/** One process may have to serve all endpoints, with several requests in flight for each. */
export const MAX_ENDPOINTS = 40;

/** Normalised settings: the URL as `URL.href`, the event names in catalogue order. */
type Settings = Omit<NewWebhookEndpoint, 'secret'>;

const LISTED = {
  omit: {
    secretCiphertext: true,
    previousSecretCiphertext: true,
    isReported: true,
    quietUntil: true,
    createdBy: true,
    handler: true,
    seenAt: true,
    leaseToken: true,
    leaseUntil: true,
    dueAt: true,
  },
} as const;

type ListedRow = Prisma.WebhookEndpointGetPayload<typeof LISTED>;

const ENDPOINTS = new List({
  name: 'endpoints',
  select: 'SELECT id, created_at AS "createdAt" FROM webhook_endpoints',
  where: 'handler IS NULL',
  order: { createdAt: ['created_at', 'instant'], id: ['id', 'uuid'] },
  descending: true,
  filters: {},
});

export class WebhookEndpointsQuery extends ENDPOINTS.Query {}

/** Excludes handlers, which are stored as endpoints, too. */
const WEBHOOKS = { handler: null };

/**
 * Serialises the creation of endpoints, so that concurrent requests cannot exceed MAX_ENDPOINTS. Lock as late as possible: each request
 * waits for the rest of the transactions before it, and fails after 5 s.
 */
export const LOCK_CREATION = `SELECT pg_advisory_xact_lock(hashtextextended('pv-onboarding/webhook-endpoints', 0))`;
/** The most rows per statement: changing millions of deliveries at once would exceed the statement timeout. */
const STEP_SIZE = 5_000;
// FOR NO KEY UPDATE waits until a concurrent attempt is recorded, and then checks the status again. An UPDATE with a subquery for its rows
// would not check the status again, and would overwrite `delivered`.
const SKIP_SOME = `
  WITH chosen AS MATERIALIZED (
    SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'pending'
    ORDER BY subject, position LIMIT ${STEP_SIZE} FOR NO KEY UPDATE
  )
  UPDATE webhook_deliveries AS delivery
  SET status = 'failed', next_attempt_at = NULL, last_error = 'skipped'
  FROM chosen WHERE delivery.id = chosen.id
  RETURNING delivery.subject`;
const MAKE_SUBJECTS_DUE = `
  UPDATE webhook_subjects SET due_at = clock_timestamp() WHERE endpoint_id = $1 AND due_at > clock_timestamp()`;
const MOST_COUNTED = 10_000;
/** The health of an endpoint whose URL or headers were changed, that was enabled, or that has accepted a test event. */
const NO_FAILURES = { failures: 0, failingSince: null, isReported: false, quietUntil: null };

type Recorder = (action: string, details?: AuditEntry['details']) => Promise<void>;
type Update<T> = (tx: Transaction, locked: EndpointRow, record: Recorder) => Promise<T>;

const disabledAt = (now: Date) => ({ disabledAt: now, disabledReason: 'requested', updatedAt: now });

/** Reads and changes endpoints. Methods return null if no endpoint has the id. Changes are audited. Workers see them within a second. */
@Injectable()
export class WebhookEndpointsStore {
  private readonly logger = new Logger(WebhookEndpointsStore.name);

  constructor(
    private readonly database: Database,
    private readonly sealing: WebhookSealing,
    private readonly stalls: StallViews,
  ) {}

  /** Inserts an endpoint that starts after the newest event. Returns null if there are already `MAX_ENDPOINTS` endpoints. */
  async create(
    tx: Transaction,
    { headers = {}, types = [], ...settings }: Settings,
    secret: string,
    actor: string,
  ): Promise<WebhookEndpointView | null> {
    const id = randomUUID();
    const data = {
      ...settings,
      id,
      types,
      readTo: BigInt(await newestSequence(tx)),
      createdBy: actor,
      secretCiphertext: this.sealing.sealSecret(id, secret),
      headersCiphertext: this.sealing.sealHeaders(id, headers),
    };
    const details = auditDetails({ ...settings, types, headers });
    await recordAudit(tx, { actor, action: 'webhook_endpoint.created', target: id, details });
    await tx.query(LOCK_CREATION);
    if ((await tx.prisma.webhookEndpoint.count({ where: WEBHOOKS })) >= MAX_ENDPOINTS) return null;
    const row = await tx.prisma.webhookEndpoint.create({ ...LISTED, data });
    return this.view(row, { pending: 0, unread: 0, stalled: null });
  }

  async find(id: string): Promise<WebhookEndpointView | null> {
    const where = { id, ...WEBHOOKS };
    const row = await this.database.prisma.webhookEndpoint.findFirst({ ...LISTED, where });
    return row && this.describe(row);
  }

  async list(query: WebhookEndpointsQuery): Promise<Page<WebhookEndpointView>> {
    const { items, next } = await ENDPOINTS.page<ListedRow>(this.database, query);
    const endpoints = await Promise.all(items.map(({ id }) => this.find(id)));
    return { items: endpoints.flatMap((endpoint) => endpoint ?? []), next };
  }

  private async describe(row: ListedRow): Promise<WebhookEndpointView> {
    const where = { endpointId: row.id, status: 'pending' };
    const subject = { kind: 'endpoint', subject: row.id };
    const stall = await this.database.prisma.stall.findUnique({ where: { kind_subject: subject } });
    return this.view(row, {
      stalled: this.stalls.view('endpoint', row, stall as StoredStall | null),
      pending: await this.database.prisma.webhookDelivery.count({ where, take: MOST_COUNTED }),
      unread: Number(BigInt(await newestSequence(this.database)) - row.readTo),
    });
  }

  private view(
    { headersCiphertext, readTo, types, ...endpoint }: ListedRow,
    backlog: Pick<WebhookEndpointView, 'pending' | 'unread' | 'stalled'>,
  ): WebhookEndpointView {
    return WebhookEndpointView.of({
      // The CHECKs of the table and this store guarantee these types, but Prisma does not know them.
      ...(endpoint as typeof endpoint & Pick<WebhookEndpointView, 'disabledReason' | 'url'>),
      ...backlog,
      headerNames: this.sealing.listHeaderNames(endpoint.id, headersCiphertext),
      types: (types as EventName[]).map(toEventType),
      enabled: endpoint.disabledAt === null,
    });
  }

  /**
   * Changes, disables or enables an endpoint. Changes nothing and returns `was_enabled` with `skipMissed` if the endpoint is enabled, and
   * `other_origin` if the stored headers or the stored secret would follow the endpoint to another origin.
   */
  async change(
    id: string,
    { enabled, skipMissed = false, ...settings }: WebhookEndpointChange,
    actor: string,
  ): Promise<'changed' | 'was_enabled' | 'other_origin' | null> {
    const { headers, secret, ...others } = settings;
    const refusalOf = ({ isDisabled, url }: EndpointRow) => {
      if (skipMissed && !isDisabled) return 'was_enabled';
      const leadsElsewhere = new URL(settings.url ?? url).origin !== new URL(url).origin;
      return leadsElsewhere && (headers === undefined || secret === undefined) ? 'other_origin' : null;
    };
    if (skipMissed) {
      const found = await readEndpoint(this.database, id);
      const refusal = found && refusalOf(found);
      if (found === null || refusal !== null) return refusal;
      // These steps may commit before the endpoint is enabled, because a disabled endpoint gets no new deliveries. They end early if
      // another request enables the endpoint.
      await this.inSteps(async (tx) => {
        const isDisabled = (await lockEndpoint(tx, id))?.isDisabled;
        await requireActing(tx);
        return isDisabled ? skipSome(tx, id) : 0;
      });
      await sequenceEvents(this.database);
    }
    const changed = Object.keys(settings);
    const isRepaired = settings.url !== undefined || headers !== undefined;
    const result = await this.update(id, actor, async (tx, locked, record) => {
      const { isDisabled, now } = locked;
      const refusal = refusalOf(locked);
      if (refusal !== null) return refusal;
      const isDisabling = enabled === false && !isDisabled;
      const isEnabling = enabled === true && isDisabled;
      if (changed.length === 0 && !isDisabling && !isEnabling) return 'changed';
      if (skipMissed) await skipSome(tx, id);
      const data = {
        ...others,
        headersCiphertext: headers && this.sealing.sealHeaders(id, headers),
        ...(secret !== undefined && {
          secretCiphertext: this.sealing.sealSecret(id, secret),
          previousSecretCiphertext: null,
          previousSecretUntil: null,
        }),
        ...((isRepaired || isEnabling) && NO_FAILURES),
        ...(isDisabling && disabledAt(now)),
        ...(isEnabling && { disabledAt: null, disabledReason: null }),
        ...(skipMissed && { readTo: BigInt(await newestSequence(tx)) }),
        updatedAt: now,
      };
      await tx.prisma.webhookEndpoint.update({ where: { id }, data });
      if (isDisabling) await record('webhook_endpoint.disabled');
      if (changed.length > 0)
        await record('webhook_endpoint.changed', { changed, ...auditDetails(settings) });
      if (isEnabling) await record('webhook_endpoint.enabled', { skippedMissed: skipMissed });
      return 'changed';
    });
    if (result === 'changed' && (isRepaired || enabled === true)) await this.makeSubjectsDue(id);
    return result;
  }

  /** Replaces the signing secret. `previousSecretUntil`: when the last previous secret expires; null if there is none. */
  async rotate(
    tx: Transaction,
    id: string,
    { secret = newWebhookSecret(), overlapSeconds }: SecretRotation,
    actor: string,
  ) {
    return updateIn(tx, id, actor, async (_, locked, record) => {
      const { now } = locked;
      const previous = planRotation(this.sealing.openSecrets(id, locked), secret, overlapSeconds, now);
      const previousSecretUntil = lastEndOf(previous);
      const data = {
        secretCiphertext: this.sealing.sealSecret(id, secret),
        previousSecretCiphertext: this.sealing.sealPrevious(id, previous),
        previousSecretUntil,
        updatedAt: now,
      };
      await tx.prisma.webhookEndpoint.update({ where: { id }, data });
      await record('webhook_endpoint.secret_rotated', { overlapSeconds });
      return { secret, previousSecretUntil };
    });
  }

  /** Resets the health of an enabled endpoint that accepted a test event at `url`, and makes its waiting retries due. */
  async recover(id: string, url: string): Promise<void> {
    const isWell = await this.database.transaction(async (tx) => {
      await requireActing(tx);
      const locked = await lockEndpoint(tx, id);
      if (locked === null || locked.isDisabled || locked.url !== url) return false;
      await tx.prisma.webhookEndpoint.update({ where: { id }, data: NO_FAILURES });
      const message = `a webhook endpoint works again, after ${counted(locked.failures, 'failure', 'failures')}`;
      if (locked.isReported) tx.afterCommit(() => this.logger.log({ message, endpointId: id }));
      return true;
    });
    if (isWell) await this.makeSubjectsDue(id);
  }

  /** Deletes an endpoint and its deliveries. First disables the endpoint, so that nothing is sent even if the deletion is interrupted. */
  async delete(id: string, actor: string): Promise<true | null> {
    const isFound = await this.update(id, actor, async (tx, { isDisabled, url, now }, record) => {
      if (!isDisabled) await tx.prisma.webhookEndpoint.update({ where: { id }, data: disabledAt(now) });
      // Records the deletion only once, because the caller may repeat an interrupted deletion.
      const isRecorded = await isAudited(tx, { target: id, action: 'webhook_endpoint.deleted' });
      if (!isRecorded) await record('webhook_endpoint.deleted', auditDetails({ url }));
      return true as const;
    });
    if (isFound === null) return null;
    const some = { where: { endpointId: id }, limit: STEP_SIZE };
    await this.inSteps(async ({ prisma }) => (await prisma.webhookDelivery.deleteMany(some)).count);
    await this.inSteps(async ({ prisma }) => (await prisma.webhookSubject.deleteMany(some)).count);
    await this.database.transaction(({ prisma }) => prisma.webhookEndpoint.deleteMany({ where: { id } }));
    return true;
  }

  private async makeSubjectsDue(id: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      await makeDue(tx, id);
      await tx.query(MAKE_SUBJECTS_DUE, [id]);
    });
  }

  /** Repeats `step` while it returns STEP_SIZE. Each step has its own transaction, which is retried after a deadlock with a drain. */
  private async inSteps(step: (tx: Transaction) => Promise<number>): Promise<void> {
    while ((await this.database.transaction(step)) >= STEP_SIZE);
  }

  /** Locks the endpoint and runs `work` in the same transaction. Returns null if there is no such endpoint. */
  private update<T>(id: string, actor: string, work: Update<T>): Promise<T | null> {
    return this.database.transaction((tx) => updateIn(tx, id, actor, work));
  }
}

async function updateIn<T>(tx: Transaction, id: string, actor: string, work: Update<T>): Promise<T | null> {
  const record: Recorder = (action, details = {}) => recordAudit(tx, { actor, action, target: id, details });
  const locked = await lockEndpoint(tx, id);
  return locked && work(tx, locked, record);
}

/** Returns settings for the audit log. Omits header values and the URL's path and query, which may contain secrets. */
const auditDetails = ({ url, types, headers }: Partial<Settings>) => ({
  origin: url && new URL(url).origin,
  types,
  headerNames: headers && Object.keys(headers),
});

/** Marks at most STEP_SIZE pending deliveries as skipped. Returns their number. */
async function skipSome(tx: Transaction, endpointId: string): Promise<number> {
  const skipped = await tx.query<{ subject: string }>(SKIP_SOME, [endpointId]);
  await dequeue(tx, endpointId, [...new Set(skipped.map(({ subject }) => subject))]);
  return skipped.length;
}
