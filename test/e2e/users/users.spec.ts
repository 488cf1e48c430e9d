import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ExportStore } from '../../../src/privacy/export/export.store.js';
import { RegistrationsStore } from '../../../src/users/registration/registrations.store.js';
import { TestClient } from '../../setup/client.js';
import { newValidEan, newWrongEan } from '../../setup/ean.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { shiftClock } from '../../setup/shifted-clock.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { insertRow } from '../../db/valid-rows.js';
import { withReplica } from '../replica.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
// These EANs end with a valid GS1 check digit.
const EAN = '376104250021234569';
const OTHER_EAN = '541448860004178013';
const WRONG = '376104250021234561';

/** All fields that these tests read from responses. Each response has only some of them. */
interface Body {
  readonly id: string;
  readonly key: string;
  readonly code: string;
  readonly detail: string;
  readonly status: string | number;
  readonly tenantReference: string;
  readonly userId: string;
  readonly registrationId: string;
  readonly nextAttemptAt: string | null;
  readonly gridLocationId: string;
  readonly gridLocations: readonly { readonly id: string; readonly ean: string }[];
  readonly items: readonly Body[];
  readonly next: string | null;
  readonly data: { readonly registrations: readonly object[] };
  readonly errors: readonly { readonly field: string; readonly message: string }[];
  readonly warnings: readonly { readonly field: string; readonly code: string; readonly message: string }[];
}

const service = useTestApp();
let sandbox: SandboxControl;

beforeAll(() => {
  sandbox = service.sandbox!.control;
});
afterEach(() => sandbox.clearFaults());

const call = (method: string, path: string, body?: unknown) =>
  TestClient.of(service).call<Body>(method, path, body);

const requestFor = (tenantReference: string = randomUUID(), ...eans: string[]) => ({
  tenantReference,
  gridLocations: (eans.length === 0 ? [EAN] : eans).map((ean) => ({ ean })),
});

/** Returns a `POST /users` response in the form in which later reads return it. */
const readAs = ({ warnings: _, ...item }: Body) => item;

/** Gives up the registration of a reference. */
async function discard(tenantReference: string): Promise<void> {
  const [registration] = (await call('GET', `/registrations?tenantReference=${tenantReference}`)).body.items;
  expect((await call('POST', `/registrations/${registration!.id}/discard`)).status).toBe(200);
}

const effectsOf = async (tenantReference: string) =>
  (await sandbox.ledger()).users.filter((effect) => effect.tenantReference === tenantReference);

describe('registering a user', () => {
  it('returns the user under the ids of the remote service', async () => {
    // An EAN that another test registers would get a warning.
    const eans = Array.from({ length: 5 }, () => newValidEan()).sort();
    const request = {
      ...requestFor('customer 4711', ...eans.toReversed()),
      metadata: { channel: 'web', n: [1, null] },
    };
    const { status, headers, body } = await call('POST', '/users', request);
    const [effect] = await effectsOf('customer 4711');
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/users/${effect?.userId}`);
    expect(body).toEqual({
      object: 'user',
      id: effect?.userId,
      tenantReference: 'customer 4711',
      tenantName: 'Sandbox tenant',
      firstName: '',
      lastName: '',
      email: '',
      gridLocations: eans.map((ean) => ({ id: expect.stringMatching(UUID), ean })),
      metadata: { channel: 'web', n: [1, null] },
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: expect.stringMatching(INSTANT),
      registeredAt: expect.stringMatching(INSTANT),
      warnings: [],
    });
    expect((await call('GET', `/users/${body.id}`)).body).toEqual(readAs(body));
  });

  it('may be repeated with the same EANs, as strings or numbers, in any order', async () => {
    const reference = randomUUID();
    const first = await call('POST', '/users', requestFor(reference, EAN, OTHER_EAN));
    const asNumbers = `{"tenantReference":"${reference}","gridLocations":[{"ean":${OTHER_EAN}},{"ean":${EAN}}]}`;
    const second = await call('POST', '/users', asNumbers);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(readAs(second.body)).toEqual(readAs(first.body));
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(await effectsOf(reference)).toHaveLength(1);
  });

  it.each([[[OTHER_EAN]], [[EAN, OTHER_EAN]]])('with other EANs is a conflict: %j', async (eans) => {
    const reference = randomUUID();
    const { body: user } = await call('POST', '/users', requestFor(reference, EAN));
    const { status, body } = await call('POST', '/users', requestFor(reference, ...eans));
    expect({ status, code: body.code, userId: body.userId }).toEqual({
      status: 409,
      code: 'tenant_reference_conflict',
      userId: user.id,
    });
    expect((await call('GET', `/registrations/${body.registrationId}`)).body).toMatchObject({
      userId: user.id,
      gridLocations: [{ ean: EAN }],
    });
    expect(await effectsOf(reference)).toHaveLength(1);
  });

  it('with other EANs than a registration without a user is a conflict that names only that registration', async () => {
    const reference = randomUUID();
    await sandbox.addFault({ kind: 'reset', contains: reference });
    const { body: registration } = await call('POST', '/users', requestFor(reference, EAN));
    const { body } = await call('POST', '/users', requestFor(reference, OTHER_EAN));
    expect(body).toMatchObject({ code: 'tenant_reference_conflict', registrationId: registration.id });
    expect(body).not.toHaveProperty('userId');
  });

  it('with an EAN that a program has rounded is refused, until all digits are sent or it is confirmed', async () => {
    const reference = randomUUID();
    // Rounding makes these EANs equal, but the response must not report a duplicate.
    const eans = ['871685900000000011', '871685900000000028'];
    const asNumbers = { ...requestFor(reference), gridLocations: eans.map((ean) => ({ ean: Number(ean) })) };
    const { status, body } = await call('POST', '/users', asNumbers);
    expect({ status, code: body.code, errors: body.errors }).toEqual({
      status: 400,
      code: 'ean_rounded',
      errors: [0, 1].map((index) => ({
        field: `gridLocations[${index}].ean`,
        message:
          'looks rounded, and its check digit is wrong: send all digits as a string, or `eanConfirmed: true` if it is right',
      })),
    });
    expect(JSON.stringify(body)).not.toContain('8716859');
    expect((await call('GET', `/registrations?tenantReference=${reference}`)).body.items).toEqual([]);
    expect((await call('POST', '/users', requestFor(reference, ...eans))).status).toBe(201);
    const [round, another] = [requestFor(randomUUID(), '871685900000000000'), randomUUID()];
    expect((await call('POST', '/users', round)).body.code).toBe('ean_rounded');
    expect((await call('POST', '/users', { ...round, eanConfirmed: 'yes' })).body.code).toBe(
      'invalid_request',
    );
    expect((await call('POST', '/users', { ...round, eanConfirmed: true })).status).toBe(201);
    const asNumber = `{"tenantReference":"${another}","eanConfirmed":true,"gridLocations":[{"ean":871685900000000000}]}`;
    expect((await call('POST', '/users', asNumber)).status).toBe(201);
  });

  it.each([
    [undefined, 'is required'],
    [{ ean: EAN }, 'must be an array'],
    [EAN, 'must be an array'],
  ])('is refused with gridLocations %j, which %s', async (gridLocations, message) => {
    const { body } = await call('POST', '/users', { ...requestFor('r'), gridLocations });
    expect(body.errors).toEqual([{ field: 'gridLocations', message }]);
  });

  it('returns 422 when the remote service refuses, and may then be requested anew', async () => {
    const reference = randomUUID();
    await sandbox.addFault({
      kind: 'answer',
      contains: reference,
      status: 422,
      body: `{"message":"no contract for ${EAN}"}`,
    });
    const { status, body } = await call('POST', '/users', requestFor(reference));
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'remote_rejected' });
    expect(body.detail).toContain('no contract for');
    expect(body.detail).not.toContain(EAN);
    const registrations = await call('GET', `/registrations?tenantReference=${reference}`);
    expect(registrations.body.items).toMatchObject([
      { id: body.registrationId, status: 'rejected', attempts: 1, userId: null },
    ]);
    const registered = await call('POST', '/users', requestFor(reference));
    expect(registered.status).toBe(201);
    const exported = await call('GET', `/users/${registered.body.id}/export`);
    expect(exported.body.data.registrations).toHaveLength(2);
  });

  it('is exported at most twice at once with a key', async () => {
    let end = (): void => {};
    const held = new Promise<null>((resolve) => (end = () => resolve(null)));
    const begin = jest.spyOn(service.app.get(ExportStore), 'begin').mockResolvedValue(null);
    begin.mockReturnValueOnce(held).mockReturnValueOnce(held);
    const statusOf = async () => (await call('GET', `/users/${randomUUID()}/export`)).status;
    const both = [statusOf(), statusOf()];
    await waitFor('both exports', () => begin.mock.calls.length === 2);
    expect(await statusOf()).toBe(429);
    end();
    expect(await Promise.all(both)).toEqual([404, 404]);
    expect(await statusOf()).toBe(404);
    begin.mockRestore();
  });

  it('is not sent again after a lost response, until a person decides', async () => {
    const reference = randomUUID();
    await sandbox.addFault({ kind: 'reset', contains: reference, effect: true });
    const { status, headers, body } = await call('POST', '/users', requestFor(reference));
    expect({ status, registration: body.status, nextAttemptAt: body.nextAttemptAt }).toEqual({
      status: 202,
      registration: 'uncertain',
      nextAttemptAt: null,
    });
    expect(headers.get('retry-after')).toBeNull();
    expect((await call('POST', '/users', requestFor(reference))).body.id).toBe(body.id);

    const [effect] = await effectsOf(reference);
    const locationId = randomUUID();
    const user = `{"id":"${effect?.userId}","tenantReference":"${reference}","new":{},"gridLocations":[{"id":"${locationId}","ean":${EAN}}]}`;
    const resolved = await call('POST', `/registrations/${body.id}/resolve`, user);
    expect({ status: resolved.status, body: resolved.body }).toMatchObject({
      status: 200,
      body: { status: 'registered', userId: effect?.userId, lastError: null, stalled: null },
    });
    const registered = await call('POST', '/users', requestFor(reference));
    expect({ status: registered.status, body: registered.body }).toMatchObject({
      status: 200,
      body: { id: effect?.userId, gridLocations: [{ id: locationId, ean: EAN }] },
    });
    expect(await effectsOf(reference)).toHaveLength(1);
    const other = user.replace(effect!.userId, randomUUID());
    expect((await call('POST', `/registrations/${body.id}/resolve`, other)).body.code).toBe(
      'registration_conflict',
    );
  });

  it('is announced with its outcome, without an EAN or the text of the remote service', async () => {
    const [good, refused, lost] = [randomUUID(), randomUUID(), randomUUID()];
    await sandbox.addFault({
      kind: 'answer',
      contains: refused,
      status: 400,
      body: '{"message":"Mr Jones has no contract"}',
    });
    await sandbox.addFault({ kind: 'reset', contains: lost });
    for (const reference of [good, refused, lost]) await call('POST', '/users', requestFor(reference));
    const events = await service.database.query<{ name: string; data: object }>(
      `SELECT name, data FROM domain_events WHERE data ->> 'tenantReference' = ANY ($1) ORDER BY position`,
      [[good, refused, lost]],
    );
    expect(events.map(({ name }) => name)).toEqual([
      'user.registered',
      'user.registration_rejected',
      'user.registration_uncertain',
    ]);
    expect(JSON.stringify(events)).not.toMatch(new RegExp(`${EAN}|Jones`));
  });
});

describe('the lists', () => {
  it('filter users by reference and by EAN', async () => {
    const reference = randomUUID();
    const { body: user } = await call('POST', '/users', requestFor(reference, '999999999999999995'));
    expect((await call('GET', `/users?tenantReference=${reference}`)).body).toEqual({
      items: [readAs(user)],
      next: null,
    });
    expect((await call('GET', '/users?ean=999999999999999995')).body).toEqual({
      items: [readAs(user)],
      next: null,
    });
    expect((await call('GET', '/users?ean=999999999999999995&tenantReference=other')).body.items).toEqual([]);
  });

  it('filter users by metadata, of which all values must match', async () => {
    const campaign = randomUUID();
    const metadata = { campaign, size: 5, paid: true, 'a.b': 'c', nested: { campaign: 'x' }, none: null };
    const register = async (more: object) =>
      (await call('POST', '/users', { ...requestFor(), metadata: { ...metadata, ...more } })).body;
    const [one, two] = [
      await register({ size: '5' }),
      await register({ paid: 'true', campaign: [campaign] }),
    ];
    const three = await register({});
    const found = async (query: string) => {
      const { status, body } = await call('GET', `/users?${query}`);
      expect(status).toBe(200);
      return body.items.map(({ id }) => id);
    };
    expect(await found(`metadata.campaign=${campaign}`)).toEqual([three.id, one.id]);
    const all = 'metadata.size=5&metadata.paid=true&metadata.a.b=c&metadata.none=null';
    expect((await found(all)).slice(0, 3)).toEqual([three.id, two.id, one.id]);
    expect(await found(`${all}&metadata.campaign=${campaign}&limit=1`)).toEqual([three.id]);
    const { body: first } = await call('GET', `/users?metadata.campaign=${campaign}&limit=1`);
    expect(await found(`metadata.campaign=${campaign}&cursor=${first.next}`)).toEqual([one.id]);
    expect(await found(`metadata.campaign=${campaign}&tenantReference=${one.tenantReference}`)).toEqual([
      one.id,
    ]);
    for (const other of [
      'size=5.0',
      'size=6',
      'paid=True',
      'nested=x',
      'valueOf=x',
      'size=1e999999',
      'none=',
    ])
      expect(await found(`metadata.campaign=${campaign}&metadata.${other}`)).toEqual([]);
  });
});

describe('the check digit', () => {
  it('is not required by default', async () => {
    expect((await call('POST', '/users', requestFor(randomUUID(), WRONG))).status).toBe(201);
  });

  it('is required under EAN_CHECK_DIGIT=enforce', async () => {
    await withReplica(service, { EAN_CHECK_DIGIT: 'enforce' }, async (strict) => {
      const register = (...eans: string[]) =>
        TestClient.of(strict).call<Body>('POST', '/users', requestFor(randomUUID(), ...eans));
      const { status, body } = await register(EAN, WRONG);
      expect({ status, field: body.errors[0]?.field }).toEqual({
        status: 400,
        field: 'gridLocations[1].ean',
      });
      expect((await register(EAN)).status).toBe(201);
    });
  });
});

describe('the warnings of POST /users', () => {
  const warnedOf = async (tenantReference: string, ...eans: string[]) => {
    const { status, body } = await call('POST', '/users', requestFor(tenantReference, ...eans));
    return [status, ...body.warnings.map(({ field, code, message }) => `${field} ${code}: ${message}`)];
  };
  const elsewhere = (index: number, others: string) =>
    `gridLocations[${index}].ean ean_elsewhere: ${others} this EAN`;

  it('are empty if nothing is conspicuous', async () => {
    expect(await warnedOf(randomUUID(), newValidEan())).toEqual([201]);
  });

  it('name the EAN with a wrong check digit, also when the registration is repeated or waits', async () => {
    const warning =
      'gridLocations[1].ean ean_check_digit: does not end with its GS1 check digit; a digit is probably mistyped';
    const [reference, waiting] = [randomUUID(), randomUUID()];
    const wrong = newWrongEan();
    const eans = [newValidEan(), wrong];
    expect(await warnedOf(reference, ...eans)).toEqual([201, warning]);
    expect(await warnedOf(reference, ...eans)).toEqual([200, warning]);
    await sandbox.addFault({ kind: 'reset', contains: waiting });
    expect((await warnedOf(waiting, newValidEan(), wrong)).slice(0, 2)).toEqual([202, warning]);
  });

  it('say how many other references have an EAN, whether they wait or are registered, but not which', async () => {
    const [first, second, third] = ['elsewhere-1', 'elsewhere-2', 'elsewhere-3'];
    const [ean, own] = [newValidEan(), newValidEan()];
    expect(await warnedOf(first, ean)).toEqual([201]);
    await sandbox.addFault({ kind: 'reset', contains: second });
    expect(await warnedOf(second, ean)).toEqual([202, elsewhere(0, '1 other tenantReference has')]);
    const { status, text } = await call('POST', '/users', requestFor(third, own, ean));
    expect(status).toBe(201);
    expect(text).not.toMatch(/elsewhere-[12]/);
    const both = elsewhere(1, '2 other tenantReferences have');
    expect(await warnedOf(third, own, ean)).toEqual([200, both]);
    expect(await warnedOf(first, ean)).toEqual([200, elsewhere(0, '2 other tenantReferences have')]);
    await discard(second);
    expect(await warnedOf(first, ean)).toEqual([200, elsewhere(0, '1 other tenantReference has')]);
  });
});

describe('a tenantReference', () => {
  const ean = newValidEan();
  const codesOf = ({ body }: { body: Body }) => body.warnings.map(({ code }) => code);

  it('is one customer, however it is written, in requests and in filters', async () => {
    const id = randomUUID();
    const [given, stored] = [`\u00a0'Zoe\u0308-${id} `, `Zo\u00eb-${id}`];
    const first = await call('POST', '/users', requestFor(given, ean));
    expect([first.status, first.body.tenantReference, codesOf(first)]).toEqual([
      201,
      stored,
      ['reference_normalised'],
    ]);
    const again = await call('POST', '/users', requestFor(stored, ean));
    expect([again.status, again.body.id, codesOf(again)]).toEqual([200, first.body.id, []]);
    const filter = `tenantReference=${encodeURIComponent(given)}`;
    for (const path of ['/users', '/registrations', '/customers'])
      expect([path, (await call('GET', `${path}?${filter}`)).body.items.length]).toEqual([path, 1]);
    const { gridLocations } = first.body;
    const invitation = await call('POST', '/invitations', { tenantReference: given });
    expect(invitation.body).toMatchObject({ tenantReference: stored, gridLocationId: gridLocations[0]?.id });
    for (const path of ['/onboarding/pv', '/invitations'])
      expect((await call('GET', `${path}?${filter}`)).status).toBe(200);
    expect((await effectsOf(stored)).map(({ tenantReference }) => tenantReference)).toEqual([stored]);
  });

  it('has a warning if another one looks the same, and if it looks rounded', async () => {
    const id = randomUUID().slice(0, 8);
    const alike = [`C ${id}`, `C\u00a0${id}`, `\u0421 ${id.toUpperCase()}`];
    const codes = [];
    await sandbox.addFault({ kind: 'reset', contains: `c ${id}` });
    await call('POST', '/users', requestFor(`c ${id}`, newValidEan()));
    await discard(`c ${id}`);
    for (const reference of alike)
      codes.push(codesOf(await call('POST', '/users', requestFor(reference, newValidEan()))));
    expect(codes).toEqual([[], ['reference_alike'], ['reference_alike']]);
    const rounded = await call('POST', '/users', requestFor('400000123456789000', newValidEan()));
    expect([rounded.status, codesOf(rounded)]).toEqual([201, ['reference_rounded']]);
  });

  it.each(['a\u202eb', 'a\u200b', '\u3164', 'a\u2800b', '1.23E+11', '1,23E+11'])(
    'may not be %j, in requests and in filters',
    async (reference) => {
      const { status, body } = await call('POST', '/users', requestFor(reference, ean));
      expect([status, body.code, body.errors[0]?.field]).toEqual([400, 'invalid_request', 'tenantReference']);
      const filter = await call('GET', `/users?tenantReference=${encodeURIComponent(reference)}`);
      expect([filter.status, filter.body.errors[0]?.field]).toEqual([400, 'tenantReference']);
    },
  );
});

describe('a registration that cannot be sent yet', () => {
  it('returns 202 when the remote service accepts no requests, and is sent later', async () => {
    const reference = randomUUID();
    await sandbox.addFault({ kind: 'too_many_requests', contains: reference, times: null });
    // The wait does not depend on the clock of the process.
    shiftClock(-10 * 60_000);
    const { status, headers, body } = await call('POST', '/users', requestFor(reference, OTHER_EAN, EAN));
    jest.useRealTimers();
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/api/v1/registrations/${body.id}`);
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(headers.get('retry-after'))).toBeLessThan(300);
    expect(body).toEqual({
      object: 'registration',
      id: expect.stringMatching(UUID),
      tenantReference: reference,
      gridLocations: [{ ean: OTHER_EAN }, { ean: EAN }],
      status: 'pending',
      userId: null,
      attempts: 1,
      lastError: expect.any(String),
      nextAttemptAt: expect.stringMatching(INSTANT),
      metadata: {},
      stalled: null,
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: expect.stringMatching(INSTANT),
      sequence: expect.stringMatching(/^[0-9]{19}$/),
      warnings: expect.any(Array),
    });
    const again = await call('POST', '/users', requestFor(reference, OTHER_EAN, EAN));
    expect({ status: again.status, id: again.body.id }).toEqual({ status: 202, id: body.id });
    await sandbox.clearFaults();
    const sent = await waitFor('the registration is registered', async () => {
      const { body: registration } = await call('GET', `/registrations/${body.id}`);
      return registration.status === 'registered' && registration;
    });
    expect(sent).toMatchObject({ lastError: null, nextAttemptAt: null });
    expect((await call('POST', '/users', requestFor(reference, EAN, OTHER_EAN))).body.id).toBe(sent.userId);
    expect(await effectsOf(reference)).toHaveLength(1);
  });
});

it('a registration that a worker claims before the request that joins it is waited for', async () => {
  const registrations = service.app.get(RegistrationsStore);
  const claimingDue = jest.spyOn(registrations, 'claimDue').mockResolvedValue([]);
  jest.spyOn(registrations, 'claimOne').mockImplementationOnce(async () => {
    claimingDue.mockRestore();
    return null;
  });
  const due = { status: 'pending', next_attempt_at: 'now', eans: [EAN] };
  const { tenant_reference } = await insertRow(service.database.pool, 'registrations', due);
  const { status, body } = await call('POST', '/users', requestFor(String(tenant_reference)));
  expect([status, body.tenantReference]).toEqual([200, tenant_reference]);
});

describe('a registration whose outcome the database refuses for long', () => {
  it('is registered once the database takes it, although it has become uncertain meanwhile', async () => {
    const reference = randomUUID();
    const registrations = service.app.get(RegistrationsStore);
    const settle = registrations.settle.bind(registrations);
    let makeSpace = (): void => {};
    const space = new Promise<void>((resolve) => (makeSpace = resolve));
    const refusing = jest.spyOn(registrations, 'settle').mockImplementation(async (...args) => {
      const [{ tenantReference }, , withinMs = 0] = args;
      if (tenantReference !== reference) return settle(...args);
      // Without its text, the outcome is tried once, and with it at first for as long as a request waits.
      if (withinMs === 0) throw Object.assign(new Error('could not extend file'), { code: '53100' });
      await space;
      return settle(...args);
    });
    const { body } = await call('POST', '/users', requestFor(reference));
    const database = service.database;
    await database.query(
      `UPDATE registrations SET lease_until = clock_timestamp() - interval '1 ms' WHERE tenant_reference = $1 AND lease_until IS NOT NULL`,
      [reference],
    );
    const statusBecomes = (status: string) =>
      waitFor(`the registration is ${status}`, async () => {
        const { body: registration } = await call('GET', `/registrations/${body.id}`);
        return registration.status === status && registration;
      });
    await statusBecomes('uncertain');
    makeSpace();
    expect(await statusBecomes('registered')).toMatchObject({ lastError: null, attempts: 1 });
    refusing.mockRestore();
    expect(await effectsOf(reference)).toHaveLength(1);
  });
});
