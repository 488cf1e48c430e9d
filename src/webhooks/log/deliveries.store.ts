import { Injectable } from '@nestjs/common';
import { requireActing } from '../../access/acting-caller.js';
import { recordAudit } from '../../access/audit-log.store.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import type { Page } from '../../platform/http/page.js';
import type { EventName } from '../../events/catalogue.rules.js';
import { sequenceEvents } from '../../events/sequence.sql.js';
import { makeDue } from '../../delivery/queue.sql.js';
import { lockEndpoint } from '../endpoint.sql.js';
import type { PreviousAttempt, RedeliveryRequest, StoredDelivery } from './deliveries.dto.js';
import { DELIVERIES, DELIVERY_COLUMNS, type DeliveriesQuery } from './deliveries.list.js';

/** A request ends after about 20 s, before load balancers time out. The caller sends another request for the rest. */
const LONGEST_MS = 20_000;
/** The most events per step. A step takes tens of milliseconds, so no row is locked for long. */
const STEP_SIZE = 5_000;

/** The events after `after`, up to and including `until` (default: `read_to` of the endpoint). Empty `types`: all types of the endpoint. */
interface RedeliveryRange extends Required<Pick<RedeliveryRequest, 'after' | 'onlyFailed'>> {
  readonly until: string | undefined;
  readonly types: readonly EventName[];
}

/** Makes the chosen events pending and their subjects due. If an earlier event of a subject waits for a retry, that event is sent first. */
const REDELIVER = `
  redelivered AS (
    INSERT INTO webhook_deliveries AS delivery (endpoint_id, position, subject)
    SELECT $1::uuid, position, subject FROM chosen ORDER BY position
    ON CONFLICT (endpoint_id, position) DO UPDATE
      SET status = 'pending', attempts = 0, early_attempts = 0, next_attempt_at = clock_timestamp()
    RETURNING delivery.endpoint_id, delivery.subject
  ), queued AS (
    INSERT INTO webhook_subjects AS queued (endpoint_id, subject)
    SELECT DISTINCT endpoint_id, subject FROM redelivered ORDER BY subject
    ON CONFLICT (endpoint_id, subject) DO UPDATE SET due_at = excluded.due_at
  )`;

const REDELIVER_THESE = `
  WITH chosen AS (
    SELECT position, subject FROM webhook_deliveries WHERE endpoint_id = $1 AND id = ANY ($2::uuid[])
  ), ${REDELIVER}
  SELECT`;

/**
 * Redelivers one step of a range: takes the next STEP_SIZE events, and redelivers those that match the types ($4) and `onlyFailed` ($5). If
 * `onlyFailed` is false, also inserts the missing deliveries.
 */
const REDELIVER_SPAN = `
  WITH span AS MATERIALIZED (
    SELECT position, sequence, subject, name FROM domain_events
    WHERE sequence > $2 AND sequence <= (SELECT least(read_to, $3::bigint) FROM webhook_endpoints WHERE id = $1)
    ORDER BY sequence LIMIT ${STEP_SIZE}
  ), chosen AS (
    SELECT position, subject FROM span
    WHERE (cardinality($4::text[]) = 0 OR name = ANY ($4)) AND (NOT $5::boolean OR EXISTS (
      SELECT FROM webhook_deliveries
      WHERE endpoint_id = $1 AND position = span.position AND status = 'failed'))
  ), ${REDELIVER}
  SELECT (SELECT count(*)::int FROM redelivered) AS count,
    (SELECT CASE count(*) WHEN ${STEP_SIZE} THEN max(sequence) END FROM span) AS next`;

/** Reads the log of deliveries. Redelivers events: makes their deliveries pending again, with the same ids. */
@Injectable()
export class WebhookDeliveriesStore {
  constructor(private readonly database: Database) {}

  async find(id: string) {
    const text = `
      SELECT ${DELIVERY_COLUMNS}, coalesce(delivery.previous_attempts, '[]') AS "previousAttempts"
      FROM webhook_deliveries AS delivery JOIN domain_events AS event ON event.position = delivery.position
      JOIN webhook_endpoints AS endpoint ON endpoint.id = delivery.endpoint_id AND endpoint.handler IS NULL
      WHERE delivery.id = $1`;
    type Found = StoredDelivery & { readonly previousAttempts: readonly PreviousAttempt[] };
    return (await this.database.query<Found>(text, [id]))[0] ?? null;
  }

  list(query: DeliveriesQuery): Promise<Page<StoredDelivery>> {
    return DELIVERIES.page(this.database, query);
  }

  async redeliverOne(id: string, actor: string): Promise<true | null> {
    return this.database.transaction(async (tx) => {
      const delivery = await tx.prisma.webhookDelivery.findUnique({ where: { id } });
      const foreign = delivery && (await redeliver(tx, delivery.endpointId, [id]));
      if (foreign?.length !== 0) return null;
      await recordAudit(tx, { actor, action: 'webhook_delivery.redelivered', target: id });
      return true;
    });
  }

  /** Redelivers all, or none if some ids are not deliveries of the endpoint. Returns those ids, or null if there is no such endpoint. */
  async redeliverThese(endpointId: string, ids: readonly string[], actor: string): Promise<string[] | null> {
    return this.database.transaction(async (tx) => {
      const foreign = await redeliver(tx, endpointId, ids);
      if (foreign?.length === 0) await recordRedelivery(tx, endpointId, actor, { deliveries: ids.length });
      return foreign;
    });
  }

  /**
   * Redelivers a range in steps that commit separately, so that a crash leaves only the beginning redelivered. `next`: the `after` of the
   * next request, or null if the range is done. Returns null if there is no such endpoint. If the endpoint does not subscribe to some of
   * the types, redelivers nothing and returns them as `foreignTypes`.
   */
  async redeliverRange(endpointId: string, range: RedeliveryRange, actor: string) {
    const { until, types, onlyFailed } = range;
    const startedAt = performance.now();
    await sequenceEvents(this.database);
    let count = 0;
    for (let { after } = range; ;) {
      const step = await this.database.transaction(async (tx) => {
        const endpoint = await lockEndpoint(tx, endpointId);
        if (endpoint === null) return null;
        const foreignTypes = types.filter((type) => !endpoint.types.includes(type));
        if (endpoint.types.length > 0 && foreignTypes.length > 0) return { foreignTypes };
        const wanted = types.length > 0 ? types : endpoint.types;
        await makeDue(tx, endpointId);
        if (after === range.after) await recordRedelivery(tx, endpointId, actor, { ...range });
        else await requireActing(tx);
        const values = [endpointId, after, until, wanted, onlyFailed];
        return (await tx.query<{ count: number; next: string | null }>(REDELIVER_SPAN, values))[0]!;
      });
      if (step === null || 'foreignTypes' in step) return step;
      count += step.count;
      if (step.next === null || performance.now() - startedAt > LONGEST_MS) return { count, next: step.next };
      after = step.next;
    }
  }
}

const recordRedelivery = (tx: Transaction, target: string, actor: string, details: Record<string, unknown>) =>
  recordAudit(tx, { actor, action: 'webhook_endpoint.redelivered', target, details });

async function redeliver(tx: Transaction, endpointId: string, ids: readonly string[]) {
  if ((await lockEndpoint(tx, endpointId)) === null) return null;
  const where = { endpointId, id: { in: [...ids] } };
  const known = await tx.prisma.webhookDelivery.findMany({ where, select: { id: true } });
  const foreign = ids.filter((id) => !known.some((delivery) => delivery.id === id));
  if (foreign.length > 0) return foreign;
  await makeDue(tx, endpointId);
  await tx.query(REDELIVER_THESE, [endpointId, ids]);
  return [];
}
