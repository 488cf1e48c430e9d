import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../access/audit-log.store.js';
import { Database, type Transaction } from '../../../platform/database/database.js';
import { refuse } from '../../../platform/http/validation.js';
import { Problem } from '../../../platform/problem/problem.js';
import type { EventName } from '../../catalogue.rules.js';
import { sequenceEvents } from '../../sequence.sql.js';
import { keepEndpoint } from '../deliver/lock-endpoint.sql.js';
import { addWebhookJobs } from '../deliver/jobs.sql.js';
import * as sql from './redelivery.sql.js';

/** A million events take longer than load balancers wait for a response. Another request redelivers the rest. */
const LONGEST_MS = 20_000;

/** A range of events by sequence. */
export interface RedeliveryRange {
  /** Sequence; exclusive. */
  readonly after: string;
  /** Sequence; inclusive. Default: the endpoint's `read_to`, which also caps it. */
  readonly until?: string;
  /** Only these of the types of the endpoint; empty means all of them. */
  readonly types: readonly EventName[];
  readonly onlyFailed: boolean;
}

export interface Redelivered {
  readonly count: number;
  /** The `after` of the next request, or null if the range is done. */
  readonly next: string | null;
}

interface Step {
  readonly reached: string | null;
  readonly seen: number;
  readonly redelivered: number;
}

/**
 * Makes deliveries pending again, as if just inserted, with the same ids and in order within a subject. Every method throws Problem
 * not_found.
 */
@Injectable()
export class WebhookRedeliveryStore {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  async redeliverOne(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const [row] = await tx.query<{ endpointId: string }>(sql.REDELIVER_ONE, [id]);
      if (row === undefined) throw new Problem('not_found', `There is no webhook delivery ${id}`);
      await addWebhookJobs(tx, [row.endpointId]);
      await this.audit.record(tx, { actor, action: 'webhook_delivery.redelivered', target: id });
    });
  }

  /** Redelivers all or none. Throws Problem invalid_request for ids that are not deliveries of the endpoint. */
  async redeliverThese(endpointId: string, ids: readonly string[], actor: string): Promise<Redelivered> {
    return this.database.transaction(async (tx) => {
      await keepEndpoint(tx, endpointId);
      const rows = await tx.query<{ id: string }>(sql.REDELIVER_THESE, [endpointId, ids]);
      const found = new Set(rows.map(({ id }) => id));
      refuse(
        ids.flatMap((id, index) =>
          found.has(id)
            ? []
            : [{ field: `deliveryIds[${index}]`, message: 'is no delivery of this endpoint' }],
        ),
      );
      await addWebhookJobs(tx, [endpointId]);
      await this.record(tx, endpointId, actor, { deliveries: rows.length });
      return { count: rows.length, next: null };
    });
  }

  /** Commits step by step, so a crash leaves the range redelivered up to some event. Throws Problem invalid_request. */
  async redeliverRange(endpointId: string, range: RedeliveryRange, actor: string): Promise<Redelivered> {
    const startedAt = performance.now();
    await sequenceEvents(this.database);
    let count = 0;
    for (let after = range.after; ;) {
      const isFirst = after === range.after;
      const step = await this.database.transaction(async (tx) => {
        if (isFirst) await this.record(tx, endpointId, actor, { ...range });
        return redeliverStep(tx, endpointId, { ...range, after });
      });
      count += step.redelivered;
      if (step.reached === null || step.seen < sql.STEP_SIZE) return { count, next: null };
      after = step.reached;
      if (performance.now() - startedAt > LONGEST_MS) return { count, next: after };
    }
  }

  private async record(tx: Transaction, target: string, actor: string, details: Record<string, unknown>) {
    await this.audit.record(tx, { actor, action: 'webhook_endpoint.redelivered', target, details });
  }
}

async function redeliverStep(
  tx: Transaction,
  endpointId: string,
  { after, until, types, onlyFailed }: RedeliveryRange,
): Promise<Step> {
  const endpoint = await keepEndpoint(tx, endpointId);
  refuseOthers(types, endpoint.types);
  // The fan-out inserts the events after `read_to`.
  const end = until !== undefined && BigInt(until) < BigInt(endpoint.readTo) ? until : endpoint.readTo;
  const asked = types.length > 0 ? types : endpoint.types;
  const statement = onlyFailed ? sql.REDELIVER_FAILED_SPAN : sql.REDELIVER_SPAN;
  const [step] = await tx.query<Step>(statement, [endpointId, after, end, asked]);
  if (step!.redelivered > 0) await addWebhookJobs(tx, [endpointId]);
  return step!;
}

/** Throws Problem invalid_request for types to which the endpoint does not subscribe. */
function refuseOthers(types: readonly EventName[], asked: readonly EventName[]): void {
  if (asked.length === 0) return;
  const others = types.filter((type) => !asked.includes(type));
  if (others.length === 0) return;
  const message = `must be among those of the endpoint, which ${others.join(', ')} is not`;
  refuse([{ field: 'types', message }]);
}
