import { Injectable, Logger } from '@nestjs/common';
import { AuditLog } from '../../../access/audit-log.store.js';
import { Database, type Transaction } from '../../../platform/database/database.js';
import type { RunningJob } from '../../../platform/jobs/running-job.js';
import { appendEvents } from '../../outbox.js';
import type { DeliveryPlan } from './delivery-plan.rules.js';
import { planHealth, type HealthPlan } from './endpoint-health.rules.js';
import type { SendOutcome } from '../send/outcome.rules.js';
import { addWebhookJobs } from './jobs.sql.js';
import {
  findHealth,
  holdHealth,
  makeTriedDue,
  writeHealth,
  type EndpointHealth,
} from './endpoint-health.sql.js';
import { findNextDue, look, type DueDelivery, type InHand, type Look } from './due-deliveries.sql.js';
import { WebhookSecretsStore } from '../secrets/secrets.store.js';
import type { Destination } from '../send/sender.service.js';
import { settle, type Settlement } from './settle-deliveries.sql.js';

const ACTOR = 'webhooks';
/** `last_delivered_at` is only informational, and each write of it locks the row against the fan-out for a moment. */
const TELL_DELIVERED_MS = 1_000;

export interface Attempt {
  readonly delivery: DueDelivery;
  readonly outcome: SendOutcome;
  readonly plan: DeliveryPlan;
  /** From the monotonic clock, `performance.now()`. */
  readonly sentAtMs: number;
}

/** Reads and writes the database for `WebhookDrain`. */
@Injectable()
export class WebhookDrainStore {
  private readonly logger = new Logger(WebhookDrainStore.name);
  private readonly toldAtMs = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly secrets: WebhookSecretsStore,
    private readonly audit: AuditLog,
  ) {}

  /** Returns null if the endpoint is disabled or deleted. */
  async findEndpoint(id: string): Promise<{ destination: Destination; health: EndpointHealth } | null> {
    const health = await findHealth(this.database, id);
    const destination = health === null ? null : await this.secrets.findDestination(id);
    return health === null || destination === null ? null : { destination, health };
  }

  look(id: string, inHand: InHand, limit: number): Promise<Look> {
    return look(this.database, id, inHand, limit);
  }

  /** Writes the attempts and the resulting health of the endpoint. Returns the new health, or null if it is disabled or deleted. */
  async record(
    id: string,
    before: EndpointHealth,
    attempts: readonly Attempt[],
  ): Promise<EndpointHealth | null> {
    const outcomes = attempts.map(({ outcome }) => outcome);
    const isDelivered = outcomes.some(({ kind }) => kind === 'delivered');
    const isUnchanged = before.failures === 0 && before.quietUntil === null;
    if (isUnchanged && outcomes.every(({ kind }) => kind === 'delivered')) {
      await settle(this.database, id, attempts.map(settlementOf), this.tellsDelivered(id));
      return before;
    }
    const written = await this.database.transaction(async (tx) => {
      const held = await holdHealth(tx, id);
      await settle(tx, id, attempts.map(settlementOf), isDelivered);
      if (held === null) return null;
      const plan = planHealth(held, outcomes, held.now);
      await this.writePlan(tx, id, plan);
      return { ...plan, now: held.now };
    });
    if (written === null || written.disable === null) return written;
    this.warnOf(id, written.disable);
    return null;
  }

  private async writePlan(tx: Transaction, id: string, plan: HealthPlan): Promise<void> {
    const { disable, recoveredFrom } = plan;
    await writeHealth(tx, id, plan, disable?.reason ?? null);
    if (recoveredFrom !== null) await makeTriedDue(tx, id, recoveredFrom);
    if (disable === null) return;
    const { reason } = disable;
    const since = disable.since.toISOString();
    await appendEvents(tx, [
      { name: 'webhook_endpoint.disabled', subject: id, data: { endpointId: id, reason, since } },
    ]);
    await this.audit.record(tx, {
      actor: ACTOR,
      action: 'webhook_endpoint.disabled',
      target: id,
      details: { reason, since },
    });
  }

  private warnOf(id: string, { reason, since }: NonNullable<HealthPlan['disable']>): void {
    const why = reason === 'gone' ? 'it answered 410' : 'it has answered nothing but failures';
    this.logger.warn(`webhook endpoint ${id} is disabled: ${why}, failing since ${since.toISOString()}`);
  }

  private tellsDelivered(id: string): boolean {
    const now = performance.now();
    if (now - (this.toldAtMs.get(id) ?? -Infinity) < TELL_DELIVERED_MS) return false;
    this.toldAtMs.set(id, now);
    return true;
  }

  /**
   * Completes the job unless a delivery is due within `lingerMs`; a later due delivery gets a new job for that time. Returns whether
   * the job was completed. With -Infinity, it always is.
   */
  async finish(id: string, job: RunningJob, lingerMs: number): Promise<boolean> {
    let nextAt: Date | null = null;
    const hasFinished = await job.finishWhen(
      async (tx) => {
        const next = await findNextDue(tx, id);
        const health = await findHealth(tx, id);
        nextAt = next?.at ?? null;
        if (next === null || health === null) return true;
        const quietMs = (health.quietUntil?.getTime() ?? 0) - health.now.getTime();
        return Math.max(next.inMs, quietMs) > lingerMs;
      },
      async (tx) => {
        if (nextAt !== null) await addWebhookJobs(tx, [id], nextAt);
      },
    );
    if (hasFinished) this.toldAtMs.delete(id);
    return hasFinished;
  }

  async findNextDueMs(id: string): Promise<number | null> {
    return (await findNextDue(this.database, id))?.inMs ?? null;
  }
}

function settlementOf({ delivery, outcome, plan, sentAtMs }: Attempt): Settlement {
  const { id, position, subject, attempts, event } = delivery;
  return {
    id,
    position,
    subject,
    attempts,
    status: plan.status,
    waitMs: plan.status === 'pending' ? plan.waitMs : null,
    sentMsAgo: performance.now() - sentAtMs,
    httpStatus: outcome.status,
    error: outcome.kind === 'delivered' ? null : outcome.error,
    answer: outcome.answer,
    tenantReference: 'tenantReference' in event.data ? event.data.tenantReference : null,
  };
}
