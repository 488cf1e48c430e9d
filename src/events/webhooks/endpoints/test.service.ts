import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../access/audit-log.store.js';
import { Database } from '../../../platform/database/database.js';
import { Environment } from '../../../platform/env/environment.js';
import { TEST_TYPE } from '../../contract/webhook-test-event.js';
import { WebhookSecretsStore } from '../secrets/secrets.store.js';
import { WebhookSender } from '../send/sender.service.js';
import type { WebhookTestView } from './test.dto.js';

/** Sends a test event, so that a receiver can be tried before real events arrive. */
@Injectable()
export class WebhookTest {
  constructor(
    private readonly secrets: WebhookSecretsStore,
    private readonly sender: WebhookSender,
    private readonly database: Database,
    private readonly audit: AuditLog,
    private readonly environment: Environment,
  ) {}

  /** Sends the test event and returns the outcome, also of a failure. Throws Problem not_found. */
  async send(endpointId: string, actor: string): Promise<WebhookTestView> {
    const destination = await this.secrets.getDestination(endpointId);
    const timestamp = new Date();
    const eventId = randomUUID();
    const startedAt = performance.now();
    const outcome = await this.sender.send(destination, {
      id: eventId,
      body: JSON.stringify(testEvent(eventId, endpointId, timestamp, this.environment.EVENT_SOURCE)),
      timestamp,
    });
    const durationMs = Math.round(performance.now() - startedAt);
    const { status, answer } = outcome;
    await this.audit.record(this.database, {
      actor,
      action: 'webhook_endpoint.tested',
      target: endpointId,
      details: { status },
    });
    const error = outcome.kind === 'delivered' ? null : outcome.error;
    return { delivered: outcome.kind === 'delivered', eventId, status, error, answer, durationMs };
  }
}

/** Matches TEST_EVENT_SCHEMA. */
const testEvent = (id: string, endpointId: string, time: Date, source: string) => ({
  specversion: '1.0',
  id,
  source,
  type: TEST_TYPE,
  subject: endpointId,
  time: time.toISOString(),
  datacontenttype: 'application/json',
  data: { endpointId },
});
