import { counted } from '../../platform/counted.rules.js';
import { Injectable, Logger } from '@nestjs/common';
import { recordAudit } from '../../access/audit-log.store.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import type { Attempt } from '../../delivery/outlet.js';
import * as sql from '../../delivery/queue.sql.js';
import { DeliveryQueue } from '../../delivery/queue.store.js';
import { appendEvents } from '../../events/outbox.js';
import { lockEndpoint, readEndpoint, type EndpointRow } from '../endpoint.sql.js';
import { WebhookSealing } from '../secrets/sealing.service.js';
import { isFailing, planHealth, type HealthPlan } from './endpoint-health.rules.js';
import type { Destination } from './sender.service.js';

/**
 * The most subjects that become due when an endpoint succeeds after fewer than 10 failures. Fewer subjects can have failed. Without this
 * limit, each success after a failure would read all waiting subjects: perhaps 100,000, if the receiver refuses one type of event.
 */
const MOST_AFTER_FEW_FAILURES = 1_000;

/** An enabled endpoint as last read or written. */
export type ServedEndpoint = EndpointRow & { readonly destination: Destination };

/** Reads endpoints for their delivery, and records attempts together with the health of their endpoint. */
@Injectable()
export class WebhookAttemptsStore {
  private readonly logger = new Logger(WebhookAttemptsStore.name);

  constructor(
    private readonly database: Database,
    private readonly queue: DeliveryQueue,
    private readonly sealing: WebhookSealing,
  ) {}

  /** Returns the endpoint; null if it is disabled or deleted. */
  async findEndpoint(id: string): Promise<ServedEndpoint | null> {
    return this.open(id, await readEndpoint(this.database, id));
  }

  /**
   * Returns the endpoint after the attempts; null if it is disabled or deleted. `isThereMore`: whether a subject has another due delivery.
   */
  record(id: string, before: ServedEndpoint | null, attempts: readonly Attempt[]) {
    const outcomes = attempts.map(({ outcome }) => outcome);
    const isWell =
      before?.failures === 0 &&
      before.quietUntil === null &&
      outcomes.every(({ kind }) => kind === 'delivered');
    return this.queue.write(async (tx) => {
      if (isWell) return { endpoint: before, isThereMore: await sql.settle(tx, id, attempts) };
      const endpoint = this.open(id, await lockEndpoint(tx, id));
      const isThereMore = await sql.settle(tx, id, attempts);
      if (endpoint === null) return { endpoint, isThereMore };
      // Ignores attempts at an earlier URL, which show nothing about the endpoint with its current URL.
      const current = outcomes.filter(({ url }) => url === endpoint.destination.url);
      if (current.length === 0) return { endpoint, isThereMore };
      const plan = planHealth(endpoint, current, endpoint.now);
      await this.writeHealth(tx, id, endpoint, plan);
      return { endpoint: plan.disable === null ? { ...endpoint, ...plan } : null, isThereMore };
    });
  }

  private open(id: string, row: EndpointRow | null): ServedEndpoint | null {
    if (row === null || row.isDisabled) return null;
    return { ...row, destination: this.sealing.openDestination(id, row) };
  }

  private async writeHealth(tx: Transaction, id: string, before: EndpointRow, plan: HealthPlan) {
    const { failures, failingSince, isReported, quietUntil, recoveredFrom, disable } = plan;
    const disabled = disable && { disabledAt: before.now, disabledReason: disable.reason };
    const data = { failures, failingSince, isReported, quietUntil, ...disabled };
    await tx.prisma.webhookEndpoint.update({ where: { id }, data });
    const log = (level: 'log' | 'warn', text: string) =>
      tx.afterCommit(() => this.logger[level]({ message: `a webhook endpoint ${text}`, endpointId: id }));
    const hasRecovered = recoveredFrom > 0;
    if (hasRecovered && before.isReported)
      log('log', `works again, after ${counted(recoveredFrom, 'failure', 'failures')}`);
    if (isReported && (hasRecovered || !before.isReported))
      log('warn', `fails: ${counted(failures, 'attempt', 'attempts in a row')}`);
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
