import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Database } from '../../../src/platform/database/database.js';
import type { StalledView } from '../../../src/stalls/stalled.view.js';
import type { RemoteUser } from '../../../src/users/remote/remote-user.rules.js';
import type { Claim } from '../../../src/users/registration/registration.rules.js';
import { RegistrationsStore } from '../../../src/users/registration/registrations.store.js';
import { RegistrationSender } from '../../../src/users/registration/send-registrations.service.js';
import { TestClient, type EventAnswer, type UserAnswer } from '../../setup/client.js';
import { newValidEan } from '../../setup/ean.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { refuseRows } from '../../setup/database/refuse-rows.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const EAN = '376104250021234569';
const OTHER_EAN = '541448860004178013';

interface Registration {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly sequence: string | null;
  readonly tenantReference: string;
  readonly updatedAt: string;
  readonly stalled: StalledView | null;
}

interface Result {
  readonly id: string;
  readonly ok: boolean;
  readonly code: string | null;
  readonly detail: string | null;
}

const service = useTestApp();
const client = TestClient.of(service);
let database: Database;
let sandbox: SandboxControl;

beforeAll(() => {
  database = service.database;
  sandbox = service.sandbox!.control;
});
afterEach(() => sandbox.clearFaults());

interface Request {
  readonly tenantReference?: string;
  readonly metadata?: object;
  readonly eans?: readonly string[];
}

/** Registers a user with this fault. Default of `fault`: none. Returns the registration. */
async function register(
  { eans = [EAN], tenantReference = randomUUID(), metadata }: Request = {},
  fault?: object,
): Promise<Registration> {
  if (fault) await sandbox.addFault({ kind: 'reset', ...fault, contains: tenantReference });
  const gridLocations = eans.map((ean) => ({ ean }));
  await client.call('POST', '/users', { tenantReference, metadata, gridLocations });
  return (await list(`tenantReference=${tenantReference}`))[0]!;
}
const LOST = {};

/** Inserts a registration without a call. After several lost responses, the service would send no registration for some time. */
async function insert(
  status: string,
  { tenantReference = `${randomUUID()}`, ean = EAN, lastError = 'the response was lost' } = {},
): Promise<string> {
  const [row] = await database.query<{ id: string }>(
    `INSERT INTO registrations (tenant_reference, eans, metadata, status, attempts, last_error, created_at)
     VALUES ($1, ARRAY[$2], '{}', $3, 1, $4, clock_timestamp() - interval '1 h') RETURNING id`,
    [tenantReference, ean, status, lastError],
  );
  return row!.id;
}

const find = async (id: string) => (await client.call<Registration>('GET', `/registrations/${id}`)).body;
const list = async (query: string) => {
  const { status, body } = await client.call<{ items: Registration[] }>('GET', `/registrations?${query}`);
  expect(status).toBe(200);
  return body.items;
};
const becomes = (status: string, id: string) =>
  waitFor(status, async () => (await find(id)).status === status);

describe('registrations', () => {
  const listed = async (query: string) => (await list(query)).map(({ tenantReference }) => tenantReference);

  it('are found by EAN, by metadata and by both, the newest first', async () => {
    const [ean, campaign] = [newValidEan(), randomUUID()];
    const metadata = { campaign, size: 5 };
    await register({ tenantReference: 'lost-one', eans: [newValidEan(), ean], metadata }, LOST);
    await register({ tenantReference: 'same-ean', eans: [ean] });
    await register({ tenantReference: 'same-campaign', metadata: { ...metadata, size: '5' } });
    await register({ tenantReference: 'another', metadata: { campaign: [campaign] } });
    expect(await listed(`ean=${ean}`)).toEqual(['same-ean', 'lost-one']);
    expect(await listed(`metadata.campaign=${campaign}`)).toEqual(['same-campaign', 'lost-one']);
    expect(await listed(`metadata.campaign=${campaign}&metadata.size=5&ean=${ean}`)).toEqual(['lost-one']);
    expect(await listed(`metadata.campaign=${campaign}&status=registered`)).toEqual(['same-campaign']);
    expect(await listed(`ean=${newValidEan()}`)).toEqual([]);
  });

  it('say whom they wait for, why they are stalled and what to do, as admin.stalled does', async () => {
    expect(await register()).toMatchObject({ stalled: null });
    const id = await insert('uncertain');
    const { stalled } = await waitFor('the registration is stalled', async () => {
      const found = await find(id);
      return found.stalled !== null && found;
    });
    const { remedies, since, ...rest } = stalled!;
    const [row] = await database.query<object>(
      `SELECT cause, waits_for AS "waitsFor", urgency, since, evidence, before, remedies FROM admin.stalled WHERE id = $1`,
      [id],
    );
    const operations = remedies.map(({ operationId }) => operationId);
    expect({ ...rest, since: new Date(since), remedies: operations }).toEqual({
      ...row,
      text: 'Nobody knows whether the remote service has registered the customer: the response was lost.',
    });
    expect(row).toMatchObject({ cause: 'uncertain', waitsFor: 'tenant' });
    const [listed] = (await list('status=uncertain')).filter((each) => each.id === id);
    expect(listed).toMatchObject({ stalled });
  });
});

it('a registration whose response is lost is stalled in the response of its own request', async () => {
  const tenantReference = randomUUID();
  await sandbox.addFault({ kind: 'reset', contains: tenantReference });
  const { status, body } = await client.call<Registration>('POST', '/users', {
    tenantReference,
    gridLocations: [{ ean: EAN }],
  });
  expect([status, body.stalled?.cause]).toEqual([202, 'uncertain']);
});

it('a registration that the database refuses for good is uncertain, with a 202 and the id of the user', async () => {
  const tenantReference = randomUUID();
  const accept = await refuseRows(database, 'users', `new.tenant_reference = '${tenantReference}'`);
  try {
    const gridLocations = [{ ean: newValidEan() }];
    const { status, body } = await client.call('POST', '/users', { tenantReference, gridLocations });
    const user = (await sandbox.users()).find((each) => each.tenantReference === tenantReference)!;
    const reason =
      'the Solar Curtailment Service has registered the user, but our database could not store it (SQLSTATE 42501)';
    expect([status, body]).toEqual([
      202,
      expect.objectContaining({ status: 'uncertain', lastError: `${reason}; the user's id is ${user.id}` }),
    ]);
    const event = (await client.events()).find(({ subject }) => subject === body.id)!;
    expect([event.type, event.data.reason]).toEqual(['pv.user.registration_uncertain.v1', reason]);
    await accept();
    const resolved = await client.call('POST', `/registrations/${String(body.id)}/resolve`, user);
    expect(resolved).toMatchObject({ status: 200, body: { status: 'registered', userId: user.id } });
  } finally {
    await accept().catch(() => {});
  }
});

describe('a decision', () => {
  interface Body extends Registration {
    readonly code: string;
    readonly errors: readonly { readonly field: string }[];
  }
  const resolve = (id: string, user: unknown) =>
    client.call<Body>('POST', `/registrations/${id}/resolve`, user);

  it('to resolve names the fields that do not fit', async () => {
    const tenantReference: string = randomUUID();
    const id = await insert('uncertain', { tenantReference });
    const location = { id: randomUUID(), ean: EAN };
    const user = { id: randomUUID(), tenantReference, gridLocations: [location] };
    const fieldsOf = async (request: unknown) => {
      const { status, body } = await resolve(id, request);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
      return body.errors.map(({ field }) => field);
    };
    expect(await fieldsOf({ ...user, id: 'x' })).toEqual(['id']);
    expect(await fieldsOf({ ...user, tenantReference: 'another' })).toEqual(['tenantReference']);
    expect(await fieldsOf({ ...user, gridLocations: [{ ...location, ean: OTHER_EAN }] })).toEqual([
      'gridLocations',
    ]);
    expect(await fieldsOf({ ...user, gridLocations: [{ ean: 1 }] })).toEqual([
      'gridLocations[0].id',
      'gridLocations[0].ean',
    ]);
    expect(await fieldsOf([])).toEqual(['user']);
    expect(await fieldsOf(undefined)).toEqual(['user']);
  });

  it('to resolve takes EANs as the provider sends them, but no other EAN that the client has rounded', async () => {
    const ean = '871685900000000000';
    const tenantReference: string = randomUUID();
    const id = await insert('uncertain', { tenantReference, ean });
    const resolveWith = (...numbers: string[]) => {
      const locations = numbers.map((number) => `{"id":"${randomUUID()}","ean":${number}}`).join(',');
      const user = `{"id":"${randomUUID()}","tenantReference":"${tenantReference}","gridLocations":[${locations}]}`;
      return resolve(id, user);
    };
    const rounded = await resolveWith(ean, '541448860004178050');
    expect({ status: rounded.status, code: rounded.body.code, errors: rounded.body.errors }).toMatchObject({
      status: 400,
      code: 'ean_rounded',
      errors: [{ field: 'gridLocations[1].ean' }],
    });
    expect((await resolveWith(ean)).body.status).toBe('registered');
  });

  it('that does not apply says why', async () => {
    const [tenantReference, another] = [randomUUID(), randomUUID()];
    const user = (
      await client.call<UserAnswer>('POST', '/users', { tenantReference, gridLocations: [{ ean: EAN }] })
    ).body;
    const [ended, uncertain, sent] = [
      await insert('rejected', { tenantReference }),
      await insert('uncertain', { tenantReference: another }),
      await insert('uncertain'),
    ];
    await database.query(
      `UPDATE registrations SET status = 'pending', lease_token = gen_random_uuid(), lease_until = 'tomorrow' WHERE id = $1`,
      [sent],
    );
    const { id: live } = (await list(`tenantReference=${tenantReference}&status=registered`))[0]!;
    const { updatedAt: unchangedSince } = await find(uncertain);
    const rowOf = (id: string) => database.query('SELECT * FROM registrations WHERE id = $1', [id]);
    const message = 'belongs to another user or another object in our database';
    const foreign = ['id', 'gridLocations[0].id'].map((field) => ({ field, message }));
    const taken = { id: user.id, tenantReference: another, gridLocations: user.gridLocations };
    const given = await insert('discarded');
    for (const [id, decision, body, detail, errors] of [
      [
        given,
        'retry',
        undefined,
        'retry is for the statuses pending, uncertain, rejected; this registration is discarded',
      ],
      [
        live,
        'retry',
        undefined,
        'retry is for the statuses pending, uncertain, rejected; this registration is registered',
      ],
      [ended, 'retry', undefined, 'The tenantReference has another live registration'],
      [sent, 'discard', undefined, 'The registration is being sent; decide once its response is known'],
      [
        uncertain,
        'discard',
        { unchangedSince },
        'The registration has changed since `unchangedSince`; read it again',
      ],
      [
        uncertain,
        'retry',
        { unchangedSince },
        'The registration has changed since `unchangedSince`; read it again',
      ],
      [
        uncertain,
        'resolve',
        taken,
        'The id or a grid location belongs to another user in our database',
        foreign,
      ],
    ] as const) {
      const before = await rowOf(id);
      const refused = await client.call('POST', `/registrations/${id}/${decision}`, body);
      const { type: _t, title: _l, requestId: _r, ...said } = refused.body;
      const conflict = { status: 409, code: 'registration_conflict', detail, registrationId: id };
      expect(said).toEqual({ ...conflict, ...(errors && { errors }) });
      expect(await rowOf(id)).toEqual(before);
    }
    const later = { unchangedSince: new Date(Date.parse(unchangedSince) + 1) };
    expect((await client.call('POST', `/registrations/${ended}/discard`, later)).status).toBe(200);
  });

  it.each(['discard', 'retry'])('to %s names the user of a late response', async (decision) => {
    const store = service.app.get(RegistrationsStore);
    const tenantReference = randomUUID();
    const claim = (await store.openIntent({ tenantReference, eans: [EAN], metadata: {} }))!;
    const lost = `UPDATE registrations SET status = 'uncertain', lease_token = NULL, lease_until = NULL WHERE id = $1`;
    await database.query(lost, [claim.id]);
    if (decision === 'retry') await sandbox.addFault({ kind: 'reset', contains: tenantReference });
    await client.call('POST', `/registrations/${claim.id}/${decision}`);
    const status = decision === 'retry' ? 'uncertain' : 'discarded';
    await waitFor('the end', async () => (await find(claim.id)).status === status);
    const user = { id: randomUUID(), tenantReference, gridLocations: [{ id: randomUUID(), ean: EAN }] };
    const settlement = { status: 'registered', user: user as unknown as RemoteUser } as const;
    expect(await store.settle(claim, settlement)).toBe('stale');
    const lastError = expect.stringContaining(
      `a decision came first); the user's id is ${user.id}`,
    ) as unknown;
    expect(await find(claim.id)).toMatchObject({ status, lastError });
    const { body } = await client.call('POST', `/registrations/${claim.id}/resolve`, user);
    expect(body).toMatchObject({ status: 'registered', userId: user.id });
  });

  it('may be repeated after a lost response, with the same result', async () => {
    const discarded = await insert('uncertain');
    const tenantReference: string = randomUUID();
    const resolved = await insert('uncertain', { tenantReference });
    const user = { id: randomUUID(), tenantReference, gridLocations: [{ id: randomUUID(), ean: EAN }] };
    for (let times = 1; times <= 2; times++) {
      const decided = await client.call('POST', `/registrations/${discarded}/discard`);
      expect([decided.status, decided.body.status]).toEqual([200, 'discarded']);
      const entered = await resolve(resolved, user);
      expect([entered.status, entered.body.status]).toEqual([200, 'registered']);
    }
    const gridLocations = [{ id: randomUUID(), ean: EAN }];
    for (const corrected of [{ id: randomUUID() }, { gridLocations }]) {
      const another = await resolve(resolved, { ...user, ...corrected });
      expect([another.status, another.body.code]).toEqual([409, 'registration_conflict']);
    }
    const log = await client.list<{ action: string; target: string }>('/audit-log');
    expect(log.filter(({ target }) => target === discarded || target === resolved)).toHaveLength(2);
  });
});

it('are found by a text of 1 to 200 characters', async () => {
  for (const [length, status] of [
    [0, 400],
    [1, 200],
    [200, 200],
    [201, 400],
  ]) {
    const found = await client.call('GET', `/registrations?lastError=${'x'.repeat(length!)}`);
    expect([length, found.status]).toEqual([length, status]);
  }
});

describe('decisions about many registrations', () => {
  const decide = (body: object) =>
    client.call<{ readonly items: readonly Result[]; readonly next: string | null }>(
      'POST',
      '/registrations/decisions',
      body,
    );
  const statusOf = async (id: string) => (await find(id)).status;

  it('have a result for each id, by the rule of the single decision, and are audited', async () => {
    const [uncertain, rejected, registered, discarded] = [
      await insert('uncertain'),
      await insert('rejected'),
      await insert('registered'),
      await insert('discarded'),
    ];
    const unknown = randomUUID();
    const ids = [uncertain, registered, rejected, discarded, unknown, uncertain];
    const log = jest.spyOn(Logger.prototype, 'log');
    const { status, body } = await decide({ decision: 'discard', ids });
    expect(status).toBe(200);
    expect(log.mock.calls).toContainEqual(['environment decided to discard 3 of 5 registrations']);
    log.mockRestore();
    const conflict = (await client.call('POST', `/registrations/${registered}/discard`)).body;
    const object = 'registration_decision';
    expect(body).toEqual({
      items: [
        { object, id: uncertain, ok: true, code: null, detail: null },
        { object, id: registered, ok: false, code: 'registration_conflict', detail: conflict.detail },
        { object, id: rejected, ok: true, code: null, detail: null },
        { object, id: discarded, ok: true, code: null, detail: null },
        { object, id: unknown, ok: false, code: 'not_found', detail: `There is no registration ${unknown}` },
      ],
      next: null,
    });
    expect([await statusOf(uncertain), await statusOf(rejected)]).toEqual(['discarded', 'discarded']);
    const entries = await database.query(
      'SELECT action, target FROM audit_log WHERE target = ANY ($1) ORDER BY id',
      [ids],
    );
    expect(entries).toEqual(
      [uncertain, rejected].map((target) => ({ action: 'registration.discarded', target })),
    );
  });

  it('with unchangedSince never send again what has changed since', async () => {
    const tenantReference: string = randomUUID();
    await sandbox.addFault({ kind: 'reset', contains: tenantReference });
    const id = await insert('uncertain', { tenantReference });
    const { updatedAt } = await find(id);
    const request = { decision: 'retry', ids: [id], unchangedSince: updatedAt };
    expect((await decide(request)).body.items).toMatchObject([{ ok: false, code: 'registration_conflict' }]);
    expect(await statusOf(id)).toBe('uncertain');
    const unchangedSince = new Date(Date.parse(updatedAt) + 1).toISOString();
    expect((await decide({ ...request, unchangedSince })).body.items).toMatchObject([{ ok: true }]);
    // It is sent again, and its response is lost.
    await waitFor('the second attempt', async () => {
      const { status, attempts } = await find(id);
      return status === 'uncertain' && attempts === 2;
    });
    expect((await decide({ ...request, unchangedSince })).body.items).toMatchObject([{ ok: false }]);
    expect(await statusOf(id)).toBe('uncertain');
  });

  it('take the registrations that a filter lists, and no other', async () => {
    const lastError = randomUUID();
    const [timeout, reset, rejected] = [
      await insert('uncertain', { lastError: `status 503 (${lastError})` }),
      await insert('uncertain'),
      await insert('rejected', { lastError: `status 503 (${lastError})` }),
    ];
    const filter = { status: 'uncertain', lastError, createdBefore: new Date().toISOString() };
    const found = await list(new URLSearchParams(filter).toString());
    expect(found.map(({ id }) => id)).toEqual([timeout]);
    expect((await decide({ decision: 'discard', filter })).body.items).toMatchObject([
      { id: timeout, ok: true },
    ]);
    const since = { status: 'uncertain', createdSince: new Date().toISOString() };
    expect((await decide({ decision: 'discard', filter: since })).body.items).toEqual([]);
    expect(await statusOf(timeout)).toBe('discarded');
    expect([await statusOf(reset), await statusOf(rejected)]).toEqual(['uncertain', 'rejected']);
  });

  it('take all pages of what a filter lists, each registration once', async () => {
    const store = service.app.get(RegistrationsStore);
    const listed = store.listRegistrations.bind(store);
    const pages = jest
      .spyOn(store, 'listRegistrations')
      .mockImplementation((query) => listed({ ...query, limit: 2 }));
    const lastError = randomUUID();
    const ids = await Promise.all(Array.from({ length: 5 }, () => insert('uncertain', { lastError })));
    const sizes: number[] = [];
    for (let cursor = {}; ;) {
      const { body } = await decide({
        decision: 'discard',
        filter: { status: 'uncertain', lastError },
        ...cursor,
      });
      sizes.push(body.items.filter(({ ok }) => ok).length);
      if (body.next === null) break;
      cursor = { cursor: body.next };
      const errors = [{ field: 'cursor', message: 'must not be given with `ids`' }];
      expect((await decide({ decision: 'discard', ids, ...cursor })).body).toMatchObject({ errors });
    }
    pages.mockRestore();
    expect(sizes).toEqual([2, 2, 1]);
    expect(await Promise.all(ids.map(statusOf))).toEqual(Array(5).fill('discarded'));
  });

  it('need either ids or a filter', async () => {
    for (const wanted of [{}, { ids: [randomUUID()], filter: { status: 'uncertain' } }]) {
      const { status, body } = await decide({ decision: 'discard', ...wanted });
      expect([status, body]).toMatchObject([400, { errors: [{ field: 'ids' }] }]);
    }
  });
});

type Mirrored = Pick<Registration, 'status' | 'sequence'>;

/** Replays events as a reader of the feed does, by the rule in docs/events.md. */
function mirror(events: readonly EventAnswer[]): Map<string, Mirrored> {
  const mirrored = new Map<string, Mirrored>();
  for (const { type, subject, data, sequence } of events) {
    const known = mirrored.get(subject);
    if (known !== undefined && type.startsWith('pv.stall.')) mirrored.set(subject, { ...known, sequence });
    const status = /^pv\.user\.(?:registration_)?(\w+)\.v1$/.exec(type)?.[1];
    if (status === 'erased') for (const id of data.registrationIds as string[]) mirrored.delete(id);
    else if (status !== undefined) mirrored.set(data.registrationId as string, { status, sequence });
  }
  return mirrored;
}

// Comes last, because the remote service then requests a wait of ten minutes.
describe('a reader that mirrors registrations from the feed alone', () => {
  async function decide(decision: string, id: string, request?: object): Promise<void> {
    const { status } = await client.call('POST', `/registrations/${id}/${decision}`, request);
    expect(status).toBe(200);
  }
  async function resolve({ id, tenantReference }: Registration): Promise<void> {
    const gridLocations = [{ id: randomUUID(), ean: EAN }];
    await decide('resolve', id, { id: randomUUID(), tenantReference, gridLocations });
  }

  /** Leaves at least one registration in each status, and erases one. Returns the ids of all. */
  async function changeRegistrations(): Promise<string[]> {
    const registered = await register();
    const rejected = await register({}, { kind: 'answer', status: 422, times: 2 });
    await decide('retry', rejected.id);
    const uncertain = await register({}, { effect: true });
    const discarded = await register({}, LOST);
    await decide('discard', discarded.id);
    const retried = await register({}, LOST);
    await decide('retry', retried.id);
    await becomes('rejected', rejected.id);
    await becomes('registered', retried.id);
    const resolved = await register({}, LOST);
    await resolve(resolved);
    const resumed = await register({}, LOST);
    await decide('discard', resumed.id);
    await resolve(resumed);
    const erased = await register();
    const path = `/users?tenantReference=${erased.tenantReference}`;
    const users = await client.list<UserAnswer>(path);
    expect(await client.call('DELETE', `/users/${users[0]!.id}`)).toMatchObject({ status: 200 });
    const later = await register({}, { kind: 'too_many_requests', times: null });
    expect(later).toMatchObject({ status: 'pending' });
    await sandbox.clearFaults();
    await becomes('registered', later.id);
    // From now on, the remote service accepts no call, so each further registration stays pending.
    const pending = await register({}, { kind: 'too_many_requests', retryAfter: '600' });
    const dropped = await register();
    await decide('discard', dropped.id);
    const changed = [registered, rejected, uncertain, discarded, retried, resolved, resumed];
    return [...changed, erased, later, pending, dropped].map(({ id }) => id);
  }

  it('has all of them, with the status and the sequence that the API returns', async () => {
    const log = jest.spyOn(Logger.prototype, 'log');
    const warn = jest.spyOn(Logger.prototype, 'warn');
    const ids = await changeRegistrations();
    const messagesOf = (spy: typeof log) =>
      new Set(
        spy.mock.calls
          .map(([line]) => Object(line) as { message: string; registrationId?: string })
          .filter(({ registrationId }) => registrationId !== undefined && ids.includes(registrationId))
          .map(({ message }) => message.replace(/\d/, 'n').replace(/(?<=: ).*/, '…')),
      );
    const decisions = ['retry', 'discard', 'resolve'].map(
      (each) => `environment decided to ${each} a registration`,
    );
    const after = (status: string) => `a registration is ${status} after call n`;
    expect(messagesOf(log)).toEqual(new Set([...decisions, after('registered'), `${after('pending')}: …`]));
    expect(messagesOf(warn)).toEqual(new Set([`${after('rejected')}: …`, `${after('uncertain')}: …`]));
    log.mockRestore();
    warn.mockRestore();
    const DUE = 'SELECT FROM stall_looks WHERE look_at <= now()';
    await waitFor('every stall to be found', async () => (await database.query(DUE)).length === 0);
    const isOfTest = ([id]: readonly [string, Mirrored]) => ids.includes(id);
    const mirrored = [...mirror(await client.events())].filter(isOfTest);
    const listed = (await list('limit=200'))
      .map(({ id, status, sequence }) => [id, { status, sequence }] as const)
      .filter(isOfTest);
    expect(Object.fromEntries(mirrored)).toEqual(Object.fromEntries(listed));
    const statuses = new Set(listed.map(([, { status }]) => status));
    expect([...statuses].sort()).toEqual(['discarded', 'pending', 'registered', 'rejected', 'uncertain']);
    expect(listed).toHaveLength(ids.length - 1);
  });
});

describe('the due registrations', () => {
  it('are sent up to 16 at once: each call that ends makes room for the next, and a call that fails is the last', async () => {
    const sender = service.app.get(RegistrationSender);
    const ends: ((isAccepted: boolean) => void)[] = [];
    const claimDue = jest
      .spyOn(service.app.get(RegistrationsStore), 'claimDue')
      .mockImplementation(async (most) => Array.from({ length: most }, () => ({}) as Claim));
    jest.spyOn(sender['remote'], 'roomFor').mockReturnValue(99);
    sender['sendClaimed'] = () => new Promise((resolve) => ends.push(resolve));
    const sent = sender['sendDue'](new AbortController().signal);
    for (const isAccepted of [true, false]) {
      await waitFor('16 calls in flight', () => ends.length === 16);
      ends.pop()!(isAccepted);
    }
    for (const end of ends) end(true);
    await sent;
    expect(claimDue.mock.calls).toEqual([[16], [1]]);
  });
});
