import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from '@jest/globals';
import { StallsStore } from '../../../src/stalls/stalls.store.js';
import { HANDLER, insertCustomer, insertRow, type Table } from '../../db/valid-rows.js';
import { TestClient } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { useTestApp } from '../../setup/test-app.js';

type Item = Readonly<Record<string, unknown>>;
interface Page {
  readonly items: readonly Item[];
  readonly next: string | null;
}

// Starts no worker, because a worker would change the rows.
const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);
const REFERENCE = 'custömer with many';
/** The same reference, as another program may write it. */
const TYPED_REFERENCE = ` '${REFERENCE.normalize('NFD')} `;
const INVITED = 'customer with invitations';
const EAN = newEan();
const METADATA = { season: 'autumn' };
const ROWS = 4;
const CAMPAIGN = randomUUID();
const ENDPOINT = randomUUID();
const SUBJECT = randomUUID();
const [SESSION, EVENT] = [randomUUID(), randomUUID()];
let userId: string;
let gridLocationId: string;
let invited: string;
/** The ids of rows that no list shows and no operation finds, by their paths. */
const hidden: Record<string, string> = {};

/** Inserts rows of one customer that fit the filters, and as many of others between them. */
beforeAll(async () => {
  const database = service.database;
  // A worker does so before it stores a stall.
  await service.app.get(StallsStore).writeCauses();
  // A cursor takes numbers of more than 32 bits.
  await database.query(
    `SELECT setval(pg_get_serial_sequence(name, id), 3000000000)
       FROM (VALUES ('audit_log', 'id'), ('session_transitions', 'id'), ('domain_events', 'position')) AS numbered (name, id)`,
  );
  const insert = (table: Table, row: Item) => insertRow<{ id: string }>(database.pool, table, row);
  ({ userId, gridLocationId } = await insertCustomer(database.pool, REFERENCE, EAN));
  await database.query('UPDATE users SET metadata = $2 WHERE id = $1', [userId, METADATA]);
  await insert('campaigns', { id: CAMPAIGN, status: 'checked', finished_at: 'now' });
  await insert('webhook_endpoints', { id: ENDPOINT });
  for (let nth = 0; nth < 2 * ROWS; nth++) {
    const fits = nth % 2 === 0;
    const other = await insertCustomer(database.pool, randomUUID(), fits ? EAN : newEan());
    const metadata = fits ? METADATA : { season: 'spring' };
    await database.query('UPDATE users SET metadata = $2 WHERE id = $1', [other.userId, metadata]);
    const owner = fits ? { userId, gridLocationId } : other;
    const place = { grid_location_id: owner.gridLocationId };
    const id = nth === 0 ? SESSION : randomUUID();
    await insert('onboarding_sessions', {
      id,
      ...place,
      user_id: owner.userId,
      brand: fits ? 'acme' : 'sunward',
      metadata,
      state: fits ? 'online' : 'expired',
      closed_at: 'now',
      close_reason: 'settled',
      superseded_at: 'now',
      created_at: `2026-01-2${nth}`,
    });
    await insert('inverters', { session_id: id });
    for (const to_state of ['awaiting_owner', 'online'])
      await insert('session_transitions', { session_id: SESSION, to_state });
    await insert('session_starts', { ...place, status: fits ? 'failed' : 'sending' });
    await insert('registrations', {
      tenant_reference: fits ? REFERENCE : randomUUID(),
      eans: [fits ? EAN : newEan()],
      metadata,
      status: fits ? 'rejected' : 'uncertain',
      last_error: fits ? 'status 422' : 'lost',
    });
    await insert('campaigns', { status: fits ? 'checked' : 'finished', finished_at: 'now' });
    const problems = JSON.stringify([{ column: 'ean', code: 'ean_length', message: 'too short' }]);
    const status = fits ? 'invalid' : 'cancelled';
    await insert('campaign_rows', {
      campaign_id: CAMPAIGN,
      line: nth + 2,
      status,
      ...(fits && { problems }),
    });
    await database.query(
      `INSERT INTO stalls (kind, subject, cause, since, evidence, brand, tenant_reference, grid_location_id, campaign_id)
       VALUES ($1, gen_random_uuid(), $2, '2026-11-0${nth + 1}', '{}', $3, $4, $5, $6)`,
      fits
        ? ['session', 'lost', 'acme', REFERENCE, gridLocationId, CAMPAIGN]
        : ['invitation', 'never_opened', 'sunward', randomUUID(), other.gridLocationId, null],
    );
    const endpoint_id = fits ? ENDPOINT : (await insert('webhook_endpoints', {})).id;
    const subject = fits ? SUBJECT : randomUUID();
    const event = nth === 0 ? EVENT : randomUUID();
    const { position } = await insertRow<{ position: string }>(database.pool, 'domain_events', {
      id: event,
      subject,
    });
    await insert('webhook_deliveries', {
      endpoint_id,
      subject,
      position,
      ...(fits && { status: 'failed', next_attempt_at: null, attempts: 1 }),
    });
    await insert('api_keys', {});
    await insert('audit_log', fits ? { target: SUBJECT } : { actor: 'retention', action: 'user.erased' });
  }
  await insert('registrations', {
    ...{ tenant_reference: REFERENCE, status: 'registered', user_id: userId, campaign_id: CAMPAIGN },
    next_attempt_at: null,
  });
  invited = (await insertCustomer(database.pool, INVITED)).gridLocationId;
  await client.call('POST', '/invitations', { gridLocationId });
  for (let nth = 0; nth < ROWS; nth++) {
    const invitation = { gridLocationId: invited };
    const { status, body } = await client.call<{ id: string }>('POST', '/invitations', invitation);
    expect(status).toBe(201);
    await client.call('DELETE', `/invitations/${body.id}`);
  }
  const handler = (await insert('webhook_endpoints', HANDLER)).id;
  const { position } = await insertRow<{ position: string }>(database.pool, 'domain_events');
  const erased = await insertCustomer(database.pool).then(({ userId, ...place }) => ({ userId, place }));
  const { body } = await client.call<{ id: string }>('POST', '/invitations', erased.place);
  await client.call('DELETE', `/users/${erased.userId}`);
  const delivery = await insert('webhook_deliveries', { endpoint_id: handler, position });
  Object.assign(hidden, { '/webhook-endpoints': handler, '/webhook-deliveries': delivery.id });
  Object.assign(hidden, { '/users': erased.userId, '/invitations': body.id });
});

const addressOf = (path: string): string => path.replace('{sessionId}', SESSION).replace('{id}', CAMPAIGN);
const read = async (path: string, query: string): Promise<Page> => {
  const { status, body } = await client.call<Page>('GET', `${addressOf(path)}?${query}`);
  expect(status).toBe(200);
  return body;
};
const idsOf = (items: readonly Item[]) => items.map(({ id, line, ...item }) => id ?? line ?? item);

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: object }>> };
}
const OPENAPI = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
const PATHS = (JSON.parse(OPENAPI) as { paths: Record<string, Readonly<Record<string, Operation>>> }).paths;

/** Each list with its filters, and how many items fit at least. Each filter is used alone. */
const LISTS: [path: string, filters: () => Record<string, string>, least?: number][] = [
  ['/api-keys', () => ({})],
  [
    '/audit-log',
    () => ({
      targets: SUBJECT,
      actor: 'cli',
      action: 'api_key.created',
      since: '2020-01-01T00:00:00Z',
      before: '2100-01-01T00:00:00Z',
    }),
  ],
  ['/webhook-endpoints', () => ({})],
  [
    '/webhook-deliveries',
    () => ({
      endpointId: ENDPOINT,
      status: 'failed',
      tried: 'true',
      subject: SUBJECT,
      since: '2020-01-01T00:00:00Z',
    }),
  ],
  ['/webhook-deliveries', () => ({ eventId: EVENT }), 1],
  ['/customers', () => ({ waitsFor: 'tenant', cause: 'lost', campaignId: CAMPAIGN, brand: 'acme' }), 1],
  ['/users', () => ({ ean: EAN, 'metadata.season': 'autumn' })],
  ['/users', () => ({ tenantReference: TYPED_REFERENCE }), 1],
  [
    '/registrations',
    () => ({
      tenantReference: TYPED_REFERENCE,
      ean: EAN,
      'metadata.season': 'autumn',
      status: 'rejected',
      createdSince: '2020-01-01T00:00:00Z',
      createdBefore: '2100-01-01T00:00:00Z',
      lastError: 'status 422',
    }),
  ],
  [
    '/onboarding/pv',
    () => ({
      state: 'online',
      userId,
      gridLocationId,
      tenantReference: TYPED_REFERENCE,
      brand: 'acme',
      updatedSince: '2026-06-01T00:00:00Z',
      createdSince: '2020-01-01T00:00:00Z',
      startedBefore: '2100-01-01T00:00:00Z',
      expiresBefore: '2100-01-01T00:00:00Z',
      'metadata.season': 'autumn',
    }),
  ],
  ['/onboarding/pv', () => ({ stalled: 'any' }), 0],
  [
    '/stalled',
    () => ({
      kind: 'session',
      cause: 'lost',
      waitsFor: 'tenant',
      campaignId: CAMPAIGN,
      brand: 'acme',
      gridLocationId,
      tenantReference: TYPED_REFERENCE,
      since: '2020-01-01T00:00:00Z',
    }),
  ],
  ['/inverters', () => ({ userId, gridLocationId })],
  ['/onboarding/starts', () => ({ userId, gridLocationId, status: 'failed' })],
  ['/onboarding/pv/{sessionId}/timeline', () => ({})],
  ['/invitations', () => ({ state: 'revoked', gridLocationId: invited, tenantReference: INVITED })],
  ['/invitations', () => ({ campaignId: CAMPAIGN, stalled: 'any' }), 0],
  ['/campaigns', () => ({ status: 'checked', dryRun: 'true' })],
  ['/campaigns/{id}/rows', () => ({ status: 'invalid', problem: 'ean_length' })],
];

it.each(LISTS)(
  '%s is the same page by page, whole and by each filter',
  async (path, filters, least = ROWS) => {
    const { items } = await read(path, 'limit=200');
    const whole = idsOf(items);
    expect(whole.length).toBeGreaterThanOrEqual(least);
    expect(whole.filter((id) => Object.values(hidden).includes(id as string))).toEqual([]);
    for (const [name, value] of [...Object.entries(filters()), ['', '']] as [string, string][]) {
      const filter = name === '' ? '' : `${name}=${encodeURIComponent(value)}&`;
      const fitting = idsOf((await read(path, `${filter}limit=200`)).items);
      expect([filter, fitting.length >= least]).toEqual([filter, true]);
      expect(whole).toEqual(expect.arrayContaining(fitting));
      const isOfAll = name === '' || /(since|before)$/i.test(name);
      expect([filter, fitting.length < whole.length]).toEqual([filter, !isOfAll]);
      // No list shows when a record changed.
      if (isOfAll && name !== '' && name !== 'updatedSince') {
        const at = (item: Item) =>
          String(
            name === 'expiresBefore' ? item['expiresAt'] : (item['at'] ?? item['createdAt'] ?? item['since']),
          );
        const middle = at(items[items.length >> 1]!);
        const isIn = (item: Item) => (name.endsWith('efore') ? at(item) < middle : at(item) >= middle);
        expect([filter, idsOf((await read(path, `${name}=${middle}&limit=200`)).items)]).toEqual([
          filter,
          idsOf(items.filter(isIn)),
        ]);
      }
      const paged: unknown[] = [];
      for (let cursor = ''; paged.length <= fitting.length;) {
        const page = await read(path, `${filter}limit=2${cursor}`);
        paged.push(...idsOf(page.items));
        if (page.next === null) break;
        cursor = `&cursor=${encodeURIComponent(page.next)}`;
      }
      expect([filter, paged]).toEqual([filter, fitting]);
    }
  },
);

it('lists a customer once of whom several things are stalled', async () => {
  for (const since of ['since', `'2026-11-01'`]) {
    await service.database.query(`UPDATE stalls SET since = ${since} WHERE tenant_reference = $1`, [
      REFERENCE,
    ]);
    for (const filter of ['cause=lost', 'waitsFor=tenant&brand=acme', `cause=lost&campaignId=${CAMPAIGN}`])
      expect((await read('/customers', filter)).items).toMatchObject([{ tenantReference: REFERENCE }]);
  }
  expect((await read('/customers', 'cause=lost&brand=sunward')).items).toEqual([]);
});

it('every operation names what has no such id, also if only no list shows it', async () => {
  const others: unknown[] = [];
  for (const [path, methods] of Object.entries(PATHS))
    for (const [method, { operationId, requestBody }] of Object.entries(methods)) {
      const [, root] = /^\/api\/v1(\/[a-z-]+).*\{/.exec(path) ?? [];
      for (const id of root === undefined ? [] : [randomUUID(), hidden[root] ?? []].flat()) {
        const address = path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, id);
        const request = requestBody?.content['application/json']?.example;
        const { status, body } = await client.call<Item>(method.toUpperCase(), address, request);
        const isNamed = new RegExp(`^There is no [a-zA-Z ]+ ${id}`).test(String(body['detail']));
        if (status !== 404 || !isNamed) others.push([operationId, status]);
      }
    }
  // The receipt of the erasure, and what the invitation says, which is over.
  expect(others).toEqual([
    ['eraseUser', 200],
    ['changeInvitation', 409],
    ['remindOwner', 409],
  ]);
});

it('no list takes the cursor of another', async () => {
  const paths = [...new Set(LISTS.map(([path]) => path))];
  const nexts = await Promise.all(paths.map(async (path) => (await read(path, 'limit=1')).next));
  expect(nexts).not.toContain(null);
  const taken: string[] = [];
  for (const path of paths) {
    for (const [index, next] of nexts.entries()) {
      const query = new URLSearchParams({ cursor: next! });
      const { status } = await client.call('GET', `${addressOf(path)}?${query.toString()}`);
      if ((status === 200) !== (paths[index] === path)) taken.push(`${paths[index]} → ${path}: ${status}`);
    }
  }
  expect(taken).toEqual([]);
});

/** With these, the path reads one customer, and is no list. */
const NO_FILTERS = ['/customers tenantReference', '/customers ean'];

it('every list and filter of the API is among them', () => {
  const tested = LISTS.flatMap(([path, filters]) =>
    [...Object.keys(filters()), ''].map((name) => `${path} ${name.split('.')[0]}`),
  );
  const listed = Object.entries(PATHS).flatMap(([path, { get }]) => {
    const names = (get?.parameters ?? []).flatMap((each) => (each.in === 'query' ? each.name : []));
    const known = path.replace('/api/v1', '');
    return names.includes('cursor')
      ? names
          .filter((name) => !['limit', 'cursor'].includes(name))
          .concat('')
          .map((name) => `${known} ${name}`)
      : [];
  });
  expect(listed.filter((each) => !tested.includes(each))).toEqual(NO_FILTERS);
});
