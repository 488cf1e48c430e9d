import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../access/audit-log.store.js';
import { Database, type Statement, type Transaction } from '../../../platform/database/database.js';
import { refuse } from '../../../platform/http/validation.js';
import { sequenceEvents } from '../../sequence.sql.js';
import * as sql from './enabling.sql.js';
import { holdEndpoint } from '../deliver/lock-endpoint.sql.js';
import { addWebhookJobs } from '../deliver/jobs.sql.js';
import { originOf } from './url.js';

/** Whether an endpoint is sent what it is owed, until it is deleted. Every method throws Problem not_found. */
@Injectable()
export class WebhookEnablingStore {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** Whoever delivers to it heeds that within a second, as every other change. Does nothing to one that is disabled. */
  async disable(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { isDisabled } = await holdEndpoint(tx, id);
      if (isDisabled) return;
      await tx.query(sql.DISABLE_ENDPOINT, [id]);
      await this.audit.record(tx, { actor, action: 'webhook_endpoint.disabled', target: id });
    });
  }

  /** It goes on with the event at which it stopped. Does nothing to one that is enabled. */
  async enable(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { isDisabled } = await holdEndpoint(tx, id);
      if (isDisabled) await this.enableHeld(tx, id, actor, { skippedMissed: false });
    });
    await this.makeDue(id);
  }

  /** It goes on with what happens from now on; what it missed is kept as failed. Throws Problem invalid_request for one that is enabled. */
  async enableWithoutMissed(id: string, actor: string): Promise<void> {
    // While it is disabled nothing is sent and nothing written for it, so these steps need not be one with the last.
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
   * With its deliveries. It is disabled first, so one whose deletion broke off sends nothing, and can be deleted again; the audit log
   * says so from then on.
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

  /** Whatever waits for another attempt gets it now. */
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
