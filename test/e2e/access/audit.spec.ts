import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { ConsoleBrowser, createKey } from '../console/console-client.js';
import { callsOf, recordExamples } from '../http/examples.js';

const ACTIONS: Readonly<Record<string, string>> = {
  createApiKey: 'api_key.created',
  revokeApiKey: 'api_key.revoked',
  retryRegistration: 'registration.retried',
  discardRegistration: 'registration.discarded',
  decideRegistrations: 'registration.discarded',
  resolveRegistration: 'registration.resolved',
  eraseUser: 'user.erased',
  exportUser: 'user.exported',
  createWebhookEndpoint: 'webhook_endpoint.created',
  changeWebhookEndpoint: 'webhook_endpoint.changed',
  deleteWebhookEndpoint: 'webhook_endpoint.deleted',
  rotateWebhookSecret: 'webhook_endpoint.secret_rotated',
  testWebhookEndpoint: 'webhook_endpoint.tested',
  redeliverToWebhookEndpoint: 'webhook_endpoint.redelivered',
  redeliverWebhookDelivery: 'webhook_delivery.redelivered',
  probeCredentials: 'credentials.probed',
  revokeInvitation: 'invitation.revoked',
  readInvitationLink: 'invitation.link_read',
  createInvitationCode: 'invitation.link_read',
  readInvitationQrCode: 'invitation.link_read',
  changeInvitation: 'invitation.changed',
  remindOwner: 'invitation.reminded',
  recordInvitationMessage: 'invitation.bounced',
  withdrawConsent: 'consent.withdrawn',
  workOnStalled: 'stall.changed',
  createBulkAction: 'bulk_action.created',
  createCampaign: 'campaign.created',
  pauseCampaign: 'campaign.paused',
  resumeCampaign: 'campaign.resumed',
  cancelCampaign: 'campaign.cancelled',
  deleteCampaign: 'campaign.deleted',
};

interface Operation {
  readonly operationId: string;
  readonly 'x-required-scope'?: string;
}

const READS_AUDITED_BY = ['users:erase', 'invitations:write | links:read'];

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/**
 * Returns all DELETE operations, all that export or erase a user or read one link, and all other changes that are below /registrations/ or
 * /stalled/, are of /campaigns or /bulk-actions, are about one invitation, or need one of the scopes `admin` and `webhooks:manage`.
 */
const administrativeOperationsOf = ({ paths }: Document): string[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method, operation]) => {
        const scope = operation['x-required-scope'];
        const isAdministrative =
          scope === 'admin' ||
          scope === 'webhooks:manage' ||
          /^\/api\/v1\/(registrations\/|campaigns|stalled|bulk-actions|invitations\/.*)/.test(path);
        return (
          READS_AUDITED_BY.includes(scope ?? '') ||
          (method !== 'get' && (isAdministrative || method === 'delete'))
        );
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
    const entries = await service.database.query<{ action: string }>(
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

  it('says by which key something was done to these targets, newest first, without the request id', async () => {
    const client = TestClient.of(service);
    const invite = async () => {
      const body = { gridLocationId: await client.locate() };
      return (await client.call<{ id: string }>('POST', '/invitations', body)).body.id;
    };
    const ids = [await invite(), await invite(), await invite()] as const;
    const { id, key } = await createKey(service, 'onboarding:write');
    await new TestClient(service.url, key).call('DELETE', `/invitations/${ids[0]}`);
    const browser = new ConsoleBrowser(service);
    await browser.signIn(key);
    for (const each of ids.slice(1)) await browser.send('DELETE', `/api/v1/invitations/${each}`);
    const read = async (query: string) =>
      (await client.call<{ items: object[]; next: string | null }>('GET', `/audit-log?${query}`)).body;
    const entry = (target: string, actor: string) => ({
      object: 'audit_entry',
      id: expect.any(Number),
      at: expect.any(String),
      actor,
      keyName: 'The night shift',
      action: 'invitation.revoked',
      target,
      details: {},
    });
    const targets = `targets=${ids[0]},${ids[1]}`;
    const expected = [entry(ids[1], `console:key:${id}`), entry(ids[0], `key:${id}`)];
    expect(await read(targets)).toEqual({ items: expected, next: null });
    const first = await read(`${targets}&limit=1`);
    expect(first.items).toEqual(expected.slice(0, 1));
    expect(await read(`${targets}&limit=1&cursor=${first.next}`)).toEqual({
      items: expected.slice(1),
      next: null,
    });
    expect((await read('limit=1')).items).toEqual([entry(ids[2], `console:key:${id}`)]);
    const all = [entry(ids[2], `console:key:${id}`), ...expected];
    expect((await read(`actor=key:${id}&action=invitation.revoked`)).items).toEqual(all);
    expect((await read(`actor=console:key:${id}&action=invitation.revoked`)).items).toEqual(all.slice(0, 2));
    expect((await read(`actor=key:${id}&action=invitation.changed`)).items).toEqual([]);
    const [{ at }] = (await read(`${targets}&limit=1`)).items as [{ at: string }];
    expect((await read(`actor=key:${id}&since=${at}`)).items).toContainEqual(expected[0]);
    expect((await read(`actor=key:${id}&before=${at}`)).items).not.toContainEqual(expected[0]);
    const { status, body } = await client.call('GET', `/audit-log?targets=${'x,'.repeat(100)}x`);
    expect([status, body.errors]).toEqual([
      400,
      [{ field: 'targets', message: 'must contain no more than 100 elements' }],
    ]);
  });
});
