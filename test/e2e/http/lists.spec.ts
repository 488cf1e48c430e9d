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
/** What orders the rows of the lists. */
const TIMES = Object.entries({
  api_keys: 'created_at',
  audit_log: 'at',
  webhook_endpoints: 'created_at',
  webhook_deliveries: 'created_at',
  users: 'registered_at',
  registrations: 'created_at',
  onboarding_sessions: 'changed_at',
  stalls: 'since',
  inverters: 'first_seen_at',
  session_transitions: 'at',
  session_starts: 'created_at',
  invitations: 'created_at',
  campaigns: 'created_at',
});
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
  await insert('campaigns', { status: 'receiving' });
  await insert('webhook_endpoints', { id: ENDPOINT });
  for (let nth = 0; nth < 2 * ROWS; nth++) {
    const fits = nth % 2 === 0;
    const tenant_reference = fits ? REFERENCE : randomUUID();
    const other = await insertCustomer(
      database.pool,
      fits ? randomUUID() : tenant_reference,
      fits ? EAN : newEan(),
    );
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
      closed_at: '2026-04-01',
      close_reason: 'settled',
      superseded_at: '2026-04-01',
      created_at: `2026-01-2${nth}`,
      changed_at: `2026-02-1${9 - nth}`,
      expires_at: `2026-03-2${nth}`,
    });
    await insert('inverters', { session_id: id });
    for (const to_state of ['awaiting_owner', 'online'])
      await insert('session_transitions', { session_id: SESSION, to_state });
    const start = await insert('session_starts', { ...place, status: fits ? 'failed' : 'sending' });
    const { id: registration_id } = await insert('registrations', {
      tenant_reference,
      eans: [fits ? EAN : newEan()],
      metadata,
      status: fits ? 'rejected' : 'uncertain',
      last_error: fits ? 'status 422' : 'lost',
    });
    await insert('campaigns', { status: fits ? 'checked' : 'finished', finished_at: 'now' });
    const invitation = await insert('invitations', {
      grid_location_id: other.gridLocationId,
      ...(nth > 4 && { campaign_id: CAMPAIGN }),
    });
    const problems = JSON.stringify([{ column: 'ean', code: 'ean_length', message: 'too short' }]);
    const status = fits ? 'invalid' : nth % 4 === 1 ? 'sent' : 'accepted';
    await insert('campaign_rows', {
      campaign_id: CAMPAIGN,
      line: nth + 2,
      status,
      ...(fits ? { problems } : { registration_id }),
    });
    const at = { since: `2026-11-0${nth + 1}`, tenant_reference, grid_location_id: owner.gridLocationId };
    if (fits) await insert('stalls', { ...at, subject: id, brand: 'acme', campaign_id: CAMPAIGN });
    else {
      const stall = { ...at, brand: 'sunward' };
      await insert('stalls', { ...stall, kind: 'start', cause: 'start_failed', subject: start.id });
      await insert('stalls', {
        ...stall,
        kind: 'invitation',
        cause: 'never_opened',
        subject: invitation.id,
        since: `2026-10-0${nth}`,
      });
    }
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
  for (let nth = 0; nth < ROWS; nth++)
    await insert('registrations', {
      tenant_reference: 'often rejected',
      status: 'rejected',
      last_error: 'lost',
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
  // Several rows have the same time, and a page ends between them.
  for (const [table, column] of TIMES)
    await database.query(
      `UPDATE ${table} SET ${column} = timestamptz '2026-04-01' + nth / 3 * interval '1 h'
         FROM (SELECT ctid AS place, row_number() OVER (ORDER BY ${column}) AS nth FROM ${table}) AS numbered WHERE ctid = place`,
    );
});

const addressOf = (path: string): string => path.replace('{sessionId}', SESSION).replace('{id}', CAMPAIGN);
const read = async (path: string, query: string): Promise<Page> => {
  const { status, body } = await client.call<Page>(
    'GET',
    `${addressOf(path)}${path.includes('?') ? '' : '?'}${query}`,
  );
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

/** A filter, a value that is given or found among the rows, and whether a row fits: by the names of its columns or of its item. */
type Filter = readonly [
  name: string,
  value: string | ((rows: readonly Item[]) => string),
  fits: (row: Item, value: string) => boolean,
];
const is = (name: string, value: string, stored: unknown = value, field = name): Filter => [
  name,
  value,
  (row) => row[field] === stored,
];
const at = (row: Item, column: string) => new Date(row[column] as string).toISOString();
const middle = (column: string) => (rows: readonly Item[]) =>
  rows.map((row) => at(row, column)).toSorted()[rows.length >> 1]!;
const since = (column: string, name = 'since'): Filter => [
  name,
  middle(column),
  (row, value) => at(row, column) >= value,
];
const before = (column: string, name = 'before'): Filter => [
  name,
  middle(column),
  (row, value) => at(row, column) < value,
];
const season: Filter = [
  'metadata.season',
  'autumn',
  ({ metadata }) => (metadata as Item)['season'] === 'autumn',
];
const reference = is('tenantReference', TYPED_REFERENCE, REFERENCE);
const stalled: Filter = ['stalled', 'any', (row) => row['stalled'] !== null];
const ean: Filter = [
  'ean',
  EAN,
  ({ gridLocations }) => (gridLocations as readonly Item[]).some((each) => each['ean'] === EAN),
];
const place = () => [is('userId', userId), is('gridLocationId', gridLocationId)];

/** Each list with its rows in their order, as plain SQL, and its filters. */
const LISTS: [path: string, rows: string, filters?: () => Filter[]][] = [
  [
    '/api-keys',
    ', refused_401::int, refused_403::int, refused_429::int FROM api_keys ORDER BY created_at DESC, id DESC',
  ],
  [
    '/audit-log',
    ', id::float8 FROM audit_log ORDER BY at DESC, audit_log.id DESC',
    () => [
      is('targets', `${ENDPOINT} , ${SUBJECT}`, SUBJECT, 'target'),
      is('actor', 'cli'),
      is('action', 'api_key.created'),
      since('at'),
      before('at'),
    ],
  ],
  ['/webhook-endpoints', ' FROM webhook_endpoints WHERE handler IS NULL ORDER BY created_at DESC, id DESC'],
  [
    '/webhook-deliveries',
    ` FROM webhook_deliveries WHERE endpoint_id IN (SELECT id FROM webhook_endpoints WHERE handler IS NULL)
       ORDER BY created_at DESC, position DESC`,
    () => [
      is('endpointId', ENDPOINT),
      is('status', 'failed'),
      ['tried', 'true', ({ attempts }) => attempts !== 0],
      ['tried', 'false', ({ attempts }) => attempts === 0],
      is('subject', SUBJECT),
      since('createdAt'),
      is('eventId', EVENT),
    ],
  ],
  [
    '/customers',
    ` FROM (SELECT DISTINCT ON (tenant_reference) id, tenant_reference, created_at, campaign_id FROM registrations ORDER BY tenant_reference, status = 'rejected', created_at DESC, id)
       AS decisive ORDER BY created_at DESC, id DESC`,
    () => [
      is('cause', 'lost', REFERENCE, 'tenantReference'),
      is('campaignId', CAMPAIGN),
      is('brand', 'acme', REFERENCE, 'tenantReference'),
    ],
  ],
  [
    '/customers?waitsFor=tenant&',
    ` FROM (SELECT DISTINCT ON (tenant_reference) tenant_reference, since AS first, subject, brand, cause, campaign_id
              FROM stalls WHERE cause <> 'never_opened' ORDER BY tenant_reference, since, subject) AS stalled ORDER BY first, subject`,
    () => [
      is('cause', 'start_failed'),
      is('campaignId', CAMPAIGN, CAMPAIGN, 'campaign_id'),
      is('brand', 'sunward'),
    ],
  ],
  [
    '/users',
    ' FROM users WHERE erased_at IS NULL ORDER BY registered_at DESC, id DESC',
    () => [reference, ean, season],
  ],
  [
    '/registrations',
    ' FROM registrations ORDER BY created_at DESC, id DESC',
    () => [
      reference,
      ean,
      season,
      is('status', 'rejected'),
      since('createdAt', 'createdSince'),
      before('createdAt', 'createdBefore'),
      is('lastError', 'tatus 42', 'status 422'),
    ],
  ],
  [
    '/onboarding/pv',
    ' FROM onboarding_sessions ORDER BY changed_at, id',
    () => [
      ...place(),
      reference,
      season,
      stalled,
      is('state', 'online'),
      is('brand', 'acme'),
      since('changed_at', 'updatedSince'),
      since('createdAt', 'createdSince'),
      before('createdAt', 'startedBefore'),
      before('expiresAt', 'expiresBefore'),
    ],
  ],
  [
    '/stalled',
    ', subject AS id FROM stalls ORDER BY since, subject',
    () => [
      is('kind', 'session'),
      is('cause', 'lost'),
      is('waitsFor', 'tenant'),
      is('campaignId', CAMPAIGN),
      is('brand', 'acme'),
      is('gridLocationId', gridLocationId),
      reference,
      since('since'),
    ],
  ],
  ['/inverters', ' FROM inverters ORDER BY first_seen_at DESC, id DESC', place],
  [
    '/onboarding/starts',
    ', last_error AS error FROM session_starts ORDER BY created_at DESC, id DESC',
    () => [...place(), is('status', 'failed')],
  ],
  [
    '/onboarding/pv/{sessionId}/timeline',
    `, '{}'::json AS details FROM admin.session_timeline WHERE session_id = '${SESSION}' ORDER BY date_trunc('milliseconds', at), step, number`,
  ],
  [
    '/invitations',
    ' FROM invitations WHERE erased_at IS NULL ORDER BY created_at DESC, id DESC',
    () => [
      is('state', 'revoked'),
      is('gridLocationId', invited),
      is('tenantReference', INVITED),
      is('campaignId', CAMPAIGN),
      stalled,
    ],
  ],
  [
    '/campaigns',
    ` FROM campaigns WHERE status <> 'receiving' ORDER BY created_at DESC, id DESC`,
    () => [is('status', 'checked'), ['dryRun', 'true', ({ dryRun }) => dryRun === true]],
  ],
  [
    '/campaigns/{id}/rows',
    `, replace(status, 'sent', 'accepted') AS status FROM campaign_rows WHERE campaign_id = '${CAMPAIGN}' ORDER BY line`,
    () => [
      is('status', 'invalid'),
      is('status', 'accepted'),
      ['problem', 'ean_length', ({ problems }) => (problems as readonly unknown[]).length > 0],
    ],
  ],
];

/** Fields that their list derives from more than the column of this name. */
const DERIVED = ['nextAttemptAt', 'lastSeenAt'];
const toCamelCase = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns what the row has of the fields of its item. */
const shownOf = (row: Item, item: Item = {}) =>
  Object.fromEntries(
    Object.entries(JSON.parse(JSON.stringify(row)) as Item)
      .map(([column, value]) => [toCamelCase(column), value] as const)
      .filter(([name]) => name in item && !DERIVED.includes(name)),
  );

it.each(LISTS)(
  '%s is its rows in their order, page by page, whole and by each filter',
  async (path, from, filters = () => []) => {
    const rows = await service.database.query<Item>(`SELECT *${from}`);
    const { items } = await read(path, 'limit=200');
    expect(items).toMatchObject(rows.map((row, nth) => shownOf(row, items[nth])));
    const whole = rows.map((row, nth): Item => ({ ...row, ...items[nth] }));
    const given = filters().map(
      ([name, value, fits]) => [name, typeof value === 'string' ? value : value(whole), fits] as const,
    );
    for (const filter of [undefined, ...given]) {
      const [name = '', value = '', fits = () => true] = filter ?? [];
      const fitting = idsOf(items.filter((_, nth) => fits(whole[nth]!, value)));
      if (filter !== undefined)
        expect([name, fitting.length > 0, fitting.length < items.length]).toEqual([name, true, true]);
      for (const limit of [2, 200]) {
        const paged: unknown[] = [];
        for (let cursor = ''; paged.length <= fitting.length;) {
          const page = await read(
            path,
            `limit=${limit}${name && `&${name}=${encodeURIComponent(value)}`}${cursor}`,
          );
          paged.push(...idsOf(page.items));
          if (page.next === null) break;
          cursor = `&cursor=${encodeURIComponent(page.next)}`;
        }
        expect([name, value, limit, paged]).toEqual([name, value, limit, fitting]);
      }
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
  const paths = LISTS.map(([path]) => path).filter((path) => !path.includes('?'));
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
  const tested = LISTS.flatMap(([path, , filters = () => []]) => {
    const [list, within = ''] = path.split(/[?=]/);
    return [...filters().map(([name]) => name), within, ''].map((name) => `${list} ${name.split('.')[0]}`);
  });
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
