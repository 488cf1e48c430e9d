import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../access/audit-log.store.js';
import { Database, type Statement, type Transaction } from '../../../platform/database/database.js';
import { refuse } from '../../../platform/http/validation.js';
import { sequenceEvents } from '../../sequence.sql.js';
import * as sql from './enabling.sql.js';
import { holdEndpoint } from '../deliver/lock-endpoint.sql.js';
import { addWebhookJobs } from '../deliver/jobs.sql.js';
import { originOf } from './url.js';

/** Enables, disables and deletes endpoints. Every method throws Problem not_found. */
@Injectable()
export class WebhookEnablingStore {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** Disables an endpoint, if it is enabled. Like every change, it takes effect on a running worker within a second. */
  async disable(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { isDisabled } = await holdEndpoint(tx, id);
      if (isDisabled) return;
      await tx.query(sql.DISABLE_ENDPOINT, [id]);
      await this.audit.record(tx, { actor, action: 'webhook_endpoint.disabled', target: id });
    });
  }

  /** Enables an endpoint, if it is disabled; it resumes at the event at which it stopped. Makes waiting retries due in either case. */
  async enable(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { isDisabled } = await holdEndpoint(tx, id);
      if (isDisabled) await this.enableHeld(tx, id, actor, { skippedMissed: false });
    });
    await this.makeDue(id);
  }

  /**
   * Enables an endpoint from the next event on: marks its pending deliveries as failed and skips its unread events. Throws Problem
   * invalid_request if it is enabled.
   */
  async enableWithoutMissed(id: string, actor: string): Promise<void> {
    // While it is disabled, nothing is sent to it and no delivery is inserted. So these steps need not share the last transaction.
    await this.database.transaction((tx) => holdDisabled(tx, id));
    await this.inSteps(id, sql.SKIP_SOME_PENDING);
    await sequenceEvents(this.database);
    await this.database.transaction(async (tx) => {
      await holdDisabled(tx, id);
      await tx.query(sql.SKIP_SOME_PENDING, [id]);
      await tx.query(sql.READ_TO_NEWEST, [id]);
      await this.enableHeld(tx, id, actor, { skippedMissed: true });
    });
  }

  /**
   * Deletes an endpoint and its deliveries. Disables it first, so if the deletion is interrupted, nothing is sent and it can be
   * deleted again. The audit log records the deletion at the start.
   */
  async delete(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { url } = await holdEndpoint(tx, id);
      await tx.query(sql.DISABLE_ENDPOINT, [id]);
      const details = { origin: originOf(url) };
      await this.audit.record(tx, { actor, action: 'webhook_endpoint.deleted', target: id, details });
    });
    await this.inSteps(id, sql.DELETE_SOME_DELIVERIES);
    await this.database.query(sql.DELETE_ENDPOINT, [id]);
  }

  /** Makes all waiting retries due now. */
  async makeDue(id: string): Promise<void> {
    await this.inSteps(id, sql.SOME_PENDING_DUE);
    await this.database.transaction((tx) => addWebhookJobs(tx, [id]));
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

  private async inSteps(id: string, statement: Statement): Promise<void> {
    for (;;) {
      const changed = await this.database.transaction((tx) => tx.query(statement, [id]));
      if (changed.length < sql.STEP_SIZE) return;
    }
  }
}

async function holdDisabled(tx: Transaction, id: string): Promise<void> {
  const { isDisabled } = await holdEndpoint(tx, id);
  const message = 'is for an endpoint that is disabled; this one is enabled';
  if (!isDisabled) refuse([{ field: 'skipMissed', message }]);
}
