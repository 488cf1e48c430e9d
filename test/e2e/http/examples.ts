import { jest } from '@jest/globals';
import type { RecordedExamples } from '../../../scripts/openapi/operations.js';
import { BulkActionsStore } from '../../../src/bulk/bulk-actions.store.js';
import { Sampler } from '../../../src/status/history/sampler.service.js';
import { StallTask } from '../../../src/stalls/stall-task.service.js';
import { RegistrationsStore } from '../../../src/users/registration/registrations.store.js';
import { insertCampaign } from '../../setup/campaign.js';
import { insertConsent } from '../../setup/consent.js';
import type { TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { startWebhookReceiver } from '../../setup/receivers/webhook-receiver.js';

type Responses = Readonly<Record<string, { readonly headers?: Readonly<Record<string, unknown>> }>>;
type Calls = Readonly<
  Record<string, { readonly method: string; readonly path: string; readonly responses: Responses }>
>;

export function callsOf({ paths }: { readonly paths: object }): Calls {
  const calls = Object.entries(
    paths as Record<string, Record<string, { operationId: string; responses: Responses }>>,
  ).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) => [
      operationId,
      { method: method.toUpperCase(), path, responses },
    ]),
  );
  return Object.fromEntries(calls) as Calls;
}

interface Asked {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  /** The content type of `request`, if it is a text. Default: JSON. */
  readonly type?: string;
  /** Returns the part of the response that the example shows. Default: all of it. */
  readonly shown?: (body: unknown) => unknown;
}

type Body = Readonly<Record<string, never>> & {
  readonly id: string;
  readonly state: string;
  readonly gridLocations: readonly { readonly id: string }[];
  readonly status: string;
  readonly items: readonly Body[];
  readonly previousAttempts: readonly unknown[];
};

const EAN = '541448820044186577';
const OTHER_EAN = '541448820044186584';
const THIRD_EAN = '541448820041865017';

/** Returns an export with the rows of a few tables, since those of the others depend on what the worker does meanwhile. */
function withFewTables(body: unknown): unknown {
  const document = body as { readonly data: Readonly<Record<string, unknown>> };
  const data = Object.entries(document.data).map(([table, rows]) => [
    table,
    ['users', 'gridLocations'].includes(table) ? rows : [],
  ]);
  return { ...document, data: Object.fromEntries(data) as object };
}

/** Calls every API operation and records the requests and responses. Replaces keys, secrets and ports by placeholders. */
export async function recordExamples(service: TestApp, calls: Calls): Promise<RecordedExamples> {
  const sandbox = service.sandbox!;
  const receiver = await startWebhookReceiver();
  const recorded: Record<
    string,
    { parameters?: object; request?: unknown; responses: Record<string, unknown> }
  > = {};

  async function ask(
    operationId: string,
    expected: number,
    { parameters = {}, request, type = 'application/json', shown = (body) => body }: Asked = {},
  ) {
    const operation = calls[operationId]!;
    const url = new URL(
      service.url + operation.path.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name]!),
    );
    for (const [name, value] of Object.entries(parameters)) {
      if (!operation.path.includes(`{${name}}`)) url.searchParams.set(name, value);
    }
    const response = await fetch(url, {
      method: operation.method,
      headers: {
        authorization: `Bearer ${service.adminKey}`,
        'x-request-id': `example-${operationId}`,
        ...(request !== undefined && { 'content-type': type }),
      },
      ...(request !== undefined && { body: typeof request === 'string' ? request : JSON.stringify(request) }),
    });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const text = isStream ? await firstEventOf(response) : await response.text();
    if (response.status !== expected)
      throw new Error(`${operationId} returned ${response.status}, not ${expected}: ${text}`);
    const hasLocation = operation.responses[expected]?.headers?.['Location'] !== undefined;
    const location = response.headers.get('location');
    const isText = response.headers.get('content-type')?.startsWith('text/') === true;
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    const body = (isJson ? JSON.parse(text) : null) as Body;
    const isOfBody = ({ method, path }: Calls[string]) =>
      method === 'GET' && path.replace(/\{\w+\}$/, body.id) === location;
    if (hasLocation && !Object.values(calls).some(isOfBody))
      throw new Error(`${operationId} has the Location ${location}`);
    const isImage = response.headers.get('content-type')?.startsWith('image/') === true;
    const published: unknown = isJson
      ? shown(JSON.parse(publishable(text)))
      : isImage
        ? text.replace(/ d="[^"]+"/, ' d="…"')
        : isText
          ? text
          : null;
    recorded[operationId] = {
      ...recorded[operationId],
      ...(Object.keys(parameters).length > 0 && { parameters }),
      ...(request !== undefined && { request: JSON.parse(publishable(JSON.stringify(request))) as unknown }),
      responses: { ...recorded[operationId]?.responses, [expected]: published },
    };
    return body;
  }

  const publishable = (text: string): string =>
    text
      .replaceAll(sandbox.url, 'http://127.0.0.1:4010')
      .replaceAll(service.url, 'http://127.0.0.1:3000')
      // A loopback URL, so that a reader who copies an example sends no webhooks to a stranger.
      .replaceAll(receiver.url, 'http://127.0.0.1:4020')
      .replace(/whsec_[\w+/]{43}=/g, `whsec_${'x'.repeat(43)}=`)
      .replace(/pvo_[\w-]{43}/g, `pvo_${'x'.repeat(43)}`);

  async function loseResponse(tenantReference: string): Promise<Body> {
    // Limits the fault to this reference, because a worker may send another registration at the same time.
    await sandbox.control.addFault({ kind: 'reset', effect: true, contains: tenantReference, times: 1 });
    const request = { tenantReference, gridLocations: [{ ean: OTHER_EAN }] };
    return ask('registerUser', 202, { request });
  }

  async function manageWebhooks(endpointId: string, otherId: string): Promise<void> {
    const parameters = { id: endpointId };
    // A test of an endpoint needs one of the places that its deliveries occupy.
    const delivery = await waitFor('a delivery, and none in flight', async () => {
      const pending = await ask('listWebhookDeliveries', 200, { parameters: { status: 'pending' } });
      const { items } = await ask('listWebhookDeliveries', 200, { parameters: { status: 'delivered' } });
      return pending.items.length === 0 && items[0];
    });
    const ofDelivery = { parameters: { id: delivery.id } };
    await ask('redeliverWebhookDelivery', 202, ofDelivery);
    await waitFor('its second attempt', async () => {
      const { status, previousAttempts } = await ask('readWebhookDelivery', 200, ofDelivery);
      return status === 'delivered' && previousAttempts.length === 1;
    });
    await ask('testWebhookEndpoint', 200, { parameters });
    await ask('rotateWebhookSecret', 200, { parameters, request: { overlapSeconds: 3_600 } });
    await ask('changeWebhookEndpoint', 200, {
      parameters,
      request: { types: [], description: 'all events' },
    });
    await ask('redeliverToWebhookEndpoint', 202, { parameters, request: { after: '0', onlyFailed: true } });
    await ask('readWebhookEndpoint', 200, { parameters });
    await ask('listWebhookEndpoints', 200, { parameters: { limit: '1' } });
    await ask('deleteWebhookEndpoint', 204, { parameters: { id: otherId } });
  }

  async function controlCampaigns(): Promise<void> {
    const database = service.database;
    const id = await insertCampaign(database, [{ tenantReference: 'customer-1' }], { status: 'receiving' });
    // The registration ids do not exist, so the registrations never end, and neither does the campaign.
    await database.query(
      `UPDATE campaign_rows SET status = 'sent', registration_id = gen_random_uuid() WHERE campaign_id = $1`,
      [id],
    );
    await database.query(`UPDATE campaigns SET status = 'running', name = 'Autumn' WHERE id = $1`, [id]);
    const parameters = { id };
    await ask('pauseCampaign', 200, { parameters });
    await ask('resumeCampaign', 200, { parameters });
    await ask('cancelCampaign', 200, { parameters });
    await ask('pauseCampaign', 409, { parameters });
  }

  async function runCampaign(): Promise<void> {
    const { id } = await ask('createCampaign', 202, {
      parameters: { dryRun: 'true', name: 'autumn' },
      request: `tenantReference;ean;metadata.contract\ncustomer-2001;${THIRD_EAN};C-78\ncustomer-2002;5,41449E+17;C-79\n`,
      type: 'text/csv',
    });
    await ask('listCampaigns', 200, { parameters: { status: 'checked', limit: '1' } });
    await ask('readCampaign', 200, { parameters: { id } });
    await ask('listCampaignRows', 200, { parameters: { id, status: 'invalid' } });
    await ask('readCampaignResult', 200, { parameters: { id } });
    await ask('deleteCampaign', 204, { parameters: { id } });
  }

  await ask('getLiveness', 200);
  await waitFor('readiness', () => ask('getReadiness', 200));
  await ask('getProblem', 200, { parameters: { code: 'remote_unavailable' } });

  const forResolve = await loseResponse('customer-1002');
  const forDiscard = await loseResponse('customer-1003');
  const forRetry = await loseResponse('customer-1004');
  await ask('listRegistrations', 200, { parameters: { status: 'uncertain', limit: '2' } });
  await ask('readRegistration', 200, { parameters: { id: forResolve.id } });
  const confirmed = (await sandbox.control.users()).find(
    ({ tenantReference }) => tenantReference === 'customer-1002',
  )!;
  await ask('resolveRegistration', 200, {
    parameters: { id: forResolve.id },
    request: {
      id: confirmed.id,
      tenantReference: confirmed.tenantReference,
      tenantName: 'Example Energy',
      firstName: '',
      lastName: '',
      email: '',
      gridLocations: confirmed.gridLocations,
      createdAt: '2026-11-20T09:00:00.000Z',
      updatedAt: '2026-11-20T09:00:00.000Z',
    },
  });
  await ask('discardRegistration', 200, { parameters: { id: forDiscard.id } });
  // The worker might otherwise send it before the response is read.
  const claiming = jest.spyOn(service.app.get(RegistrationsStore), 'claimDue').mockResolvedValue([]);
  await ask('retryRegistration', 200, { parameters: { id: forRetry.id } });
  claiming.mockRestore();
  await ask('retryRegistration', 409, { parameters: { id: forResolve.id } });
  const forMany = await loseResponse('customer-1005');
  // The action might otherwise be done before the response is read.
  const findingDue = jest.spyOn(service.app.get(BulkActionsStore), 'findDue').mockResolvedValue([]);
  const action = await ask('createBulkAction', 202, {
    request: { operationId: 'refreshSession', ids: [forMany.id], reason: 'The provider was down' },
  });
  findingDue.mockRestore();
  await waitFor(
    'the end of the bulk action',
    async () => (await ask('readBulkAction', 200, { parameters: { id: action.id } })).finishedAt,
  );
  await ask('decideRegistrations', 200, {
    request: { decision: 'discard', ids: [forMany.id, forResolve.id] },
  });

  const toDelete = await ask('createWebhookEndpoint', 201, { request: { url: `${receiver.url}/webhooks` } });
  const endpoint = await ask('createWebhookEndpoint', 201, {
    request: {
      url: `${receiver.url}/webhooks`,
      types: ['pv.session.online.v1'],
      description: 'customer app',
      headers: { 'X-Tenant': 'example' },
    },
  });

  const request = {
    tenantReference: 'customer-1001',
    gridLocations: [{ ean: EAN }],
    metadata: { contract: 'C-77' },
  };
  await ask('registerUser', 409, { request: { ...request, tenantReference: 'customer-1002' } });
  const user = await ask('registerUser', 201, { request });
  await ask('registerUser', 200, { request });
  await ask('listUsers', 200, { parameters: { tenantReference: 'customer-1001' } });
  await ask('readUser', 404, { parameters: { userId: forResolve.id } });
  await ask('readUser', 200, { parameters: { userId: user.id } });

  const gridLocationId = user.gridLocations[0]!.id;
  const start = {
    parameters: { id: gridLocationId },
    request: { brand: 'acme', metadata: { campaign: 'autumn' } },
  };
  const invite = { request: { gridLocationId, brands: ['acme'], locale: 'nl', metadata: { label: 'Barn' } } };
  const invitation = await ask('createInvitation', 201, invite);
  await ask('createInvitation', 200, invite);
  await ask('listInvitations', 200, { parameters: { state: 'invited' } });
  await ask('readInvitation', 200, { parameters: { id: invitation.id } });
  // A worker sends the registration of customer-1004 again, and the search finds its user or the registration.
  await waitFor('the user of the registration that is retried', async () => {
    const retried = 'SELECT FROM users WHERE tenant_reference = $1';
    return (await service.database.query(retried, ['customer-1004'])).length === 1;
  });
  await ask('search', 200, { request: { q: 'customer-1' } });
  await ask('readInvitationLink', 200, { parameters: { id: invitation.id } });
  await ask('readInvitationQrCode', 200, { parameters: { id: invitation.id } });
  await ask('createInvitationCode', 200, { parameters: { id: invitation.id } });
  await ask('changeInvitation', 200, {
    parameters: { id: invitation.id },
    request: { locale: 'fr', expected: { inverters: 2 } },
  });
  await ask('remindOwner', 200, { parameters: { id: invitation.id } });
  await ask('recordInvitationMessage', 200, {
    parameters: { id: invitation.id },
    request: { status: 'bounced', channel: 'email' },
  });
  await ask('withdrawConsent', 409, { parameters: { id: invitation.id } });
  await insertConsent(service.database, invitation.id);
  await ask('withdrawConsent', 200, { parameters: { id: invitation.id } });
  await ask('revokeInvitation', 200, { parameters: { id: invitation.id } });
  await ask('remindOwner', 409, { parameters: { id: invitation.id } });
  await controlCampaigns();
  await runCampaign();
  await ask('readFunnel', 200, { parameters: { by: 'day' } });
  await ask('listBrands', 200);
  const session = await ask('startSession', 201, start);
  await ask('startSession', 200, start);
  await ask('refreshSession', 200, { parameters: { sessionId: session.id } });
  await sandbox.control.complete(session.id, { onlineAfterMs: null });
  await sandbox.control.online(session.id, { inverters: 1 });
  const parameters = { id: session.id };
  await waitFor(
    'the session to be online',
    async () => (await ask('readSession', 200, { parameters })).state === 'online',
  );
  await ask('readSession', 200, { parameters: { ...parameters, maxAge: '60' } });
  await ask('readSessionOfUser', 200, { parameters: { userId: user.id, sessionId: session.id } });
  await ask('listTimeline', 200, { parameters: { sessionId: session.id, limit: '4' } });
  await ask('listStarts', 200, { parameters: { gridLocationId } });
  await ask('listSessions', 200, { parameters: { state: 'online', tenantReference: 'customer-1001' } });
  await ask('readCase', 200, { parameters: { id: gridLocationId } });
  await ask('readCustomers', 200, { parameters: { tenantReference: 'customer-1001' } });
  const inverters = await ask('listInverters', 200, { parameters: { userId: user.id } });
  await ask('readInverter', 200, { parameters: { id: inverters.items[0]!.id } });
  // Starts a session of customer-1002 and erases this user, so that the examples about customer-1001 show a user that exists.
  const post = { method: 'POST', headers: { authorization: `Bearer ${service.adminKey}` } };
  await fetch(`${service.url}/api/v1/onboarding/pv/${confirmed.gridLocations[0]!.id}`, post);
  await ask('exportUser', 200, { parameters: { userId: user.id }, shown: withFewTables });
  await ask('eraseUser', 200, { parameters: { userId: confirmed.id } });
  await manageWebhooks(endpoint.id, toDelete.id);
  await ask('listEvents', 200, { parameters: { types: 'session.online', limit: '1' } });
  await ask('streamEvents', 200, { parameters: { types: 'session.online', after: '0' } });

  await ask('createApiKey', 400, { request: { name: 'customer app', scopes: ['everything'] } });
  const key = await ask('createApiKey', 201, {
    request: { name: 'customer app', scopes: ['users:write', 'onboarding:write', 'links:read'] },
  });
  await ask('listApiKeys', 200, { parameters: { limit: '1' } });
  await ask('listAuditLog', 200, { parameters: { limit: '1' } });
  await ask('revokeApiKey', 204, { parameters: { id: key.id } });
  await ask('getStatus', 200);
  await service.app.get(Sampler).sampleIfDue();
  await ask('getStatusHistory', 200, { parameters: { hours: '24' } });
  await ask('probeCredentials', 200);
  await service.database.query(
    `INSERT INTO registrations (tenant_reference, eans, metadata, status, attempts, last_error)
     VALUES ('customer-1003', ARRAY[$1], '{}', 'uncertain', 1, 'no response within 10 s') ON CONFLICT DO NOTHING`,
    [THIRD_EAN],
  );
  // The worker of the service may be looking at it.
  await waitFor('the stall', async () => {
    await service.app.get(StallTask).run();
    const text = `SELECT FROM stalls WHERE tenant_reference = 'customer-1003'`;
    return (await service.database.query(text)).length > 0;
  });
  const stalled = await ask('listStalled', 200, { parameters: { tenantReference: 'customer-1003' } });
  await ask('groupStalled', 200);
  await ask('workOnStalled', 200, {
    parameters: { id: stalled.items[0]!.id },
    request: { kind: 'registration', note: 'Asked the provider', assignee: 'Anne' },
  });
  await receiver.close();
  return recorded as RecordedExamples;
}

async function firstEventOf(response: Response): Promise<string> {
  let text = '';
  for await (const bytes of response.body!) {
    text += Buffer.from(bytes as Uint8Array).toString();
    const end = text.indexOf('\n\n', Math.max(0, text.indexOf('\ndata: ')));
    // Returning from the loop closes the connection.
    if (text.includes('\ndata: ') && end !== -1) return text.slice(0, end + 2);
  }
  return text;
}

/** Parts of the responses that depend on the moment. */
const VARYING =
  /^(getStatus|(list|read|redeliver)WebhookDeliver|streamEvents|createInvitationCode\.200\.code|testWebhookEndpoint\.200\.durationMs|eraseUser\.200\.erased\.observations)|\.(id|observationId|sequence)$/;

/** Returns the paths at which two recordings differ. What varies may differ in its values, but not in its keys and types. */
export function differences(recorded: unknown, live: unknown, path = ''): string[] {
  const varies = VARYING.test(path);
  if (varies && (recorded === null || live === null)) return [];
  if (Array.isArray(recorded) && Array.isArray(live)) {
    if (!varies && recorded.length !== live.length) return [`${path} has ${live.length} items`];
    if (recorded.length === 0) return [];
    return live.flatMap((item, index) =>
      differences(recorded[Math.min(index, recorded.length - 1)], item, `${path}[${index}]`),
    );
  }
  if (isObject(recorded) && isObject(live)) {
    const names = new Set([...Object.keys(recorded), ...Object.keys(live)]);
    return [...names].flatMap((name) => {
      if (!(name in recorded)) return [`${path}.${name} is not in the example`];
      if (!(name in live)) return [`${path}.${name} is not in the response`];
      return differences(recorded[name], live[name], `${path}.${name}`);
    });
  }
  const [expected, found] = [recorded, live].map(varies ? typeOf : formOf);
  return expected === found ? [] : [`${path} is ${expected} in the example and ${found} in the response`];
}

/** Returns a value without what is new in each run: ids, instants, days, sequences and ports. */
const formOf = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, 'INSTANT')
    .replace(/\d{4}-\d\d-\d\d/g, 'DAY')
    .replace(/[\w-]{30,}|\d{19}/g, 'TOKEN')
    .replace(/:\d{4,5}\b/g, ':PORT');

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);
