import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { CaseView, CustomerView, ListedCustomerView } from '../../../src/customers/case.view.js';
import type { FunnelView } from '../../../src/invitations/funnel.view.js';
import { Brands } from '../../../src/invitations/brands.service.js';
import type { InverterBrand } from '../../../src/platform/env/brand-files.js';
import { Database } from '../../../src/platform/database/database.js';
import { useFolder } from '../../setup/folder.js';
import { TestClient, type UserAnswer } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { insertRow } from '../../db/valid-rows.js';
import { createKey } from '../keys.js';
import { withReplica } from '../replica.js';

const DAY_MS = 86_400_000;

const service = useTestApp();
const client = TestClient.of(service);

const caseOf = async (id: string) => (await client.call<CaseView>('GET', `/grid-locations/${id}/case`)).body;
const customersBy = (parameters: Record<string, string>, by = client) =>
  by.call<{ items: CustomerView[] }>('GET', `/customers?${new URLSearchParams(parameters).toString()}`);
const list = (parameters: Record<string, string>) =>
  client.call<{ items: ListedCustomerView[]; next: string | null }>(
    'GET',
    `/customers?${new URLSearchParams(parameters).toString()}`,
  );
const register = async (eans: readonly string[], tenantReference: string = randomUUID()) =>
  (
    await client.call<UserAnswer>('POST', '/users', {
      tenantReference,
      gridLocations: eans.map((ean) => ({ ean })),
    })
  ).body;
const invite = async (input: object) =>
  (await client.call<{ id: string; url: string; state: string }>('POST', '/invitations', input)).body;
const click = async (url: string) => (await fetch(url, { method: 'POST', redirect: 'manual' })).status;

afterEach(() => service.sandbox!.control.clearFaults());

describe('the case of a grid location', () => {
  it('says at each step whom it waits for, until all of it is online', async () => {
    const { control } = service.sandbox!;
    const gridLocationId = await client.locate();
    const waits = async () => {
      const { waitsFor, why } = await caseOf(gridLocationId);
      return [waitsFor, why] as const;
    };
    expect(await waits()).toEqual(['tenant', 'Nothing is open, and the owner has no valid invitation.']);
    const { remedies } = await caseOf(gridLocationId);
    expect(remedies).toMatchObject([
      {
        operationId: 'createInvitation',
        method: 'POST',
        path: '/api/v1/invitations',
        body: { gridLocationId },
      },
    ]);
    const brands = ['acme', 'sunward'];
    const { url } = await invite({ gridLocationId, brands, expected: { inverters: 3 } });
    expect(await waits()).toEqual(['owner', expect.stringContaining('has not opened the page')]);
    await fetch(`${url}?opened=1`, { method: 'POST' });
    expect(await waits()).toEqual(['owner', expect.stringContaining('has not started a session of acme')]);
    expect(await click(`${url}?brand=acme`)).toBe(303);
    expect(await waits()).toEqual(['owner', expect.stringContaining('has not finished the web flow')]);
    const acme = (await caseOf(gridLocationId)).sessions[0]!;
    expect(acme).toMatchObject({ brand: 'acme', state: 'awaiting_owner', supersededAt: null });
    await control.complete(acme.id, { onlineAfterMs: null });
    // Reads the session of the first brand, because the case names only the second brand, which waits for the owner.
    await waitFor('acme to be done', async () =>
      (await caseOf(gridLocationId)).sessions.some(({ state }) => state === 'awaiting_installation'),
    );
    expect(await waits()).toEqual(['owner', expect.stringContaining('has not started a session of sunward')]);
    expect(await click(`${url}?brand=sunward`)).toBe(303);
    const sunward = (await caseOf(gridLocationId)).sessions[0]!;
    await control.complete(sunward.id, { onlineAfterMs: null });
    await waitFor('the installation', async () => (await waits())[0] === 'installation');
    await control.online(acme.id, { inverters: 1 });
    const half = await waitFor('acme', async () => {
      const each = await caseOf(gridLocationId);
      return each.online.inverters === 1 && each;
    });
    expect(half).toMatchObject({
      waitsFor: 'installation',
      why: expect.stringContaining('the web flow of sunward'),
      expected: { brands, inverters: 3 },
      online: { brands: ['acme'], inverters: 1 },
      missing: { brands: ['sunward'], inverters: 2 },
    });
    await control.online(sunward.id, { inverters: 1 });
    await waitFor('sunward', async () => (await waits())[1].startsWith('2 of 3 inverters are online.'));
    await control.online(sunward.id, { inverters: 1 });
    const done = await waitFor('nobody', async () => {
      const each = await caseOf(gridLocationId);
      return each.waitsFor === 'nobody' && each;
    });
    expect(done).toMatchObject({
      why: 'All is online: 3 of 3 inverters are online.',
      missing: { brands: [], inverters: 0 },
      starts: [{ brand: 'sunward' }, { brand: 'acme' }],
      invitations: [{ brands, expected: { inverters: 3 } }],
    });
  });

  it('names brands as people know them, beside their ids', async () => {
    const all = service.app.get(Brands).all as Map<string, InverterBrand>;
    all.set('sun-w', { name: 'SunWard Solar' });
    const gridLocationId = await client.locate();
    const { url } = await invite({ gridLocationId, brands: ['sun-w', 'acme'] });
    await click(`${url}?brand=sun-w`);
    const brandNames = [
      { id: 'acme', name: 'acme' },
      { id: 'sun-w', name: 'SunWard Solar' },
    ];
    const found = await caseOf(gridLocationId);
    expect(found).toMatchObject({ brandNames, why: expect.stringMatching(/SunWard Solar|acme/) });
    expect(found.why).not.toContain('sun-w');
    const [customer] = (await list({ limit: '1' })).body.items;
    expect(customer).toMatchObject({ brands: ['sun-w', 'acme'], brandNames });
    all.delete('sun-w');
  });

  it('names the error of a start that failed', async () => {
    const gridLocationId = await client.locate();
    await service.sandbox!.control.addFault({ kind: 'answer', operation: 'start_session', status: 422 });
    expect((await client.start(gridLocationId)).status).toBe(422);
    expect(await caseOf(gridLocationId)).toMatchObject({
      waitsFor: 'tenant',
      why: expect.stringContaining('rejected it with status 422'),
      starts: [{ status: 'failed' }],
    });
  });

  it('shows no link, and the EAN to keys with users:read only', async () => {
    const tenantReference = randomUUID();
    const gridLocationId = await client.locate(tenantReference);
    const { url } = await invite({ gridLocationId });
    const { body: session } = await client.start(gridLocationId);
    const seen = await client.call<CaseView>('GET', `/grid-locations/${gridLocationId}/case`);
    const customers = await customersBy({ tenantReference });
    for (const { text } of [seen, customers]) {
      expect(text).toContain(session.id);
      expect(text).not.toMatch(/startUrl"|"url"|[cC]iphertext|token/);
      for (const secret of [url.split('/').at(-1)!, session.startUrl!]) expect(text).not.toContain(secret);
    }
    expect(seen.body.ean).toMatch(/^\d{18}$/);
    const { app: reader } = await createKey(client, 'onboarding:read');
    const path = `/grid-locations/${gridLocationId}/case`;
    expect(await reader.call('GET', path)).toMatchObject({ status: 200, body: { ean: null } });
    expect((await (await createKey(client, 'users:read')).app.call('GET', path)).status).toBe(403);
  });

  it('is not found if the location is unknown or its user is erased, and refused if it is no id', async () => {
    const tenantReference = randomUUID();
    const { id, gridLocations } = await register([newEan()], tenantReference);
    await client.call('DELETE', `/users/${id}`);
    for (const [place, status] of [
      [gridLocations[0]!.id, 404],
      [randomUUID(), 404],
      ['here', 400],
    ] as const)
      expect((await client.call('GET', `/grid-locations/${place}/case`)).status).toBe(status);
    expect((await customersBy({ tenantReference })).status).toBe(404);
  });
});

describe('a customer', () => {
  it('is found by reference and by EAN, with a case for each location', async () => {
    const [tenantReference, eans] = [randomUUID(), [newEan(), newEan()].sort()];
    const user = await register(eans, tenantReference);
    await invite({ gridLocationId: user.gridLocations[1]!.id });
    const { body } = await customersBy({ tenantReference });
    expect(body.items).toMatchObject([
      {
        tenantReference,
        waitsFor: 'tenant',
        why: expect.stringMatching(/^2 of 2 grid locations wait/),
        registration: { status: 'registered', userId: user.id },
        user: { id: user.id },
        cases: [
          { ean: eans[0], waitsFor: 'tenant' },
          { ean: eans[1], waitsFor: 'owner' },
        ],
      },
    ]);
    for (const ean of eans)
      expect((await customersBy({ ean })).body).toEqual((await customersBy({ tenantReference })).body);
    const neighbour = await register([eans[0]!]);
    const { items } = (await customersBy({ ean: eans[0]! })).body;
    expect(items.map((each) => each.tenantReference)).toEqual(
      [tenantReference, neighbour.tenantReference].sort(),
    );
  });

  it('is found while its registration is uncertain, with what a person decides', async () => {
    const [tenantReference, ean] = [randomUUID(), newEan()];
    const fault = { kind: 'reset', operation: 'register_user', effect: true, times: 1 } as const;
    await service.sandbox!.control.addFault(fault);
    await register([ean], tenantReference);
    for (const by of [{ tenantReference }, { ean }] as Record<string, string>[]) {
      const [item] = (await customersBy(by)).body.items;
      expect(item).toMatchObject({
        waitsFor: 'tenant',
        user: null,
        cases: [],
        registration: { status: 'uncertain' },
      });
      const { path } = item!.remedies.find(({ operationId }) => operationId === 'resolveRegistration')!;
      expect(path).toBe(`/api/v1/registrations/${item!.registration!.id}/resolve`);
      expect(item!.stalled).toEqual(item!.registration!.stalled);
      expect(item!.since).toBe(item!.stalled!.since);
    }
  });

  it('has its latest registration, or that which lives, and the campaign of that', async () => {
    const campaign_id = (await insertRow<{ id: string }>(service.database.pool, 'campaigns', {})).id;
    const insert = (tenant_reference: string, status: string, created_at: string) =>
      insertRow<{ id: string }>(service.database.pool, 'registrations', {
        ...{ tenant_reference, status, created_at, ...(status === 'uncertain' && { campaign_id }) },
      });
    for (const [first, last, isLive] of [
      ['rejected', 'discarded', false],
      ['uncertain', 'rejected', true],
    ] as const) {
      const tenantReference = randomUUID();
      const one = await insert(tenantReference, first, '2026-01-01');
      const other = await insert(tenantReference, last, '2026-01-02');
      const { items } = (await customersBy({ tenantReference })).body;
      const registration = { id: (isLive ? one : other).id };
      expect(items).toMatchObject([{ registration, campaignId: isLive ? campaign_id : null }]);
    }
  });

  it.each([
    [
      { tenantReference: 'a', ean: '541448820044186577' },
      'tenantReference',
      'and `ean` must not both be given',
    ],
    [
      { tenantReference: 'a', brand: 'acme' },
      'brand',
      'is for the list, without `tenantReference` and `ean`',
    ],
    [{ ean: '54144882004418657' }, 'ean', 'must have 18 digits, not 17'],
    [{ tenantReference: ' ' }, 'tenantReference', 'must have 1 to 200 characters, not 0'],
    [{ reference: 'a' }, 'reference', 'is not known here'],
  ])('is refused by %j', async (parameters, field, message) => {
    const { status, body } = await customersBy(parameters);
    expect([status, body]).toEqual([400, expect.objectContaining({ errors: [{ field, message }] })]);
  });

  it('is not found if nothing is known, without a repetition of what was given', async () => {
    const ean = newEan();
    const { status, text } = await customersBy({ ean });
    expect(status).toBe(404);
    expect(text).not.toContain(ean);
  });

  it('needs a key with users:read and onboarding:read', async () => {
    const tenantReference = randomUUID();
    await client.locate(tenantReference);
    for (const scope of ['users:read', 'onboarding:read'] as const) {
      const { app } = await createKey(client, scope);
      expect((await customersBy({ tenantReference }, app)).status).toBe(403);
    }
    const { app: reader } = await createKey(client, 'users:read', 'onboarding:read');
    expect((await customersBy({ tenantReference }, reader)).status).toBe(200);
    expect((await customersBy({}, reader)).status).toBe(200);
    const { app: writer } = await createKey(client, 'users:read', 'onboarding:write');
    expect((await customersBy({}, writer)).status).toBe(403);
  });

  it('is in the list once, the newest first, with the answer of its own cases', async () => {
    const { control } = service.sandbox!;
    const refuse = (status: number) =>
      control.addFault({ kind: 'answer', operation: 'register_user', status, times: 1 });
    const references = Array.from({ length: 5 }, () => randomUUID());
    const [invited, refused, given, lost, two] = references as [string, string, string, string, string];
    await invite({
      gridLocationId: (await register([newEan()], invited)).gridLocations[0]!.id,
      brands: ['acme'],
    });
    const ean = newEan();
    for (let nth = 0; nth < 2; nth++) {
      await refuse(422);
      await register([ean], refused);
    }
    await control.addFault({ kind: 'reset', operation: 'register_user', effect: true, times: 2 });
    // The two answers about a customer are compared, so no stall must be raised or cleared between them.
    const isStalled = (tenantReference: string, expected: boolean) =>
      waitFor('the stall', async () => {
        const { stalled } = (await customersBy({ tenantReference })).body.items[0]!;
        return (stalled !== null) === expected;
      });
    const { id } = (await register([newEan()], given)) as { readonly id: string };
    await isStalled(given, true);
    expect((await client.call('POST', `/registrations/${id}/discard`)).status).toBe(200);
    await isStalled(given, false);
    await register([newEan()], lost);
    const { gridLocations } = await register([newEan(), newEan()], two);
    await client.start(gridLocations[0]!.id, { brand: 'sunward' });
    for (const tenantReference of [refused, lost]) await isStalled(tenantReference, true);
    const items: ListedCustomerView[] = [];
    for (let cursor = {}; items.length < references.length;) {
      const { body } = await list({ limit: '2', ...cursor });
      items.push(...body.items);
      cursor = { cursor: body.next! };
    }
    expect(items.slice(0, 5).map((each) => each.tenantReference)).toEqual(references.toReversed());
    for (const [nth, item] of items.slice(0, 5).entries()) {
      const [customer] = (await customersBy({ tenantReference: references.toReversed()[nth]! })).body.items;
      const { registration, user, cases, ...waits } = customer!;
      expect(item).toMatchObject(waits);
      const ofRegistration = [registration!.id, registration!.createdAt];
      expect([item.registrationId, item.createdAt]).toEqual(ofRegistration);
      expect(item.userId).toBe(user?.id ?? null);
      const places = cases.map((each) => ({ id: each.gridLocationId, ean: each.ean }));
      const wanted = registration!.gridLocations.map((each) => ({ id: null, ean: each.ean }));
      expect(item.gridLocations).toEqual(user === null ? wanted : places);
    }
    expect(items[0]).toMatchObject({ brands: ['sunward'], campaignId: null });
    expect(items[4]).toMatchObject({ brands: ['acme'], waitsFor: 'owner' });
    await client.call('DELETE', `/users/${items[0]!.userId}`);
    expect((await list({ limit: '1' })).body.items).toMatchObject([{ tenantReference: lost }]);
  });

  it('is read with as many statements as one location needs, however many it has', async () => {
    const query = jest.spyOn(service.database, 'query');
    const isOfCase = ([statement]: Parameters<Database['query']>) =>
      /tenant_reference = ANY|unnest\(\$1::uuid\[\]\) AS place|g\.user_id = ANY/.test(
        typeof statement === 'string' ? statement : statement.text,
      );
    const statementsFor = async (locations: number) => {
      const { tenantReference, gridLocations } = await register(Array.from({ length: locations }, newEan));
      for (const { id } of gridLocations) {
        await client.start(id);
        await invite({ gridLocationId: id });
      }
      query.mockClear();
      const { cases } = (await customersBy({ tenantReference })).body.items[0]!;
      const counts = cases.map((each) => [each.sessions.length, each.starts.length, each.invitations.length]);
      expect(counts).toEqual(Array(locations).fill([1, 1, 1]));
      return query.mock.calls.filter(isOfCase).length;
    };
    expect([await statementsFor(1), await statementsFor(5)]).toEqual([6, 6]);
    query.mockClear();
    expect((await list({ limit: '200' })).body.items.length).toBeGreaterThan(5);
    expect(query.mock.calls.filter(isOfCase)).toHaveLength(6);
    query.mockRestore();
  });
});

describe('a search', () => {
  interface Hit {
    readonly kind: string;
    readonly id: string;
    readonly label: string;
  }
  const search = async (q: string, by = client) =>
    (await by.call<{ items: Hit[] }>('POST', '/search', { q })).body.items;
  const idsOf = (hits: readonly Hit[]) => hits.map(({ kind, id }) => `${kind} ${id}`);

  it('finds a customer by the beginning of its reference in any case, its EAN and its ids, with anything around them', async () => {
    const ean = newEan();
    const user = await register([ean], `Zoek_${randomUUID()}`);
    await register([newEan()], `zoekx${randomUUID()}`);
    const place = user.gridLocations[0]!.id;
    const spaced = ean.replace(/(.{4})/g, '$1 ');
    for (const q of [
      'zoek_',
      'ZOEK_',
      user.tenantReference,
      `EAN: ${spaced}(meter)`,
      `="${ean}"`,
      `"${user.id}"`,
      place,
    ])
      expect([q, idsOf(await search(q))]).toEqual([q, [`customer ${user.id}`]]);
    expect(await search('zoek%')).toEqual([]);
    const reference = `given-up-${randomUUID()}`;
    const { id } = await insertRow<{ id: string }>(service.database.pool, 'registrations', {
      tenant_reference: reference,
      status: 'discarded',
    });
    expect(idsOf(await search(reference))).toEqual([`registration ${id}`]);
    expect(await search(' \u200e ')).toEqual([]);
  });

  it('finds an invitation by its id, its link and words of its metadata, and campaigns by their names', async () => {
    const gridLocationId = await client.locate();
    const { id, url } = await invite({
      gridLocationId,
      metadata: { label: 'Hoeve Zonnebloem', floor: 17_431 },
    });
    for (const q of [id, `<${url}>`, `See ${url}?utm=1`, 'zonnebloem', 'ZONNEBLOEM hoeve', '17431'])
      expect([q, idsOf(await search(q))]).toEqual([q, [`invitation ${id}`]]);
    expect(await search('zonneb')).toEqual([]);
    expect(await search(id)).toMatchObject([{ label: 'Hoeve Zonnebloem' }]);
    const { id: campaign } = await insertRow<{ id: string }>(service.database.pool, 'campaigns', {
      name: 'Lente 2027',
    });
    expect(idsOf(await search('lente'))).toEqual([`campaign ${campaign}`]);
  });

  it('shows a key the kinds that it may read, and nothing of an erased user', async () => {
    const metadata = { label: 'Verbrandehoeve' };
    const ean = newEan();
    const user = await register([ean], `searched-${randomUUID()}`);
    const place = user.gridLocations[0]!.id;
    const { id, url } = await invite({ gridLocationId: place, metadata });
    const session = (await client.start(place)).body.id;
    const inverter = randomUUID();
    await insertRow(service.database.pool, 'inverters', { session_id: session, id: inverter });
    const [{ app: users }, { app: onboarding }, { app: hooks }] = await Promise.all([
      createKey(client, 'users:read'),
      createKey(client, 'onboarding:read'),
      createKey(client, 'webhooks:manage'),
    ]);
    expect(await search('verbrandehoeve', users)).toEqual([]);
    expect(await search(user.tenantReference, onboarding)).toEqual([]);
    expect(idsOf(await search('verbrandehoeve', onboarding))).toEqual([`invitation ${id}`]);
    expect((await hooks.call('POST', '/search', { q: 'x' })).status).toBe(403);
    const all = ['verbrandehoeve', id, url, user.tenantReference, user.id, ean, place, session, inverter];
    for (const q of all) expect([q, (await search(q)).length]).toEqual([q, 1]);
    await client.call('DELETE', `/users/${user.id}`);
    for (const q of all) expect([q, await search(q)]).toEqual([q, []]);
  });

  it('finds what is open of a registration, what was given up by its whole reference, and sessions and campaigns by their ids', async () => {
    const prefix = `undecided-${randomUUID()}`;
    const ids = new Map<string, string>();
    const ean = newEan();
    for (const status of ['uncertain', 'rejected', 'discarded'])
      ids.set(
        status,
        (
          await insertRow<{ id: string }>(service.database.pool, 'registrations', {
            ...{ tenant_reference: `${prefix}-${status}`, status, eans: [newEan(), ean] },
          })
        ).id,
      );
    const hits = (...statuses: string[]) =>
      statuses.map((status) => `registration ${ids.get(status)!}`).sort();
    const found = async (q: string) => idsOf(await search(q)).sort();
    for (const q of [prefix, prefix.toUpperCase(), ean])
      expect(await found(q)).toEqual(hits('uncertain', 'rejected'));
    for (const status of ids.keys()) {
      expect(await found(ids.get(status)!)).toEqual(hits(status));
      expect(await found(`${prefix}-${status}`)).toEqual(hits(status));
    }
    const session = await client.startNew();
    expect(await search(session.id)).toMatchObject([
      { kind: 'session', id: session.id, label: session.state },
    ]);
    const inverterId = randomUUID();
    await insertRow(service.database.pool, 'inverters', { session_id: session.id, id: inverterId });
    expect(idsOf(await search(inverterId))).toEqual([`customer ${session.userId}`]);
    const name = `Herfst ${randomUUID()}`;
    const campaigns = [];
    for (const createdAt of ['2026-01-02', '2026-01-03', '2026-01-01'])
      campaigns.push(
        await insertRow<{ id: string }>(service.database.pool, 'campaigns', {
          name: `de ${name}`,
          created_at: createdAt,
        }),
      );
    const [second, newest, oldest] = campaigns.map(({ id }) => `campaign ${id}`);
    expect(idsOf(await search(name.toLowerCase()))).toEqual([newest, second, oldest]);
    const { id: unnamed } = await insertRow<{ id: string }>(service.database.pool, 'campaigns', {
      name: null,
    });
    expect(await search(unnamed)).toMatchObject([{ kind: 'campaign', id: unnamed, label: unnamed }]);
  });

  it('has at most 20 hits of a kind', async () => {
    const prefix = `many-${randomUUID()}`;
    for (let nth = 0; nth < 21; nth++) await register([newEan()], `${prefix}-${nth}`);
    expect(await search(prefix)).toHaveLength(20);
  });
});

describe('the funnel', () => {
  const inviteFor = (gridLocationId: string, brand: string) => invite({ gridLocationId, brands: [brand] });
  const goOnline = async (gridLocationId: string, brand: string) => {
    const { body: session } = await client.start(gridLocationId, { brand });
    await service.sandbox!.control.complete(session.id, { onlineAfterMs: 0 });
    await client.untilState(session.id, 'online');
  };
  const funnelOf = async (key: string, query = '') => {
    const items = await client.list<FunnelView>(`/funnel?by=brand${query}`);
    return items.find((item) => item.key === key);
  };

  it('has no time to online of a location that was online before its owner was invited', async () => {
    const [before, after] = [await client.locate(), await client.locate()];
    await goOnline(before, 'quick');
    expect((await inviteFor(before, 'quick')).state).toBe('online');
    expect(await funnelOf('quick')).toMatchObject({
      online: 1,
      medianSecondsToOnline: null,
      p95SecondsToOnline: null,
      medianSecondsFromDone: null,
    });
    await inviteFor(after, 'quick');
    await goOnline(after, 'quick');
    const both = await waitFor('both to be counted', async () => {
      const counted = await funnelOf('quick');
      return counted?.online === 2 && counted;
    });
    expect(both.medianSecondsToOnline).toBeGreaterThan(0);
    expect(both.p95SecondsToOnline).toBe(both.medianSecondsToOnline);
  });

  it('counts each step of a period, by day, by each of several brands and by campaign', async () => {
    const campaign = (await insertRow<{ id: string }>(service.database.pool, 'campaigns', {})).id;
    const start = Date.parse('2001-02-03T00:00:00Z');
    const at = (seconds: number) => new Date(start + seconds * 1_000);
    const insert = async (createdAt: number, steps: Readonly<Record<string, number | string | null>>) => {
      const grid_location_id = await client.locate();
      const times = Object.entries(steps).map(([name, step]) => [
        name,
        typeof step === 'number' ? at(step) : step,
      ]);
      await insertRow(service.database.pool, 'invitations', {
        ...{
          grid_location_id,
          brands: ['fun-a', 'fun-b'],
          created_at: at(createdAt),
          expires_at: at(9_999_999_999),
        },
        ...(Object.fromEntries(times) as object),
      });
    };
    const begun = { sent_at: 1, opened_at: 2, started_at: 3 };
    const [done, online] = [
      { ...begun, owner_done_at: 4 },
      (seconds: number) => ({ online_at: seconds, expired_at: null }),
    ];
    for (const seconds of [10, 20, 40])
      await insert(0, { ...done, ...online(seconds), campaign_id: campaign });
    await insert(86_399, { ...begun, owner_done_at: 86_400, campaign_id: campaign });
    await insert(1, begun);
    await insert(2, { sent_at: 3, opened_at: 4 });
    await insert(3, { sent_at: 4, expired_at: 5 });
    await insert(4, { declined_at: 5, opened_at: 5 });
    await insert(5, { opened_at: 6 });
    // Its owner was done before the invitation, so no time counts from it.
    await insert(6, { ...begun, owner_done_at: 6, ...online(7) });
    for (const outside of [-1, 86_400]) await insert(outside, begun);
    const counted = {
      object: 'funnel_row',
      ...{ invited: 10, sent: 8, opened: 9, started: 6, ownerDone: 5, online: 4, expired: 1, declined: 1 },
      failedStarts: 0,
      ...{ medianSecondsToOnline: 20, p95SecondsToOnline: 40 },
      ...{ medianSecondsFromDone: 16, p95SecondsFromDone: 36 },
    };
    const period = `from=${at(0).toISOString()}&to=${at(86_400).toISOString()}`;
    const itemsOf = async (by: string) =>
      (await client.call<{ items: FunnelView[] }>('GET', `/funnel?by=${by}&${period}`)).body.items;
    expect(await itemsOf('day')).toEqual([{ key: '2001-02-03', ...counted }]);
    const view = `SELECT json_build_array(invited, sent, opened, started, owner_done, online, expired, declined, median_to_online, p95_to_online)
        AS counted FROM admin.funnel WHERE day = '2001-02-03'`;
    expect(await service.database.query(view)).toEqual([
      { counted: [10, 8, 9, 6, 5, 4, 1, 1, '00:00:20', '00:00:40'] },
    ]);
    expect(await itemsOf('brand')).toEqual(['fun-a', 'fun-b'].map((key) => ({ key, ...counted })));
    expect((await itemsOf('campaign')).map(({ key, invited, online }) => [key, invited, online])).toEqual([
      [campaign, 4, 3],
      [null, 6, 1],
    ]);
  });

  it('counts the starts that failed, also of a brand to which nobody was invited', async () => {
    const campaign_id = (await insertRow<{ id: string }>(service.database.pool, 'campaigns', {})).id;
    const [grid_location_id, from] = [await client.locate(), '2002-03-04T00:00:00Z'];
    await insertRow(service.database.pool, 'invitations', {
      ...{ grid_location_id, campaign_id, brands: ['fails-a'], created_at: new Date(from) },
      expires_at: new Date('9999-01-01T00:00:00Z'),
    });
    const start = { grid_location_id, lease_token: randomUUID(), lease_until: new Date(from) };
    for (const [brand, status, created_at] of [
      ['fails-a', 'failed', from],
      ['fails-b', 'failed', from],
      ['fails-b', 'failed', '2002-03-04T23:00:00Z'],
      ['fails-b', 'sending', from],
      ['fails-b', 'failed', '2002-03-05T00:00:00Z'],
    ] as const)
      await insertRow(service.database.pool, 'session_starts', {
        ...{ ...start, brand, status, created_at: new Date(created_at) },
      });
    const read = async (by: string) => {
      const path = `/funnel?by=${by}&from=${from}&to=2002-03-05T00:00:00Z`;
      const { items } = (await client.call<{ items: FunnelView[] }>('GET', path)).body;
      return items.map(({ key, invited, failedStarts }) => [key, invited, failedStarts]);
    };
    expect(await read('day')).toEqual([['2002-03-04', 1, 3]]);
    expect(await read('brand')).toEqual([
      ['fails-a', 1, 1],
      ['fails-b', 0, 2],
    ]);
    expect(await read('campaign')).toEqual([[campaign_id, 1, 3]]);
  });

  it('begins with a whole day in UTC', async () => {
    const { id } = await inviteFor(await client.locate(), 'thirty days ago');
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const createAt = (ms: number) =>
      service.database.query('UPDATE invitations SET created_at = $2 WHERE id = $1', [id, new Date(ms)]);
    await createAt(today - 30 * DAY_MS);
    expect(await funnelOf('thirty days ago')).toMatchObject({ invited: 1 });
    await createAt(today - 30 * DAY_MS - 1);
    expect(await funnelOf('thirty days ago')).toBeUndefined();
    const to = new Date(today - 1).toISOString();
    expect(await funnelOf('thirty days ago', `&to=${to}`)).toMatchObject({ invited: 1 });
  });

  it('is refused for a period that ends before it begins', async () => {
    const at = '2026-06-01T00:00:00Z';
    for (const query of [`from=${at}&to=${at}`, `from=9999-01-01T00:00:00Z`])
      expect((await client.call('GET', `/funnel?${query}`)).body).toMatchObject({
        code: 'invalid_request',
        errors: [{ field: 'from', message: 'must be before `to`' }],
      });
  });
});

describe('the brands', () => {
  const folder = useFolder();

  it('have the names and the order of INVERTER_BRANDS_FILE, then come those of sessions, each once', async () => {
    for (const brand of ['yonder', 'acme', 'yonder']) await client.startNew({ brand });
    const items = await client.list<{ id: string; name: string }>('/brands');
    const others = items.map(({ id }) => id);
    expect(others).toEqual([...new Set(others)].sort());
    expect(others).toEqual(expect.arrayContaining(['acme', 'yonder']));
    const INVERTER_BRANDS_FILE = join(folder, 'brands.json');
    const file = { zeta: { name: 'Zeta Solar' }, acme: { name: 'Acme', en: { account: 'An account.' } } };
    await writeFile(INVERTER_BRANDS_FILE, JSON.stringify(file));
    const helpdesk = await createKey(client, 'invitations:write');
    const stranger = await createKey(client, 'webhooks:manage');
    await withReplica(service, { ROLE: 'api', INVERTER_BRANDS_FILE }, async ({ url }) => {
      const listed = await new TestClient(url, helpdesk.key).call('GET', '/brands');
      const items = [
        { id: 'zeta', name: 'Zeta Solar' },
        { id: 'acme', name: 'Acme' },
        ...others.filter((id) => id !== 'acme' && id !== 'zeta').map((id) => ({ id, name: id })),
      ];
      expect(listed.body).toEqual({ items: items.map((brand) => ({ object: 'brand', ...brand })) });
      expect((await new TestClient(url, stranger.key).call('GET', '/brands')).status).toBe(403);
    });
  });
});
