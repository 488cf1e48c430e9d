import { Injectable, Logger } from '@nestjs/common';
import { recordAudit } from '../../../access/audit-log.store.js';
import { Database, type Transaction } from '../../../platform/database/database.js';
import { OUTCOME } from '../../../platform/database/patience.js';
import { repeatWhileUnavailable } from '../../../platform/database/repeat-while-unavailable.js';
import type { RunningJob } from '../../../platform/jobs/running-job.js';
import { withCurrentData } from '../../event-data.sql.js';
import { appendEvents } from '../../outbox.js';
import { lockEndpoint, readEndpoint, type EndpointRow } from '../endpoint.sql.js';
import { WebhookSealing } from '../secrets/sealing.service.js';
import type { Destination } from '../send/sender.service.js';
import { isFailing, planHealth, type Health, type HealthPlan } from './endpoint-health.rules.js';
import * as sql from './queue.sql.js';

/**
 * After few failures, at most this many subjects become due: more than can have failed. Without a limit, each success after a failure would
 * read all subjects that wait, which may be 100,000 if the receiver refuses one type of event.
 */
const MOST_AFTER_FEW_FAILURES = 1_000;

/** How long to try to record attempts. A delivery whose attempt is not recorded is sent again. */
const RECORD_WITHIN_MS = 10_000;

/** The health of an endpoint, and the database's time when the health was read. */
export type EndpointHealth = Pick<EndpointRow, keyof Health | 'now'>;

@Injectable()
export class WebhookDrainStore {
  private readonly logger = new Logger(WebhookDrainStore.name);

  constructor(
    private readonly database: Database,
    private readonly sealing: WebhookSealing,
  ) {}

  async findEndpoint(id: string): Promise<{ destination: Destination; health: EndpointHealth } | null> {
    const row = await readEndpoint(this.database, id);
    if (row === null || row.isDisabled) return null;
    return { destination: this.sealing.openDestination(id, row), health: row };
  }

  /** Claims up to `limit` due subjects that are not in `claimed`, longest due first. `isThereMore`: more subjects may be due. */
  async claim(id: string, claimed: Iterable<string>, limit: number) {
    const rows = await this.database.query<sql.ClaimedRow>(
      sql.CLAIM_SUBJECTS,
      [id, [...claimed], limit],
      OUTCOME,
    );
    // A replica of an older release leaves subjects without pending deliveries in the queue.
    const empty = rows.filter(({ deliveryId }) => deliveryId === null).map(({ subject }) => subject);
    if (empty.length > 0) await this.database.transaction((tx) => sql.dequeue(tx, id, empty));
    const deliveries = rows.filter((row) => row.deliveryId !== null);
    return { deliveries, isThereMore: rows.length === limit };
  }

  /** Returns the delivery as it may be sent now: an erasure may have changed its event. Null if the event is deleted. */
  readAgain(delivery: sql.DueDelivery): Promise<sql.DueDelivery | null> {
    return withCurrentData(this.database, delivery.position, delivery);
  }

  /**
   * Records the attempts. `health`: null if the endpoint is disabled or deleted. `isThereMore`: a subject's next delivery is due. `isMoved`:
   * the endpoint has another URL than some of the attempts; their outcomes do not count towards its health.
   */
  async record(
    id: string,
    before: EndpointHealth,
    attempts: readonly sql.Attempt[],
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
      const atUrl = attempts.filter(({ url }) => url === locked.url);
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
    return repeatWhileUnavailable(() => this.database.transaction(write, OUTCOME), RECORD_WITHIN_MS);
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

  /**
   * If a delivery is due within `lingerMs`, returns the ms until then. Otherwise completes the job and returns null; if a delivery is due
   * later, adds a job for it.
   */
  async finish(id: string, job: RunningJob, lingerMs: number): Promise<number | null> {
    let next: { readonly at: Date; readonly inMs: number } | undefined;
    const hasFinished = await job.finishWhen(
      async (tx) => {
        [next] = await tx.query<NonNullable<typeof next>>(sql.NEXT_DUE, [id]);
        return next === undefined || next.inMs > lingerMs;
      },
      async (tx) => {
        if (next !== undefined) await sql.addWebhookJobs(tx, [id], next.at);
      },
    );
    return hasFinished ? null : next!.inMs;
  }
}
