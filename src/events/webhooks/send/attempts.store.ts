import { Injectable, Logger } from '@nestjs/common';
import { recordAudit } from '../../../access/audit-log.store.js';
import { Database, type Transaction } from '../../../platform/database/database.js';
import type { Attempt } from '../../deliver/outlet.js';
import * as sql from '../../deliver/queue.sql.js';
import { DeliveryQueue } from '../../deliver/queue.store.js';
import { appendEvents } from '../../outbox.js';
import { lockEndpoint, readEndpoint, type EndpointRow } from '../endpoint.sql.js';
import { WebhookSealing } from '../secrets/sealing.service.js';
import { isFailing, planHealth, type Health, type HealthPlan } from './endpoint-health.rules.js';
import type { Destination } from './sender.service.js';

/**
 * After few failures, at most this many subjects become due: more than can have failed. Without a limit, each success after a failure would
 * read all subjects that wait, which may be 100,000 if the receiver refuses one type of event.
 */
const MOST_AFTER_FEW_FAILURES = 1_000;

/** The health of an endpoint, and the database's time when the health was read. */
export type EndpointHealth = Pick<EndpointRow, keyof Health | 'now'>;

/** Reads endpoints for the delivery, and records attempts together with the health of the endpoint. */
@Injectable()
export class WebhookAttemptsStore {
  private readonly logger = new Logger(WebhookAttemptsStore.name);

  constructor(
    private readonly database: Database,
    private readonly queue: DeliveryQueue,
    private readonly sealing: WebhookSealing,
  ) {}

  async findEndpoint(id: string): Promise<{ destination: Destination; health: EndpointHealth } | null> {
    const row = await readEndpoint(this.database, id);
    if (row === null || row.isDisabled) return null;
    return { destination: this.sealing.openDestination(id, row), health: row };
  }

  /**
   * Records the attempts. `health`: null if the endpoint is disabled or deleted. `isThereMore`: a subject's next delivery is due. `isMoved`:
   * the endpoint has another URL than some of the attempts; their outcomes do not count towards its health.
   */
  async record(
    id: string,
    before: EndpointHealth,
    attempts: readonly Attempt[],
  ): Promise<{
    readonly health: EndpointHealth | null;
    readonly isThereMore: boolean;
    readonly isMoved: boolean;
  }> {
    const isWell =
      before.failures === 0 &&
      before.quietUntil === null &&
      attempts.every(({ outcome }) => outcome.kind === 'delivered');
    const write = async (tx: Transaction) => {
      const locked = isWell ? null : await lockEndpoint(tx, id);
      const { settled, isThereMore } = await sql.settle(tx, id, attempts);
      if (isWell) return { health: before, isThereMore, isMoved: false };
      if (locked === null || locked.isDisabled) return { health: null, isThereMore, isMoved: false };
      const atUrl = attempts.filter(({ destination }) => destination === locked.url);
      const isMoved = atUrl.length < attempts.length;
      // An attempt that an earlier try has recorded already counts.
      const current = atUrl.filter(({ delivery }) => settled.has(delivery.subject));
      if (current.length === 0) return { health: locked, isThereMore, isMoved };
      const outcomes = current.map(({ outcome }) => outcome);
      const plan = planHealth(locked, outcomes, locked.now);
      await this.writeHealth(tx, id, locked, plan);
      const health = plan.disable === null ? { ...plan, now: locked.now } : null;
      return { health, isThereMore, isMoved };
    };
    return this.queue.write(write);
  }

  private async writeHealth(
    tx: Transaction,
    id: string,
    before: EndpointRow,
    plan: HealthPlan,
  ): Promise<void> {
    const { failures, failingSince, isReported, quietUntil, recoveredFrom, disable } = plan;
    const disabled = disable && { disabledAt: before.now, disabledReason: disable.reason };
    const data = { failures, failingSince, isReported, quietUntil, ...disabled };
    await tx.prisma.webhookEndpoint.update({ where: { id }, data });
    const log = (level: 'log' | 'warn', text: string) =>
      tx.afterCommit(() => this.logger[level]({ message: `a webhook endpoint ${text}`, endpointId: id }));
    const hasRecovered = recoveredFrom > 0;
    if (hasRecovered && before.isReported) log('log', `works again, after ${recoveredFrom} failures`);
    if (isReported && (hasRecovered || !before.isReported))
      log('warn', `fails: ${failures} attempts in a row`);
    if (hasRecovered) {
      const most = isFailing({ failures: recoveredFrom }) ? null : MOST_AFTER_FEW_FAILURES;
      await tx.query(sql.MAKE_RETRIES_DUE, [id, most]);
    }
    if (disable === null) return;
    const details = { reason: disable.reason, since: disable.since.toISOString() };
    const action = 'webhook_endpoint.disabled';
    await appendEvents(tx, [{ name: action, subject: id, data: { endpointId: id, ...details } }]);
    await recordAudit(tx, { actor: 'webhooks', action, target: id, details });
    const why = disable.reason === 'gone' ? 'it returned 410' : 'every attempt failed';
    log('warn', `is disabled: ${why}, failing since ${details.since}`);
  }
}
