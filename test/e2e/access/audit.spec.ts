import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { callsOf, recordExamples } from '../http/examples.js';

const ACTIONS: Readonly<Record<string, string>> = {
  createApiKey: 'api_key.created',
  revokeApiKey: 'api_key.revoked',
  retryRegistration: 'registration.retried',
  discardRegistration: 'registration.discarded',
  decideRegistrations: 'registration.discarded',
  resolveRegistration: 'registration.resolved',
  eraseUser: 'user.erased',
  createWebhookEndpoint: 'webhook_endpoint.created',
  changeWebhookEndpoint: 'webhook_endpoint.changed',
  deleteWebhookEndpoint: 'webhook_endpoint.deleted',
  rotateWebhookSecret: 'webhook_endpoint.secret_rotated',
  testWebhookEndpoint: 'webhook_endpoint.tested',
  redeliverToWebhookEndpoint: 'webhook_endpoint.redelivered',
  redeliverWebhookDelivery: 'webhook_delivery.redelivered',
  probeCredentials: 'credentials.probed',
  revokeInvitation: 'invitation.revoked',
  pauseCampaign: 'campaign.paused',
  resumeCampaign: 'campaign.resumed',
  cancelCampaign: 'campaign.cancelled',
};

interface Operation {
  readonly operationId: string;
  readonly 'x-required-scope'?: string;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Returns every DELETE, and every other change that is below /registrations/ or /campaigns/ or needs the scope `admin` or `webhooks:manage`. */
const administrativeOperationsOf = ({ paths }: Document): string[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method, operation]) => {
        const scope = operation['x-required-scope'];
        const isAdministrative =
          scope === 'admin' ||
          scope === 'webhooks:manage' ||
          /^\/api\/v1\/(registrations|campaigns)\//.test(path);
        return method !== 'get' && (isAdministrative || method === 'delete');
      })
      .map(([, { operationId }]) => operationId),
  );

describe('the audit log', () => {
  let service: TestApp;
  let document: Document;

  beforeAll(async () => {
    document = JSON.parse(
      await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8'),
    ) as Document;
    service = await startTestApp();
  });
  afterAll(() => service.close());

  it('has each administrative operation of the API with its actor and request, and nothing else', async () => {
    expect(administrativeOperationsOf(document).sort()).toEqual(Object.keys(ACTIONS).sort());
    // recordExamples sends `example-<operationId>` as the X-Request-Id of each call.
    await recordExamples(service, callsOf(document));
    const entries = await service.app.get(Database).query<{ action: string }>(
      // DISTINCT, because recordExamples creates two endpoints.
      `SELECT DISTINCT action, actor, request_id AS "requestId", target IS NOT NULL AS "hasTarget" FROM audit_log`,
    );
    const expected = Object.entries(ACTIONS).map(([operationId, action]) => ({
      action,
      actor: 'environment',
      // recordExamples erases the resolved user later, and the erasure sets this request id to null.
      requestId: operationId === 'resolveRegistration' ? null : `example-${operationId}`,
      hasTarget: true,
    }));
    const textOf = (entry: object) => JSON.stringify(entry, ['action', 'requestId']);
    const byAction = (a: object, b: object) => textOf(a).localeCompare(textOf(b));
    expect([...entries].sort(byAction)).toEqual(expected.sort(byAction));
  });
});
