import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ReadHabits } from '../../../src/onboarding/poll/habits.service.js';
import { newEan } from '../../setup/ean.js';
import { TestClient, type UserAnswer } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';

const service = useTestApp({ POLL_MIN_INTERVAL_MS: 50, POLL_TICK_MS: 50 });
const client = TestClient.of(service);

interface Invitation {
  readonly id: string;
  readonly url: string;
  readonly state: string;
  readonly [field: string]: unknown;
}

const invite = async (input: object = {}) =>
  (await client.call<Invitation>('POST', '/invitations', { gridLocationId: await client.locate(), ...input }))
    .body;
const read = async (id: string) => (await client.call<Invitation>('GET', `/invitations/${id}`)).body;

const open = (url: string, headers: Record<string, string> = { 'accept-language': 'en' }) =>
  fetch(url, { headers, redirect: 'manual' });
const click = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', headers, redirect: 'manual' });
const textOf = async (response: Response) => (await response.text()).replace(/\s+/g, ' ');

afterEach(() => service.sandbox!.control.clearFaults());

describe('an invitation', () => {
  it('is created once for a location, with a link that is shown to keys with links:read only', async () => {
    const gridLocationId = await client.locate();
    const wanted = {
      gridLocationId,
      brands: ['acme'],
      locale: 'nl',
      expected: { inverters: 2 },
      metadata: { label: 'Barn' },
    };
    const first = await client.call<Invitation>('POST', '/invitations', wanted);
    expect(first.status).toBe(201);
    expect(first.headers.get('location')).toBe(`/api/v1/invitations/${first.body.id}`);
    expect(first.body).toMatchObject({ ...wanted, state: 'invited', openedAt: null, campaignId: null });
    expect(first.body.url).toMatch(new RegExp(`^${service.url}/i/[\\w-]{43}$`));
    const second = await client.call<Invitation>('POST', '/invitations', { gridLocationId });
    expect(second).toMatchObject({ status: 200, body: { id: first.body.id, url: first.body.url } });
    const { app: reader } = await createKey(client, 'onboarding:read');
    expect((await reader.call<Invitation>('GET', `/invitations/${first.body.id}`)).body.url).toBeNull();
    const { body } = await client.call<{ items: Invitation[] }>(
      'GET',
      `/invitations?gridLocationId=${gridLocationId}`,
    );
    expect(body.items.map(({ id }) => id)).toEqual([first.body.id]);
  });

  it('is created by the reference of a user with one location', async () => {
    const tenantReference = randomUUID();
    const gridLocationId = await client.locate(tenantReference);
    const { status, body } = await client.call<Invitation>('POST', '/invitations', { tenantReference });
    expect([status, body.gridLocationId]).toEqual([201, gridLocationId]);
    const several = randomUUID();
    await client.call<UserAnswer>('POST', '/users', {
      tenantReference: several,
      gridLocations: [{ ean: newEan() }, { ean: newEan() }],
    });
    const refused = await client.call('POST', '/invitations', { tenantReference: several });
    expect(refused.body).toMatchObject({
      code: 'invalid_request',
      errors: [{ field: 'tenantReference', message: 'has 2 grid locations: give `gridLocationId`' }],
    });
  });

  it.each([
    ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['expiresAt', { expiresAt: 'soon' }],
    ['locale', { locale: 'xx' }],
    ['brands', { brands: Array.from({ length: 1_000 }, (_, index) => `brand-${index}`) }],
    ['brands', { brands: ['acme', 'acme'] }],
    ['expected', { expected: { inverters: 0 } }],
    ['returnUrl', { returnUrl: 'https://elsewhere.example/' }],
    ['returnUrl', { returnUrl: 'javascript:alert(1)' }],
    ['gridLocationId', { tenantReference: 'also' }],
    ['email', { email: 'a@example.com' }],
  ])('is refused for a bad %s', async (field, input) => {
    const gridLocationId = await client.locate();
    const { status, body } = await client.call<{ errors: { field: string }[] }>('POST', '/invitations', {
      gridLocationId,
      ...input,
    });
    expect([status, body.errors.map((error) => error.field)]).toEqual([400, [field]]);
    const { body: listed } = await client.call<{ items: object[] }>(
      'GET',
      `/invitations?gridLocationId=${gridLocationId}`,
    );
    expect(listed.items).toEqual([]);
  });

  it('leads the owner from the page to the remote service, and says when the installation is online', async () => {
    const { id, url } = await invite({ metadata: { label: '<b>Barn</b>' } });
    const page = await textOf(await open(url));
    expect(page).toContain('Connect your solar installation');
    expect(page).toContain('For: &lt;b&gt;Barn&lt;/b&gt;');
    expect(await read(id)).toMatchObject({ state: 'invited', openedAt: null });
    expect((await click(`${url}?opened=1`)).status).toBe(204);
    expect(await read(id)).toMatchObject({ state: 'opened', startedAt: null });
    const clicked = await click(url);
    expect(clicked.status).toBe(303);
    const startUrl = clicked.headers.get('location')!;
    expect(startUrl).toContain(service.environment.SCS_BASE_URL.replace(/\/api.*/, ''));
    expect((await click(url)).headers.get('location')).toBe(startUrl);
    const { body } = await client.call<{ items: { id: string }[] }>(
      'GET',
      `/onboarding/pv?gridLocationId=${(await read(id)).gridLocationId as string}`,
    );
    expect(body.items).toHaveLength(1);
    expect(await read(id)).toMatchObject({ state: 'started', openedAt: expect.any(String) });
    const sessionId = body.items[0]!.id;
    await service.sandbox!.control.complete(sessionId, { onlineAfterMs: null });
    await waitFor('the owner to be done', async () => (await read(id)).state === 'owner_done');
    expect(await textOf(await open(url))).toContain('You have done your part');
    const known = { p50Seconds: 60, p95Seconds: 900, known: 20 };
    const usualWait = jest.spyOn(service.app.get(ReadHabits), 'usualWait').mockReturnValue(known);
    expect(await textOf(await open(url))).toContain('This usually takes at most 15 minutes.');
    usualWait.mockRestore();
    await service.sandbox!.control.online(sessionId);
    await waitFor('the invitation to be done', async () => (await read(id)).state === 'online');
    expect(await textOf(await open(url))).toContain('Your installation is connected');
    expect((await client.eventsOf(id)).sort()).toEqual(['invitation.created', 'invitation.opened']);
  });

  it('keeps the wish of an owner while the remote service is away, and goes on by itself', async () => {
    const { url } = await invite();
    await client.startNew();
    await service.sandbox!.control.addFault({
      operation: 'start_session',
      kind: 'answer',
      status: 503,
      times: 2,
    });
    const clicked = await click(url);
    expect([clicked.status, clicked.headers.get('location')]).toEqual([303, url.split('/').at(-1)]);
    expect(await textOf(await open(url))).toContain('One moment, please');
  });

  it('offers each brand in turn', async () => {
    const { url } = await invite({ brands: ['acme', 'sunward'] });
    expect(await textOf(await open(url))).toContain('action="?brand=acme"');
    expect((await click(`${url}?brand=acme`)).status).toBe(303);
    expect(await textOf(await open(url))).toContain('Continue with acme');
    expect((await click(`${url}?brand=unknown`)).headers.get('location')).toContain('pv-onboarding');
  });
});

describe('the link of an invitation', () => {
  it('says that it is not known or revoked, each in its own words', async () => {
    const unknown = await open(`${service.url}/i/${'a'.repeat(43)}`);
    expect([unknown.status, await textOf(unknown)]).toEqual([
      404,
      expect.stringContaining('We do not know this link'),
    ]);
    const { id, url } = await invite();
    expect((await open(url.slice(0, -5))).status).toBe(404);
    expect((await open(`${url}).`)).status).toBe(200);
    expect((await client.call('DELETE', `/invitations/${id}`)).body).toMatchObject({ state: 'revoked' });
    const revoked = await open(url);
    expect([revoked.status, await textOf(revoked)]).toEqual([
      410,
      expect.stringContaining('no longer valid'),
    ]);
    expect((await click(url)).headers.get('location')).toBe(url.split('/').at(-1));
  });

  it('is a page for people, whatever its path', async () => {
    for (const path of ['', 'x', 'x/', `${'a'.repeat(43)}/x`, 'a'.repeat(2_000)]) {
      const response = await fetch(`${service.url}/i/${path}`);
      expect([response.status, await textOf(response)]).toEqual([
        404,
        expect.stringContaining('We do not know this link'),
      ]);
      expect((await fetch(new URL('page.css', response.url))).status).toBe(200);
    }
  });

  it('may have a slash at its end and a query, and a click may send a form', async () => {
    const { id, url } = await invite();
    const led = await open(`${url}/?utm_source=mail`);
    expect([led.status, new URL(led.headers.get('location')!, led.url).href]).toEqual([308, url]);
    expect((await fetch(`${url}?utm_source=mail`)).status).toBe(200);
    const form = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ a: 'b' }),
    });
    expect(form.status).toBe(303);
    expect(await read(id)).toMatchObject({ state: 'started' });
  });

  it('starts nothing for another origin', async () => {
    const { id, url } = await invite();

    expect((await click(url, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await click(url, { origin: 'https://evil.example' })).status).toBe(403);
    expect(await read(id)).toMatchObject({ state: 'invited', openedAt: null });
    expect((await click(`${url}?opened=1`)).status).toBe(204);
    expect((await read(id)).state).toBe('opened');
  });

  it('is in the language of the invitation, else of the browser, and loads nothing from elsewhere', async () => {
    const { url } = await invite({ locale: 'de' });
    const response = await open(url);
    expect(await textOf(response)).toContain('<html lang="de">');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('x-robots-tag')).toBe('noindex');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('set-cookie')).toBeNull();
    const other = await invite();
    const french = await open(other.url, { 'accept-language': 'es, fr;q=0.8, en;q=0.5' });
    expect(await textOf(french)).toContain('<html lang="fr">');
  });
});
