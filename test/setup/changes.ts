import { randomUUID } from 'node:crypto';
import { createKey } from '../e2e/keys.js';
import { insertCampaign } from './campaign.js';
import { insertConsent } from './consent.js';
import { TestClient, type SessionAnswer, type UserAnswer } from './client.js';
import { newEan } from './ean.js';
import type { TestApp } from './test-app.js';

export interface Change {
  readonly operation: string;
  readonly path: string;
  readonly body?: unknown;
  /** Whether it waits for a row or table that R82 locks. */
  readonly waits?: true;
}

/** Creates what the changes are about. Returns a valid request for each operation that changes something. */
export async function changesOf(service: TestApp): Promise<Change[]> {
  const admin = TestClient.of(service);
  const sql = <Row>(text: string, values?: unknown[]) => service.database.query<Row>(text, values);
  const user = async () => {
    const body = { tenantReference: randomUUID(), gridLocations: [{ ean: newEan() }] };
    return (await admin.call<UserAnswer>('POST', '/users', body)).body;
  };
  const uncertain = async () => {
    const tenantReference = randomUUID();
    const text = `INSERT INTO registrations (tenant_reference, eans, metadata, status, last_error, sent_at)
      VALUES ($1, ARRAY[$2], '{}', 'uncertain', 'lost', now()) RETURNING id`;
    const [registration] = await sql<{ id: string }>(text, [tenantReference, newEan()]);
    return registration!.id;
  };
  const lost = async () => {
    const { control } = service.sandbox!;
    await control.addFault({ kind: 'reset', operation: 'register_user', effect: true, times: 1 });
    const body = { tenantReference: randomUUID(), gridLocations: [{ ean: newEan() }] };
    const registration = (await admin.call<{ id: string }>('POST', '/users', body)).body;
    const users = await control.users();
    return { registration, user: users.find((each) => each.tenantReference === body.tenantReference)! };
  };
  const endpoint = async () => {
    const { body } = await admin.call<{ id: string }>('POST', '/webhook-endpoints', {
      url: 'http://127.0.0.1:9/',
    });
    return `/webhook-endpoints/${body.id}`;
  };
  const campaign = async (status: string) =>
    `/campaigns/${await insertCampaign(service.database, [{ tenantReference: 'a' }], { status })}`;
  const invite = async () => {
    const gridLocationId = await admin.locate();
    return (await admin.call<{ id: string }>('POST', '/invitations', { gridLocationId })).body.id;
  };
  const agreed = async () => {
    const id = await invite();
    await insertConsent(service.database, id);
    return id;
  };
  const { id: userId, gridLocations } = await user();
  const gridLocationId = gridLocations[0]!.id;
  const session = await admin.call<SessionAnswer>('POST', `/onboarding/pv/${await admin.locate()}`);
  const { id: keyId } = await createKey(admin, 'users:read');
  const [retried, discarded, decided] = [await uncertain(), await uncertain(), await uncertain()];
  const resolved = await lost();
  const stalled = await uncertain();
  await sql(
    `INSERT INTO stalls (kind, subject, cause, since, evidence) VALUES ('registration', $1, 'uncertain', now(), '{}')`,
    [stalled],
  );
  const [delivery] = await sql<{ id: string }>(
    `INSERT INTO webhook_deliveries (endpoint_id, position, subject, status, next_attempt_at)
     SELECT $1, position, subject, 'delivered', NULL FROM domain_events ORDER BY position LIMIT 1 RETURNING id`,
    [(await endpoint()).split('/').at(-1)],
  );
  const waits = true;
  return [
    { operation: 'POST /api-keys', path: '/api-keys', body: { name: 'later', scopes: ['admin'] }, waits },
    { operation: 'DELETE /api-keys/{id}', path: `/api-keys/${keyId}` },
    {
      operation: 'POST /users',
      path: '/users',
      body: { tenantReference: randomUUID(), gridLocations: [{ ean: newEan() }] },
      waits,
    },
    { operation: 'DELETE /users/{userId}', path: `/users/${userId}`, waits },
    {
      operation: 'POST /onboarding/pv/{id}',
      path: `/onboarding/pv/${gridLocationId}`,
      body: { brand: 'acme' },
      waits,
    },
    {
      operation: 'POST /onboarding/pv/{sessionId}/refresh',
      path: `/onboarding/pv/${session.body.id}/refresh`,
      waits,
    },
    { operation: 'POST /invitations', path: '/invitations', body: { gridLocationId }, waits },
    {
      operation: 'PATCH /invitations/{id}',
      path: `/invitations/${await invite()}`,
      body: { locale: 'de' },
      waits,
    },
    { operation: 'POST /invitations/{id}/link', path: `/invitations/${await invite()}/link` },
    { operation: 'POST /invitations/{id}/code', path: `/invitations/${await invite()}/code`, waits },
    {
      operation: 'POST /invitations/{id}/reminders',
      path: `/invitations/${await invite()}/reminders`,
      waits,
    },
    {
      operation: 'POST /invitations/{id}/messages',
      path: `/invitations/${await invite()}/messages`,
      body: { status: 'sent', channel: 'email' },
      waits,
    },
    {
      operation: 'POST /invitations/{id}/withdrawal',
      path: `/invitations/${await agreed()}/withdrawal`,
      waits,
    },
    { operation: 'DELETE /invitations/{id}', path: `/invitations/${await invite()}`, waits },
    { operation: 'POST /registrations/{id}/retry', path: `/registrations/${retried}/retry`, waits },
    { operation: 'POST /registrations/{id}/discard', path: `/registrations/${discarded}/discard`, waits },
    {
      operation: 'POST /registrations/{id}/resolve',
      path: `/registrations/${resolved.registration.id}/resolve`,
      body: resolved.user,
    },
    {
      operation: 'POST /registrations/decisions',
      path: '/registrations/decisions',
      body: { decision: 'discard', ids: [decided] },
      waits,
    },
    {
      operation: 'POST /webhook-endpoints',
      path: '/webhook-endpoints',
      body: { url: 'http://127.0.0.1:9/' },
      waits,
    },
    {
      operation: 'PATCH /webhook-endpoints/{id}',
      path: await endpoint(),
      body: { description: 'later' },
      waits,
    },
    { operation: 'DELETE /webhook-endpoints/{id}', path: await endpoint(), waits },
    {
      operation: 'POST /webhook-endpoints/{id}/rotate-secret',
      path: `${await endpoint()}/rotate-secret`,
      body: { overlapSeconds: 60 },
      waits,
    },
    { operation: 'POST /webhook-endpoints/{id}/test', path: `${await endpoint()}/test` },
    {
      operation: 'POST /webhook-endpoints/{id}/redeliver',
      path: `${await endpoint()}/redeliver`,
      body: { after: '0' },
    },
    {
      operation: 'POST /webhook-deliveries/{id}/redeliver',
      path: `/webhook-deliveries/${delivery!.id}/redeliver`,
    },
    {
      operation: 'PATCH /stalled/{id}',
      path: `/stalled/${stalled}`,
      body: { kind: 'registration', note: 'later' },
      waits,
    },
    {
      operation: 'POST /bulk-actions',
      path: '/bulk-actions',
      body: { operationId: 'discardRegistration', ids: [stalled], reason: 'later' },
      waits,
    },
    { operation: 'POST /search', path: '/search', body: { q: 'later' } },
    { operation: 'POST /campaigns', path: '/campaigns', body: `tenantReference,ean\nlater,${newEan()}\n` },
    { operation: 'POST /campaigns/{id}/pause', path: `${await campaign('running')}/pause`, waits },
    { operation: 'POST /campaigns/{id}/resume', path: `${await campaign('paused')}/resume`, waits },
    { operation: 'POST /campaigns/{id}/cancel', path: `${await campaign('running')}/cancel`, waits },
    { operation: 'DELETE /campaigns/{id}', path: await campaign('checked'), waits },
    { operation: 'POST /status/credentials/probe', path: '/status/credentials/probe' },
  ];
}
