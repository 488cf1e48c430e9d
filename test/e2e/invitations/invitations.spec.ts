import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { InvitationsService } from '../../../src/invitations/invitations.service.js';
import { InvitationsStore } from '../../../src/invitations/invitations.store.js';
import { LinkCodesStore } from '../../../src/invitations/owner/link-codes.store.js';
import { OwnerPageView } from '../../../src/invitations/owner/owner-page.view.js';
import { OwnerStarts } from '../../../src/invitations/owner/owner-starts.service.js';
import { scheduleOf } from '../../../src/invitations/reminders/reminder.rules.js';
import { RemindersStore } from '../../../src/invitations/reminders/reminders.store.js';
import { BrandOutages } from '../../../src/brands/brand-outages.service.js';
import { ReadHabits } from '../../../src/brands/habits.service.js';
import { insertCustomer, insertRow } from '../../db/valid-rows.js';
import { insertConsent } from '../../setup/consent.js';
import { newEan } from '../../setup/ean.js';
import { TestClient, type EventAnswer, type UserAnswer } from '../../setup/client.js';
import { databaseTime, shiftClock } from '../../setup/shifted-clock.js';
import { startTestApp, useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { dumpTables, findSecrets } from '../../faults/support/input/secret-search.js';
import { waitUntilHeld } from '../../faults/support/waits.js';
import { createKey } from '../keys.js';
import { startReplica, withReplica } from '../replica.js';

// The service sends no reminders: the tests do.
const service = useTestApp({ REMINDER_QUIET_HOURS: 'off', REMINDER_SCHEDULE_HOURS: [0] });
const client = TestClient.of(service);

interface Invitation {
  readonly id: string;
  readonly url: string;
  readonly state: string;
  readonly userId: string;
  readonly gridLocationId: string;
  readonly expiresAt: string;
  readonly [field: string]: unknown;
}

const invite = async (input: object = {}) =>
  (await client.call<Invitation>('POST', '/invitations', { gridLocationId: await client.locate(), ...input }))
    .body;
const linkOf = async (id: string) => {
  const { url, expiresAt } = await read(id);
  return { url, expiresAt };
};
const read = async (id: string) => (await client.call<Invitation>('GET', `/invitations/${id}`)).body;

const open = (url: string, headers: Record<string, string> = { 'accept-language': 'en' }) =>
  fetch(url, { headers, redirect: 'manual' });
const click = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', headers, redirect: 'manual' });
const textOf = async (response: Response) => (await response.text()).replace(/\s+/g, ' ');
/** Returns the status of a response, and the text of its page. */
const shown = async (response: Promise<Response>): Promise<[number, string]> => [
  (await response).status,
  await textOf(await response),
];
const containing = (text: string): unknown => expect.stringContaining(text);
/** The response to what an invitation does not allow now. */
const conflict = (detail = '') => ({
  status: 409,
  body: { code: 'invitation_conflict', detail: containing(detail) },
});

// Its types describe a module of another form.
const decodeImage = createRequire(import.meta.url)('jsqr') as (
  pixels: Uint8ClampedArray,
  width: number,
  height: number,
) => { readonly data: string } | null;

/** Draws an image of black squares on white, and decodes it as a camera would. Returns the text in it. */
function textInQrCode(svg: string): string | undefined {
  const width = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y, size] of svg.matchAll(/M(\d+),(\d+)h(\d+)v\3h-\3z/g))
    for (let row = 0; row < Number(size); row++) {
      const begin = ((Number(y) + row) * width + Number(x)) * 4;
      for (let at = begin; at < begin + Number(size) * 4; at++) pixels[at] = at % 4 === 3 ? 255 : 0;
    }
  return decodeImage(pixels, width, width)?.data;
}

const isIn = (id: string, state: string) =>
  waitFor(`the invitation is ${state}`, async () => (await read(id)).state === state);
const stalledAs = (id: string, cause: string | null) =>
  waitFor(`the stall ${cause}`, async () => {
    const { stalled } = (await read(id)) as { stalled?: { cause: string } | null };
    return (stalled?.cause ?? null) === cause;
  });
/** Moves the date of an invitation into the past. */
const pass = (id: string) =>
  service.database.query(`UPDATE invitations SET expires_at = now() - interval '1 ms' WHERE id = $1`, [id]);
const inviteAgain = (gridLocationId: string) =>
  client.call<Invitation>('POST', '/invitations', { gridLocationId });
async function sessionOf({ gridLocationId }: Pick<Invitation, 'gridLocationId'>): Promise<string> {
  const path = `/onboarding/pv?gridLocationId=${gridLocationId}`;
  const items = await client.list<{ id: string }>(path);
  expect(items).toHaveLength(1);
  return items[0]!.id;
}

afterEach(() => service.sandbox!.control.clearFaults());

describe('an invitation', () => {
  it('is created and revoked by a key that sees one link at a time, so many an hour', async () => {
    const { app, id: keyId } = await createKey(client, 'invitations:write');
    const gridLocationId = await client.locate();
    const { status, body } = await app.call<Invitation>('POST', '/invitations', { gridLocationId });
    expect([status, body.url]).toEqual([201, null]);
    expect((await app.call('GET', '/invitations')).status).toBe(403);
    expect((await app.call('POST', `/onboarding/pv/${gridLocationId}`)).status).toBe(403);
    const link = () => app.call<{ url: string; state: string }>('POST', `/invitations/${body.id}/link`);
    const shown = await link();
    expect(shown).toMatchObject({ status: 200, body: { ...(await linkOf(body.id)), state: 'invited' } });
    const { body: log } = await client.call<{ items: object[] }>('GET', `/audit-log?targets=${body.id}`);
    expect(log.items).toMatchObject([{ action: 'invitation.link_read', actor: `key:${keyId}` }]);
    expect(JSON.stringify(log)).not.toContain(shown.body.url);
    const { app: reader, id: readerId } = await createKey(client, 'links:read');
    // Of these, only the first 98 count; the last are of a key without a limit.
    await service.database.query(
      `INSERT INTO audit_log (actor, action, details, at)
       SELECT actor, action, '{}', now() - age * interval '1 hour' FROM generate_series(1, 98),
              (VALUES ('key:' || $1, 'invitation.link_read', 0), ('key:' || $1, 'invitation.link_read', 1),
                      ('key:' || $1, 'invitation.reminded', 0), ('key:other', 'invitation.link_read', 0),
                      ('key:' || $2, 'invitation.link_read', 0), ('key:' || $2, 'invitation.link_read', 0)) AS read (actor, action, age)`,
      [keyId, readerId],
    );
    expect((await link()).status).toBe(200);
    const refused = await link();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '600']);
    expect((await reader.call('POST', `/invitations/${body.id}/link`)).status).toBe(200);
    expect((await app.call('DELETE', `/invitations/${body.id}`)).body).toMatchObject({ state: 'revoked' });
  });

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
    const items = await client.list<Invitation>(`/invitations?gridLocationId=${gridLocationId}`);
    expect(items.map(({ id }) => id)).toEqual([first.body.id]);
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
    ['https:\\\\127.0.0.1\\a b/../c', 'https://127.0.0.1/a%20b/../c'],
    [' HTTP://LOCALHOST:80/done\n', 'http://localhost/done'],
  ])('has the returnUrl that was checked, not its text: %j', async (returnUrl) => {
    const { id } = await invite({ returnUrl });
    expect((await read(id))['returnUrl']).toBe(new URL(returnUrl).href);
  });

  it("is refused if it is over by the clock of the database, whatever the process's clock says", async () => {
    const gridLocationId = await client.locate();
    const expiresAt = new Date((await databaseTime(service.database)) - 60_000).toISOString();
    shiftClock(-10 * 60_000);
    const { status } = await client.call('POST', '/invitations', { gridLocationId, expiresAt });
    jest.useRealTimers();
    expect(status).toBe(400);
  });

  it("is counted by the funnel, whatever the process's clock says", async () => {
    const gridLocationId = await client.locate();
    await client.call('POST', '/invitations', { gridLocationId, brands: ['by another clock'] });
    shiftClock(-10 * 60_000);
    const items = await client.list<object>('/funnel?by=brand');
    jest.useRealTimers();
    expect(items).toContainEqual(expect.objectContaining({ key: 'by another clock', invited: 1 }));
  });

  it.each([
    ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['expiresAt', { expiresAt: 'soon' }],
    ['locale', { locale: 'xx' }],
    ['brands', { brands: Array.from({ length: 1_000 }, (_, index) => `brand-${index}`) }],
    ['brands', { brands: ['acme', 'acme'] }],
    ['brands', { brands: ['caf\u00e9 sol', 'cafe\u0301\u00a0sol'] }],
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
    const listed = await client.list<object>(`/invitations?gridLocationId=${gridLocationId}`);
    expect(listed).toEqual([]);
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
    const sessionId = await sessionOf(await read(id));
    expect(await read(id)).toMatchObject({ state: 'started', openedAt: expect.any(String) });
    await service.sandbox!.control.complete(sessionId, { onlineAfterMs: null });
    await isIn(id, 'owner_done');
    expect(await textOf(await open(url))).toContain('You have done your part');
    const known = { p50Seconds: 60, p95Seconds: 900, known: 20 };
    const usualWait = jest.spyOn(service.app.get(ReadHabits), 'usualWait').mockReturnValue(known);
    expect(await textOf(await open(url))).toContain('This usually takes at most 15 minutes.');
    usualWait.mockRestore();
    await service.sandbox!.control.online(sessionId);
    await isIn(id, 'online');
    expect(await textOf(await open(url))).toContain('Your installation is connected');
    expect((await client.eventsOf(id)).sort()).toEqual([
      'consent.given',
      'invitation.created',
      'invitation.opened',
    ]);
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

  it('says before the click that the remote service takes no starts, and reminds nobody meanwhile', async () => {
    const { id, url } = await invite();
    const database = service.database;
    const set = (values: string) =>
      database.query(`UPDATE remote_operations SET ${values} WHERE operation = 'start_session'`);
    await database.query(
      `UPDATE invitations SET created_at = created_at - interval '3 days', reminder_due_at = now() - interval '1 ms' WHERE id = $1`,
      [id],
    );
    await set(`health = 'degraded', reason = 'test', trouble_until = now() + interval '1 h'`);
    try {
      expect(await textOf(await open(url))).toContain('cannot be started right now');
      await service.app.get(RemindersStore).remind(scheduleOf([48], 'UTC', 'off'));
      expect(await client.eventsOf(id)).not.toContain('invitation.reminder_due');
    } finally {
      await set(`health = 'healthy', reason = NULL, trouble_until = NULL`);
    }
    expect(await textOf(await open(url))).not.toContain('cannot be started right now');
    await service.app.get(RemindersStore).remind(scheduleOf([48], 'UTC', 'off'));
    expect(await client.eventsOf(id)).toContain('invitation.reminder_due');
  });

  it('offers each brand in turn', async () => {
    const { id, url } = await invite({ brands: ['acme', 'sunward'] });
    expect(await textOf(await open(url))).toContain('action="?brand=acme&amp;text=');
    expect((await click(`${url}?brand=acme`)).status).toBe(303);
    expect(await textOf(await open(url))).toContain('Continue with acme');
    const { startedAt } = await read(id);
    expect(startedAt).not.toBeNull();
    expect((await click(`${url}?brand=sunward`)).headers.get('location')).toContain('pv-onboarding');
    expect((await read(id)).startedAt).toBe(startedAt);
    expect((await click(`${url}?brand=unknown`)).headers.get('location')).toContain('pv-onboarding');
  });
});

describe('the consent of an owner', () => {
  const database = () => service.database;
  const hashIn = (page: string) => /text=([\da-f]{64})"/.exec(page)![1]!;
  const consentsOf = (id: string) =>
    database().query<{ hash: string; version: string; locale: string; text: string; brand: string | null }>(
      `SELECT t.hash, t.version, t.locale, t.text, c.brand FROM consents c JOIN consent_texts t ON t.hash = c.text_hash
        WHERE c.invitation_id = $1 ORDER BY c.given_at`,
      [id],
    );

  it('is to the text of the page, once for each text and brand, with an event', async () => {
    const { id, url, userId, gridLocationId, tenantReference } = await invite({
      brands: ['acme', 'sunward'],
      locale: 'nl',
      metadata: { label: 'Barn' },
    });
    const page = await textOf(await open(url));
    const hash = hashIn(page);
    await Promise.all([1, 2, 3].map(() => click(`${url}?brand=acme&text=${hash}`)));
    await click(`${url}?brand=sunward&text=${hash}`);
    const consents = await consentsOf(id);
    expect(consents).toMatchObject([
      { hash, version: 'standard-2', locale: 'nl', brand: 'acme' },
      { hash, version: 'standard-2', locale: 'nl', brand: 'sunward' },
    ]);
    for (const part of consents[0]!.text.split('\n\n')) expect(page).toContain(part);
    const events = (await client.events()).filter(
      ({ subject, type }) => subject === id && type === 'pv.consent.given.v1',
    );
    expect(events.map(({ data }) => data)).toMatchObject([
      {
        invitationId: id,
        version: 'standard-2',
        ...{ gridLocationId, userId, tenantReference, campaignId: null, metadata: { label: 'Barn' } },
        hash,
        locale: 'nl',
        brand: 'acme',
        givenAt: expect.any(String),
      },
      { brand: 'sunward' },
    ]);
  });

  it('counts for the text as it stands if the request names none, and in the language that the owner has chosen', async () => {
    const { id, url } = await invite({ locale: 'nl' });
    expect(await textOf(await open(`${url}?lang=de`))).toContain('action="?lang=de&amp;text=');
    await click(`${url}?lang=de`);
    expect(await consentsOf(id)).toMatchObject([{ locale: 'de', brand: null }]);
    const other = await invite({ locale: 'fr' });
    await click(other.url, { 'accept-language': 'nl' });
    expect(await consentsOf(other.id)).toMatchObject([{ locale: 'fr' }]);
  });

  it('is asked for again if the text has changed meanwhile', async () => {
    const { id, url } = await invite({ locale: 'en' });
    expect(await shown(click(`${url}?text=${'0'.repeat(64)}`))).toEqual([
      409,
      containing('The text that you agree to has changed'),
    ]);
    expect(await read(id)).toMatchObject({ state: 'invited', startedAt: null });
    expect(await consentsOf(id)).toEqual([]);
  });

  it('is shown as a receipt, with the text as it was', async () => {
    const { id, url } = await invite({ locale: 'en', brands: ['acme'] });
    expect(await textOf(await open(`${url}?receipt=`))).toContain('Connect your solar installation');
    await click(url);
    const [consent] = await consentsOf(id);
    expect(await textOf(await open(url))).toContain('href="?receipt="');
    const receipt = await textOf(await open(`${url}?receipt=`));
    for (const part of [...consent!.text.split('\n\n'), consent!.hash, 'Brand: acme', 'standard-2'])
      expect(receipt).toContain(part);
    expect(receipt).not.toContain('<form');
  });

  it('is withdrawn by a link that has expired, also for the time when it is prolonged', async () => {
    const { id, url } = await invite({ locale: 'en' });
    await insertConsent(service.database, id);
    await pass(id);
    await isIn(id, 'expired');
    await click(`${url}/withdrawal`);
    expect(await read(id)).toMatchObject({ state: 'expired', declinedAt: null });
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const { body } = await client.call('PATCH', `/invitations/${id}`, { expiresAt });
    expect(body).toMatchObject({ state: 'declined', nextReminderAt: null });
    await click(url);
    expect(await read(id)).toMatchObject({ state: 'started', consentWithdrawnAt: null });
  });

  it('is that of each person if the owner hands the link on', async () => {
    const { id, url } = await invite({ locale: 'en' });
    await click(url);
    await click(`${url}/decline?reason=login_elsewhere`);
    for (let times = 1; times <= 2; times++) await click(url);
    expect(await consentsOf(id)).toHaveLength(2);
  });

  it('stands while the owner hands the link on, who may withdraw it then', async () => {
    const { id, url } = await invite({ locale: 'en' });
    await click(url);
    await click(`${url}/decline?reason=login_elsewhere`);
    expect(await read(id)).toMatchObject({ state: 'declined', consentWithdrawnAt: null });
    const page = await textOf(await open(url));
    expect(page).toContain('Withdraw my consent');
    expect(page).not.toContain('Your consent is withdrawn');
    await click(`${url}/withdrawal`);
    expect(await read(id)).toMatchObject({ state: 'declined', consentWithdrawnAt: expect.any(String) });
    expect(await textOf(await open(url))).toContain('Your consent is withdrawn');
  });

  it('is withdrawn by declining, and given again by a later click', async () => {
    const { id, url } = await invite({ locale: 'en' });
    await click(url);
    await click(`${url}/decline`);
    expect(await textOf(await open(`${url}?receipt=`))).toContain('Withdrawal recorded: ');
    await click(url);
    const given = await database().query<{ isWithdrawn: boolean }>(
      'SELECT withdrawn_at IS NOT NULL AS "isWithdrawn" FROM consents WHERE invitation_id = $1 ORDER BY given_at',
      [id],
    );
    expect(given).toEqual([{ isWithdrawn: true }, { isWithdrawn: false }]);
  });

  /** Invites an owner, whose installation comes online by a click. */
  const connect = async () => {
    const invitation = await invite({ locale: 'en' });
    await click(invitation.url);
    await service.sandbox!.control.online(await sessionOf(invitation));
    await isIn(invitation.id, 'online');
    return invitation;
  };
  const withdrawal = (id: string) => client.call<Invitation>('POST', `/invitations/${id}/withdrawal`);
  const isWithdrawn = containing('You have withdrawn your consent');

  const duringOutage = async (work: () => Promise<void>) => {
    const outages = { isServed: false, failingBrands: [] };
    const found = jest.spyOn(service.app.get(InvitationsStore), 'findOutages').mockResolvedValue(outages);
    await work();
    found.mockRestore();
  };

  it('is withdrawn on the page of an installation that is online, which the tenant is told, and given again by a click', async () => {
    const invitation = await connect();
    const { id, url } = invitation;
    expect(await textOf(await open(url))).toContain(`action="${url.split('/').at(-1)!}/withdrawal"`);
    const responses = await Promise.all([1, 2].map(() => click(`${url}/withdrawal`)));
    expect(responses.map(({ status, headers }) => [status, headers.get('location')])).toEqual(
      Array(2).fill([303, `../${url.split('/').at(-1)!}`]),
    );
    const before = await client.events();
    expect(before.filter(({ subject, type }) => subject === id && type.includes('consent'))).toMatchObject([
      { type: 'pv.consent.given.v1' },
      { type: 'pv.consent.withdrawn.v1', data: { invitationId: id, by: 'owner', metadata: {} } },
    ]);
    await stalledAs(id, 'consent_withdrawn');
    const nothingDue = { nextReminderAt: null, stalled: { waitsFor: 'tenant' } };
    const withdrawn = { state: 'online', consentWithdrawnAt: expect.any(String), ...nothingDue };
    expect(await read(id)).toMatchObject(withdrawn);
    const page = await textOf(await open(url));
    expect(page).toEqual(isWithdrawn);
    expect(page).toContain('does not end by itself');
    expect(page).not.toMatch(/\/withdrawal|\/decline|The button leads/);
    // The remote service ends the access: what was lost waits for another consent, and no owner is reminded.
    await service.database.query('UPDATE inverters SET missing_since = now() WHERE session_id = $1', [
      await sessionOf(invitation),
    ]);
    await service.app.get(InvitationsStore).recordProgress(null);
    expect(await read(id)).toMatchObject({ state: 'declined', nextReminderAt: null });
    expect(await textOf(await open(url))).toEqual(isWithdrawn);
    await duringOutage(async () =>
      expect(await textOf(await open(url))).toContain('cannot be started right now'),
    );
    await stalledAs(id, null);
    await click(url);
    expect(await read(id)).toMatchObject({ state: 'started', consentWithdrawnAt: null });
  });

  it('is given again without another start if the access has not ended', async () => {
    const { id, url, ...invitation } = await connect();
    await click(`${url}/withdrawal`);
    await duringOutage(async () => {
      expect(await textOf(await open(url))).not.toContain('cannot be started right now');
      expect((await click(url)).headers.get('location')).toBe(url.split('/').at(-1));
    });
    expect(await read(id)).toMatchObject({ state: 'online', consentWithdrawnAt: null, declinedAt: null });
    await sessionOf(invitation);
    expect(await client.eventsOf(id)).toEqual([
      ...['invitation.created', 'invitation.opened', 'consent.given', 'consent.withdrawn', 'consent.given'],
    ]);
  });

  it('is withdrawn by the tenant as the owner has told, until the tenant revokes the invitation', async () => {
    const { id, url } = await connect();
    expect((await withdrawal(randomUUID())).status).toBe(404);
    const { status, body } = await withdrawal(id);
    expect([status, body]).toMatchObject([200, { state: 'online', stalled: { cause: 'consent_withdrawn' } }]);
    expect((await withdrawal(id)).body).toMatchObject({ consentWithdrawnAt: body.consentWithdrawnAt });
    const log = await client.list(`/audit-log?targets=${id}&action=consent.withdrawn`);
    expect(log).toHaveLength(1);
    expect(await textOf(await open(`${url}?receipt=`))).toContain('Withdrawal recorded: ');
    await client.call('DELETE', `/invitations/${id}`);
    expect(await read(id)).toMatchObject({ state: 'revoked', onlineAt: expect.any(String) });
    await stalledAs(id, null);
    await click(url);
    expect(await read(id)).toMatchObject({ state: 'revoked', consentWithdrawnAt: expect.any(String) });
  });

  it('is withdrawn also by a link that was revoked, and only where it was given', async () => {
    const { id, url, ...invitation } = await invite({ locale: 'en' });
    expect((await withdrawal(id)).body).toMatchObject({ code: 'invitation_conflict' });
    await click(`${url}/withdrawal`);
    expect(await read(id)).toMatchObject({ state: 'invited', declinedAt: null });
    await click(url);
    await client.call('DELETE', `/invitations/${id}`);
    expect(await textOf(await open(url))).toContain('/withdrawal"');
    await click(`${url}/withdrawal`);
    expect(await read(id)).toMatchObject({ state: 'revoked', consentWithdrawnAt: expect.any(String) });
    expect(await textOf(await open(url))).not.toContain('/withdrawal"');
    // The flow of the owner is still open, so an hour later the installation may be online.
    const looks = () =>
      database().query(`SELECT FROM stall_looks WHERE subject = $1 AND look_at > now()`, [id]);
    await waitFor('a look', async () => (await looks()).length > 0);
    const sessionId = await sessionOf(invitation);
    await service.sandbox!.control.online(sessionId);
    await client.untilState(sessionId, 'online');
    await service.database.query('UPDATE stall_looks SET look_at = now() WHERE subject = $1', [id]);
    await stalledAs(id, 'consent_withdrawn');
  });

  it('is withdrawn for every invitation of the location by which it was given, and of no other one', async () => {
    const gridLocationId = await client.locate();
    const [first, another] = [await invite({ gridLocationId }), await invite({})];
    await click(another.url);
    await click(first.url);
    await client.call('DELETE', `/invitations/${first.id}`);
    const second = await invite({ gridLocationId });
    await click(second.url);
    await service.sandbox!.control.complete(await sessionOf({ gridLocationId }));
    await isIn(second.id, 'owner_done');
    await click(`${first.url}/withdrawal`);
    const withdrawn = { consentWithdrawnAt: expect.any(String) };
    // The provider is asked once to disconnect the installation.
    await stalledAs(second.id, 'consent_withdrawn');
    expect(await read(first.id)).toMatchObject({ state: 'revoked', ...withdrawn, stalled: null });
    expect(await read(second.id)).toMatchObject({ state: 'declined', ...withdrawn });
    expect(await read(another.id)).toMatchObject({ consentWithdrawnAt: null });
  });

  it('is withdrawn by a link that has expired, also for the time when the installation is online again', async () => {
    const invitation = await connect();
    const { id, url } = invitation;
    const sessionId = await sessionOf(invitation);
    const setMissing = async (since: 'now()' | 'NULL') => {
      await database().query(`UPDATE inverters SET missing_since = ${since} WHERE session_id = $1`, [
        sessionId,
      ]);
      await service.app.get(InvitationsStore).recordProgress(null);
    };
    await setMissing('now()');
    const expire = `UPDATE invitations SET expires_at = now() - interval '1 ms', expired_at = now() WHERE id = $1`;
    await database().query(expire, [id]);
    await click(`${url}/withdrawal`);
    expect(await read(id)).toMatchObject({ state: 'expired', consentWithdrawnAt: expect.any(String) });
    await setMissing('NULL');
    expect(await read(id)).toMatchObject({ state: 'online', declinedAt: expect.any(String) });
    const { status, body } = await client.call('DELETE', `/invitations/${id}`);
    expect([status, body]).toMatchObject([200, { state: 'revoked' }]);
  });

  it('is missing at the location, although the tenant invites again, until the owner agrees by the other link', async () => {
    const { id, url, gridLocationId } = await invite({ locale: 'en' });
    await click(url);
    await service.sandbox!.control.complete(await sessionOf({ gridLocationId }));
    await isIn(id, 'owner_done');
    await click(`${url}/withdrawal`);
    await stalledAs(id, 'consent_withdrawn');
    const { body: other } = await inviteAgain(gridLocationId);
    const { body } = await client.call('GET', `/grid-locations/${gridLocationId}/case`);
    expect(body).toMatchObject({ stalled: { cause: 'consent_withdrawn' } });
    await click(other.url);
    await stalledAs(id, null);
  });

  it('and the visit are stored without the address and the browser of the owner', async () => {
    const { url } = await invite();
    const marks = { browser: 'Owners-Browser/7.3', address: '203.0.113.77', language: 'nl-x-owner' };
    const headers = {
      'user-agent': marks.browser,
      'x-forwarded-for': marks.address,
      'accept-language': marks.language,
    };
    await fetch(url, { headers });
    for (const query of ['?opened=1', '?receipt=', ''])
      await fetch(url + query, { method: 'POST', headers, redirect: 'manual' });
    expect(findSecrets(marks, await dumpTables(service.environment.DATABASE_URL))).toEqual([]);
  });
});

describe('an invitation that is changed', () => {
  const change = (id: string, input: object, by: TestClient = client) =>
    by.call<Invitation & { code?: string; detail?: string }>('PATCH', `/invitations/${id}`, input);
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

  it('keeps its link, and what is not given', async () => {
    const { app } = await createKey(client, 'invitations:write');
    const { id, url, ...before } = await invite({
      brands: ['acme'],
      locale: 'nl',
      metadata: { label: 'Barn' },
    });
    const expiresAt = inDays(200);
    const changes = { expiresAt, brands: ['sunward'], expected: { inverters: 3 }, locale: null };
    const changed = await change(id, changes, app);
    expect(changed).toMatchObject({
      status: 200,
      body: { ...before, ...changes, url: null, brands: ['sunward'] },
    });
    expect(await read(id)).toMatchObject({ url, expiresAt, locale: null });
    const once = await change(id, { returnUrl: 'http://localhost:9/done' });
    expect(once.body).toMatchObject({ returnUrl: 'http://localhost:9/done', expiresAt, brands: ['sunward'] });
    expect((await change(id, { returnUrl: null, expected: {} })).body).toMatchObject({
      returnUrl: null,
      expected: { inverters: null },
    });
    const log = await client.list<object>(`/audit-log?targets=${id}`);
    expect(log).toMatchObject([
      { action: 'invitation.changed', details: { changed: ['returnUrl', 'expectedInverters'] } },
      { action: 'invitation.changed', details: { changed: ['returnUrl'] } },
      {
        action: 'invitation.changed',
        details: { changed: ['brands', 'locale', 'expiresAt', 'expectedInverters'], expiresAt },
      },
    ]);
    const { app: reader } = await createKey(client, 'onboarding:read');
    expect((await change(id, { locale: 'fr' }, reader)).status).toBe(403);
  });

  it.each<[string, object, string]>([
    ['a date that has passed', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['a date without an offset', { expiresAt: '2030-01-01T00:00:00' }, 'expiresAt'],
    ['no date', { expiresAt: null }, 'expiresAt'],
    ['an unknown language', { locale: 'xx' }, 'locale'],
    ['brands that are no list', { brands: 'acme' }, 'brands'],
    ['another site', { returnUrl: 'https://elsewhere.example' }, 'returnUrl'],
    ['too many inverters', { expected: { inverters: 10_000 } }, 'expected'],
    ['what cannot be changed', { metadata: {} }, 'metadata'],
  ])('is refused for %s', async (_, input, field) => {
    const { id } = await invite();
    expect(await change(id, input)).toMatchObject({ status: 400, body: { errors: [{ field }] } });
  });

  it('is valid again after its date if it is prolonged, unless the location has another', async () => {
    const [first, second] = [await invite(), await invite()];
    for (const { id } of [first, second]) await pass(id);
    await service.app.get(InvitationsStore).expireOverdue();
    for (const { id } of [first, second])
      expect(await client.eventsOf(id)).toEqual(['invitation.created', 'invitation.expired']);
    const refused = await change(first.id, { locale: 'nl' });
    expect(refused).toMatchObject(conflict('has expired'));
    expect((await change(first.id, { expiresAt: inDays(5) })).body).toMatchObject({
      state: 'invited',
      url: first.url,
    });
    expect(await textOf(await open(first.url))).toContain('Connect now');
    const { body: other } = await inviteAgain(second.gridLocationId);
    expect(other.id).not.toBe(second.id);
    expect(await change(second.id, { expiresAt: inDays(5) })).toMatchObject(conflict('another invitation'));
  });

  it('is online if its location is online with the brands that it has now', async () => {
    const invitation = await invite({ brands: ['acme'] });
    const { body: session } = await client.start(invitation.gridLocationId, { brand: 'sunward' });
    await service.sandbox!.control.complete(session.id, { onlineAfterMs: 0 });
    await client.untilState(session.id, 'online');
    expect((await read(invitation.id)).state).toBe('invited');
    expect((await change(invitation.id, { brands: ['sunward'] })).body.state).toBe('online');
    expect(await change(invitation.id, { locale: 'nl' })).toMatchObject(conflict('online'));
  });

  it('is looked at anew: what no longer expires soon is not stalled', async () => {
    const { id } = await invite();
    await service.database.query(
      `UPDATE invitations SET created_at = now() - interval '1 day', expires_at = now() + interval '1 h' WHERE id = $1`,
      [id],
    );
    await waitFor('the stall', async () => (await read(id)).stalled !== null);
    expect((await change(id, { expiresAt: inDays(90) })).body.stalled).toBeNull();
  });

  it('cannot be changed, reminded of or revived once it is over', async () => {
    const [revoked, erased] = [await invite(), await invite()];
    await client.call('DELETE', `/invitations/${revoked.id}`);
    await client.call('DELETE', `/users/${erased.userId}`);
    for (const { id } of [revoked, erased]) {
      expect(await change(id, { expiresAt: inDays(5) })).toMatchObject(conflict());
      expect(await client.call('POST', `/invitations/${id}/reminders`)).toMatchObject(conflict());
    }
    const nobody = randomUUID();
    expect((await change(nobody, {})).status).toBe(404);
    expect((await client.call('POST', `/invitations/${nobody}/reminders`)).status).toBe(404);
  });
});

describe('a message with the link', () => {
  interface Stalled {
    readonly cause: string;
    readonly text: string;
  }
  const tell = (id: string, message: object) =>
    client.call<Omit<Invitation, 'stalled'> & { stalled: Stalled | null }>(
      'POST',
      `/invitations/${id}/messages`,
      message,
    );
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const sent = (at?: string) => ({ status: 'sent', channel: 'email', at });
  const bounced = (at?: string) => ({ status: 'bounced', channel: 'sms', at });

  it('that has come back leaves the owner unreachable until a later one is sent, told in any order', async () => {
    const { id, gridLocationId } = await invite({ brands: ['by letter'] });
    expect((await tell(id, sent(ago(30)))).body.stalled).toBeNull();
    const { body } = await tell(id, bounced(ago(20)));
    expect(body.stalled).toMatchObject({ cause: 'unreachable', text: containing('sms') });
    const { body: ofLocation } = await client.call('GET', `/grid-locations/${gridLocationId}/case`);
    expect(ofLocation).toMatchObject({ stalled: body.stalled, usuallyUntil: null });
    expect((await tell(id, sent(ago(25)))).body.stalled?.cause).toBe('unreachable');
    expect((await tell(id, sent(ago(10)))).body.stalled).toBeNull();
    expect((await tell(id, bounced(ago(15)))).body.stalled).toBeNull();
    expect((await tell(id, bounced())).body.stalled?.cause).toBe('unreachable');
    const log = await client.list<{ action: string; details: object }>(`/audit-log?targets=${id}`);
    const [back, out] = ['invitation.bounced sms', 'invitation.sent email'];
    expect(log.map(({ action, details }) => `${action} ${Object.values(details).join()}`)).toEqual([
      back,
      back,
      out,
      out,
      back,
      out,
    ]);
    const funnel = await client.list<object>('/funnel?by=brand');
    expect(funnel).toContainEqual(expect.objectContaining({ key: 'by letter', invited: 1, sent: 1 }));
  });

  it.each<[string, object, string]>([
    ['an unknown status', { status: 'read', channel: 'email' }, 'status'],
    ['no channel', { status: 'sent' }, 'channel'],
    ['a day without a time', { ...sent(), at: '2026-01-01' }, 'at'],
  ])('is refused with %s', async (_, message, field) => {
    const { id } = await invite();
    expect(await tell(id, message)).toMatchObject({ status: 400, body: { errors: [{ field }] } });
  });

  it('may be about an invitation that is over, and not about one of an erased user', async () => {
    const { id, userId } = await invite();
    await client.call('DELETE', `/invitations/${id}`);
    expect(await tell(id, bounced())).toMatchObject({ status: 200, body: { stalled: null } });
    await client.call('DELETE', `/users/${userId}`);
    expect((await tell(id, bounced())).status).toBe(404);
  });
});

describe('an owner who declines', () => {
  const decline = (url: string, reason?: string) =>
    fetch(`${url}/decline?lang=en`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'accept-language': 'en' },
      ...(reason !== undefined && { body: new URLSearchParams({ reason }) }),
    });
  const eventsNamed = async (name: string, id: string) =>
    (await client.eventsOf(id)).filter((each) => each === name);

  it('is reminded no more, and continues by a later click', async () => {
    const { id, url, gridLocationId } = await invite({ brands: ['acme'] });
    expect(await textOf(await open(url))).toContain('/decline"');
    const declined = await decline(url, 'login_elsewhere');
    expect(declined.status).toBe(303);
    expect(new URL(declined.headers.get('location')!, `${url}/decline`).href).toBe(`${url}?lang=en`);
    await decline(url, 'not_mine');
    expect(await read(id)).toMatchObject({
      ...{ state: 'declined', declineReason: 'login_elsewhere', openedAt: expect.any(String) },
      declinedAt: expect.any(String),
    });
    const feed = await client.list<EventAnswer>('/events?types=invitation.declined&limit=200');
    expect(feed.filter(({ subject }) => subject === id)).toMatchObject([
      { data: { invitationId: id, gridLocationId, reason: 'login_elsewhere' } },
    ]);
    expect(await client.call('POST', `/invitations/${id}/reminders`)).toMatchObject({ status: 409 });
    expect(await shown(open(url))).toEqual([
      200,
      expect.stringMatching(/You have declined.*pass this link on.*Connect after all/),
    ]);
    expect(
      await client.list<object>(`/invitations?state=declined&gridLocationId=${gridLocationId}`),
    ).toHaveLength(1);
    const taken = await click(`${url}?brand=acme`);
    expect([taken.status, taken.headers.get('location')]).toEqual([303, expect.stringMatching(/^http/)]);
    expect(await read(id)).toMatchObject({ state: 'started', declinedAt: null, declineReason: null });
    expect(await eventsNamed('invitation.declined', id)).toHaveLength(1);
  });

  it('needs no reason, gives one of the list, and comes from our own page', async () => {
    const { id, url } = await invite();
    expect((await decline(url, 'because')).status).toBe(400);
    expect(
      (await fetch(`${url}/decline`, { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } })).status,
    ).toBe(403);
    expect((await open(`${url}/decline`)).status).toBe(308);
    expect((await read(id)).state).toBe('invited');
    await decline(url);
    expect(await read(id)).toMatchObject({ state: 'declined', declineReason: null });
    expect((await decline(`${service.url}/i/${'a'.repeat(43)}`)).status).toBe(404);
  });

  it('is watched while a session is open, and online outranks it', async () => {
    const { id, url, sessionId } = await begin();
    await decline(url);
    await service.sandbox!.control.online(sessionId);
    await isIn(id, 'online');
    expect(await textOf(await open(url))).toContain('You have withdrawn your consent');
    await decline(url);
    expect((await read(id)).state).toBe('online');
    expect(await eventsNamed('invitation.declined', id)).toHaveLength(1);
  });

  it('is invited again by another link, and the old one then asks for a new one', async () => {
    const { id, url, gridLocationId } = await invite();
    await decline(url);
    const again = await inviteAgain(gridLocationId);
    expect([again.status, again.body.state]).toEqual([201, 'invited']);
    expect((await click(url)).headers.get('location')).toBe(url.split('/').at(-1));
    expect((await read(id)).state).toBe('declined');
    expect(await shown(open(url))).toEqual([410, containing('Ask for a new link')]);
    await decline(again.body.url);
    expect((await client.call('DELETE', `/invitations/${again.body.id}`)).body).toMatchObject({
      state: 'revoked',
    });
    expect((await decline(again.body.url)).status).toBe(303);
    expect((await read(again.body.id)).state).toBe('revoked');
  });

  it('is not asked to continue while an earlier link is valid again', async () => {
    const earlier = await invite();
    await pass(earlier.id);
    const { id, url } = (await inviteAgain(earlier.gridLocationId)).body;
    await decline(url);
    const expiresAt = new Date(Date.now() + 86_400_000);
    expect((await client.call('PATCH', `/invitations/${earlier.id}`, { expiresAt })).status).toBe(200);
    expect((await click(url)).status).toBe(303);
    expect(await shown(open(url))).toEqual([410, containing('Ask for a new link')]);
    expect([(await read(id)).state, (await read(earlier.id)).state]).toEqual(['declined', 'invited']);
  });

  it('is not asked to continue after the date, but for a new link', async () => {
    const { id, url } = await invite();
    await decline(url);
    await pass(id);
    expect((await click(url)).headers.get('location')).toBe(url.split('/').at(-1));
    expect((await read(id)).state).toBe('expired');
    expect(await textOf(await open(url))).toContain('Ask for a new link');
  });
});

describe('a link that no longer works', () => {
  const renew = (url: string) =>
    fetch(`${url}/renewal`, { method: 'POST', redirect: 'manual', headers: { 'accept-language': 'en' } });
  const requestsOf = async (id: string) => {
    const items = await client.list<EventAnswer>('/events?types=invitation.renewal_requested&limit=200');
    return items.filter(({ subject }) => subject === id);
  };
  const expired = async (input: object = {}) => {
    const invitation = await invite(input);
    await pass(invitation.id);
    return invitation;
  };

  it('asks the tenant for a new one, once a day, until the tenant invites again', async () => {
    const { id, url, gridLocationId } = await expired();
    expect(await shown(open(url))).toEqual([410, containing('/renewal"')]);
    for (let time = 0; time < 2; time++) {
      expect(await shown(renew(url))).toEqual([200, containing('You have asked for a new link')]);
    }
    expect(await requestsOf(id)).toMatchObject([{ data: { invitationId: id, newInvitationId: null } }]);
    expect((await open(url)).status).toBe(410);
    await stalledAs(id, 'renewal_requested');
    const { stalled: stall } = await read(id);
    const [remedy] = (stall as { remedies: { operationId: string; body: object }[] }).remedies;
    expect(remedy).toMatchObject({ operationId: 'createInvitation', body: { gridLocationId } });
    await service.database.query(
      `UPDATE invitations SET renewal_requested_at = renewal_requested_at - interval '1 day' WHERE id = $1`,
      [id],
    );
    expect((await renew(url)).status).toBe(200);
    expect(await requestsOf(id)).toHaveLength(2);
    const again = await inviteAgain(gridLocationId);
    expect(again.status).toBe(201);
    await stalledAs(id, null);
  });

  it('gets a new invitation at once if that is configured, whose link it never shows', async () => {
    await withReplica(service, { ROLE: 'api', INVITATION_RENEWAL: 'auto' }, async (auto) => {
      const { id, url, gridLocationId, ...old } = await expired({
        brands: ['acme'],
        locale: 'en',
        metadata: { label: 'Barn' },
      });
      const earlier = { grid_location_id: gridLocationId, created_at: '2001-02-03', revoked_at: 'now' };
      await insertRow(service.database.pool, 'invitations', earlier);
      const asked = await renew(`${auto.url}${new URL(url).pathname}`);
      expect(asked.status).toBe(200);
      const [event] = await requestsOf(id);
      const { newInvitationId } = event!.data as { newInvitationId: string };
      const created = await read(newInvitationId);
      expect(created).toMatchObject({
        ...{ state: 'invited', gridLocationId, brands: ['acme'], locale: 'en', metadata: old['metadata'] },
      });
      const sooner = Date.parse((await invite()).expiresAt) - Date.parse(created.expiresAt);
      expect(Math.abs(sooner)).toBeLessThan(3_600_000);
      expect(await asked.text()).not.toContain(created.url.split('/').at(-1));
      expect(await textOf(await open(url))).not.toContain(created.url.split('/').at(-1));
      await renew(`${auto.url}${new URL(url).pathname}`);
      expect(await requestsOf(id)).toHaveLength(1);
      // The tenant does not want this location any more.
      await client.call('DELETE', `/invitations/${newInvitationId}`);
      await service.database.query(
        `UPDATE invitations SET renewal_requested_at = now() - interval '2 days' WHERE id = $1`,
        [id],
      );
      await renew(`${auto.url}${new URL(url).pathname}`);
      expect(await requestsOf(id)).toMatchObject([{}, { data: { newInvitationId: null } }]);
    });
  });

  it('asks for nothing if it was revoked or erased, or still works', async () => {
    const [revoked, erased, live] = [await invite(), await expired(), await invite()];
    await client.call('DELETE', `/invitations/${revoked.id}`);
    await client.call('DELETE', `/users/${erased.userId}`);
    expect((await renew(revoked.url)).status).toBe(410);
    expect((await renew(erased.url)).status).toBe(410);
    const led = await renew(live.url);
    expect([led.status, new URL(led.headers.get('location')!, `${live.url}/renewal`).href]).toEqual([
      303,
      live.url,
    ]);
    for (const { id } of [revoked, erased, live]) expect(await requestsOf(id)).toEqual([]);
    expect((await renew(`${service.url}/i/${'a'.repeat(43)}`)).status).toBe(404);
  });
});

describe('a link that cannot be sent', () => {
  interface Code {
    readonly code: string;
    readonly expiresAt: string;
    readonly enterAt: string;
  }
  const codeOf = async (id: string) => (await client.call<Code>('POST', `/invitations/${id}/code`)).body;
  const enter = (code: string, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/i`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'accept-language': 'en', ...headers },
      body: new URLSearchParams({ code }),
    });
  const query = (text: string, values: readonly unknown[] = []) =>
    service.database.query<{ count: number }>(text, values);
  afterEach(() => query('DELETE FROM code_guesses'));

  it('is a QR code for a letter, each time with an entry in the audit log, and limited as the link', async () => {
    const { app, key, id: keyId } = await createKey(client, 'invitations:write');
    const { id, url } = await invite();
    const image = await fetch(`${service.url}/api/v1/invitations/${id}/qr.svg`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect([image.status, image.headers.get('content-type'), image.headers.get('cache-control')]).toEqual([
      200,
      'image/svg+xml',
      'no-store',
    ]);
    const log = await client.list<object>(`/audit-log?targets=${id}`);
    expect(log).toMatchObject([{ action: 'invitation.link_read', details: { as: 'qr' } }]);
    expect(textInQrCode(await image.text())).toBe(url);
    await query(
      `INSERT INTO audit_log (actor, action, details)
       SELECT 'key:' || $1, 'invitation.link_read', '{}' FROM generate_series(1, 99)`,
      [keyId],
    );
    expect((await app.call('GET', `/invitations/${id}/qr.svg`)).status).toBe(429);
    expect((await app.call('POST', `/invitations/${id}/code`)).status).toBe(429);
    const { app: other } = await createKey(client, 'onboarding:write');
    expect((await other.call('GET', `/invitations/${id}/qr.svg`)).status).toBe(403);
    expect((await other.call('POST', `/invitations/${id}/code`)).status).toBe(403);
  });

  it('has a code that leads to its page once, however it is typed', async () => {
    const { id, url } = await invite();
    const { code, enterAt } = await codeOf(id);
    expect([code, enterAt]).toEqual([expect.stringMatching(/^[A-HJKMNPR-UW-Z]{8}$/), `${service.url}/i`]);
    for (const path of ['', '/', '/?lang=en'])
      expect(await textOf(await open(enterAt + path))).toContain('Enter your code');
    const entered = await enter(` ${code.toLowerCase().slice(0, 4)}-${code.slice(4)}`);
    expect([entered.status, new URL(entered.headers.get('location')!, `${service.url}/i`).href]).toEqual([
      303,
      url,
    ]);
    expect(await shown(enter(code))).toEqual([422, containing('does not work')]);
    expect((await read(id)).state).toBe('invited');
    const stored = await query(`SELECT * FROM invitations WHERE id = $1`, [id]);
    expect(JSON.stringify(stored)).not.toContain(code);
    const [first, second] = [await codeOf(id), await codeOf(id)];
    expect((await enter(first.code)).status).toBe(422);
    expect((await enter(second.code)).status).toBe(303);
  });

  it.each([
    [
      'too old',
      (id: string) =>
        query(`UPDATE invitations SET code_expires_at = now() - interval '1 ms' WHERE id = $1`, [id]),
    ],
    ['of a revoked invitation', (id: string) => client.call('DELETE', `/invitations/${id}`)],
    ['of an erased user', async (id: string) => client.call('DELETE', `/users/${(await read(id)).userId}`)],
  ])('has no code that is %s', async (_, end) => {
    const { id } = await invite();
    const { code } = await codeOf(id);
    await end(id);
    expect((await enter(code)).status).toBe(422);
  });

  it('gets no code once it is over', async () => {
    const { id } = await invite();
    await pass(id);
    expect(await client.call('POST', `/invitations/${id}/code`)).toMatchObject(conflict('expired'));
    expect((await client.call('POST', `/invitations/${randomUUID()}/code`)).status).toBe(404);
  });

  it('is not found by guessing, also at another replica', async () => {
    const { id, url } = await invite();
    const { code } = await codeOf(id);
    expect((await enter(code, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    for (let guess = 0; guess < 10; guess++) expect((await enter('AAAAAAAA')).status).toBe(422);
    const refused = await enter(code);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '90']);
    await withReplica(service, { ROLE: 'api' }, async (replica) => {
      const body = new URLSearchParams({ code });
      expect((await fetch(`${replica.url}/i`, { method: 'POST', body, redirect: 'manual' })).status).toBe(
        429,
      );
      // The replica itself has started no session.
      const { startUrl } = await client.startNew();
      const page = await textOf(await open(replica.url + new URL(url).pathname));
      expect(page).toContain(new URL(startUrl!).host);
      const opened = Array.from({ length: 90 }, () => fetch(`${replica.url}/i/${randomUUID()}`));
      const responses = await Promise.all(opened);
      const waits = responses.flatMap(({ status, headers }) =>
        status === 429 ? headers.get('retry-after') : [],
      );
      expect(waits.every((seconds) => Number(seconds) <= 2)).toBe(true);
      const statuses = responses.map(({ status }) => status);
      expect([...new Set(statuses)].sort()).toEqual([404, 429]);
      expect(statuses.filter((status) => status === 404).length).toBeGreaterThanOrEqual(30);
    });
    await query(`UPDATE code_guesses SET clear_at = clear_at - interval '2 min'`);
    expect((await enter(code)).status).toBe(303);
    // The code that was right does not count.
    expect((await enter('AAAAAAAA')).status).toBe(422);
  });

  it('is not found by guessing from many addresses', async () => {
    const { id } = await invite();
    const { code } = await codeOf(id);
    await query(
      `INSERT INTO code_guesses VALUES ('', now() + interval '61 min'), ('other', now() + interval '1 min')`,
    );
    expect((await enter(code)).status).toBe(429);
    await query(`UPDATE code_guesses SET clear_at = clear_at - interval '2 min'`);
    const counted = () => query(`SELECT * FROM code_guesses WHERE subject IN ('', 'other') ORDER BY subject`);
    const before = await counted();
    expect(before).toHaveLength(2);
    expect((await enter(code)).status).toBe(303);
    expect(await counted()).toEqual(before);
    await service.app.get(LinkCodesStore).forget();
    expect(await counted()).toEqual(before.slice(0, 1));
  });
});

describe('the link of an invitation', () => {
  it.each([
    ['revoked', ({ id }: Invitation) => client.call('DELETE', `/invitations/${id}`), 410],
    ['erased with its user', ({ userId }: Invitation) => client.call('DELETE', `/users/${userId}`), 410],
    ['declined', ({ url }: Invitation) => click(`${url}/decline`), 200],
  ])('leads nobody to a startUrl if it is %s during the start', async (_, end, pageStatus) => {
    const { control } = service.sandbox!;
    const invitation = await invite();
    const hold = await control.addFault({ kind: 'hold', operation: 'start_session', times: 1 });
    const clicking = click(invitation.url);
    await waitUntilHeld(control, 1, hold.id);
    await end(invitation);
    await control.release(hold.id);
    const { status, headers } = await clicking;
    expect([status, headers.get('location')]).toEqual([303, invitation.url.split('/').at(-1)]);
    expect((await open(invitation.url)).status).toBe(pageStatus);
    // The session has been started at the remote service.
    expect((await control.sessions()).map(({ gridLocationId }) => gridLocationId)).toContain(
      invitation.gridLocationId,
    );
  });

  it('says that it is not known or revoked, each in its own words', async () => {
    expect(await shown(open(`${service.url}/i/${'a'.repeat(43)}`))).toEqual([
      404,
      containing('We do not know this link'),
    ]);
    const { id, url } = await invite();
    expect((await open(url.slice(0, -5))).status).toBe(404);
    expect((await open(`${url}).`)).status).toBe(200);
    for (let time = 0; time < 2; time++)
      expect((await client.call('DELETE', `/invitations/${id}`)).body).toMatchObject({ state: 'revoked' });
    expect(await client.eventsOf(id)).toEqual(['invitation.created', 'invitation.revoked']);
    expect(await shown(open(url))).toEqual([410, containing('no longer valid')]);
    expect((await click(url)).headers.get('location')).toBe(url.split('/').at(-1));
    // This service has no BRAND_NAME.
    expect(await textOf(await open(url, { 'accept-language': 'de' }))).toContain(
      'Ihr Energieversorger hat sie beendet. Wenden Sie sich an Ihren Energieversorger',
    );
  });

  it.each<[status: number, method: string, path: string, headers?: Record<string, string>]>([
    [404, 'GET', '/x'],
    [404, 'GET', '/x/'],
    [404, 'GET', `/${'a'.repeat(43)}/x`],
    [404, 'GET', '/x/'.repeat(300)],
    [404, 'GET', '/logo'],
    [404, 'GET', '/brand-picture?brand=acme'],
    [404, 'POST', `/${'a'.repeat(43)}/x`],
    [405, 'PUT', `/${'a'.repeat(43)}`],
    [404, 'GET', '/%zz'],
    [404, 'GET', `/${'a'.repeat(1_997)}`],
    [414, 'GET', `/${'a'.repeat(1_998)}`],
    [414, 'GET', '/'.repeat(15_900)],
    [404, 'POST', `/${'a'.repeat(900)}?${'a'.repeat(1_096)}`],
    [414, 'POST', `/${'a'.repeat(900)}?${'a'.repeat(1_097)}`],
    [431, 'GET', '/'.repeat(17_000)],
    [431, 'GET', '/x', { cookie: 'a'.repeat(17_000) }],
    [404, 'GET', '/x', { 'accept-language': `a${' '.repeat(15_900)}b` }],
  ])('is a page with %d for %s, whatever its path', async (status, method, path, headers = {}) => {
    const response = await fetch(`${service.url}/i${path}`, { method, headers });
    const text = await textOf(response);
    expect([response.status, text]).toEqual([status, containing('We do not know this link')]);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const [, style = ''] = /<link rel="stylesheet" href="([^"]*)"/.exec(text)!;
    if (path.length < 200) expect((await fetch(new URL(style, response.url))).status).toBe(200);
  });

  it('names the methods that it supports, and never leads to an address as long as its own', async () => {
    const refused = await fetch(`${service.url}/i/${'a'.repeat(43)}`, { method: 'PUT' });
    expect(refused.headers.get('allow')).toBe('GET, HEAD, POST');
    const { url } = await invite();
    const longest = await open(`${url}${'/a'.repeat(8)}${'&x'.repeat(800)}`);
    const token = url.split('/').at(-1)!;
    expect([longest.status, longest.headers.get('location')]).toEqual([308, '../'.repeat(8) + token]);
    const twice = await open(`${service.url}/i/${url}?lang=nl`);
    expect(new URL(twice.headers.get('location')!, twice.url).href).toBe(`${url}?lang=nl`);
    for (const written of [
      `${service.url}/I/${token}`,
      `${service.url}/i/${token.replaceAll('-', '\u2011')}`,
      `${service.url}/I/${token.replaceAll('-', '%E2%80%90')}`,
    ])
      expect([written, (await fetch(written, { headers: { 'accept-language': 'en' } })).status]).toEqual([
        written,
        200,
      ]);
    const unknown = await fetch(`${service.url}/I/x`);
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  });

  it('is a page that is given all of the invitation that it shows, and the brand whose start was refused', async () => {
    const { id, url } = await invite({
      ...{
        locale: 'nl',
        metadata: { label: 'Barn' },
        returnUrl: 'http://localhost:9/done',
        brands: ['acme'],
      },
    });
    const send = jest.spyOn(service.app.get(OwnerPageView), 'send');
    const shownBy = async (page: Promise<Response>) => {
      await page;
      return send.mock.calls.at(-1)!.slice(1);
    };
    const context = {
      ...{ token: url.split('/').at(-1), locale: 'nl', label: 'Barn', returnUrl: 'http://localhost:9/done' },
      ...{ isUnopened: true, isDisconnected: false, isLate: false, failingBrands: [], consents: [] },
      host: await service.app.get(OwnerStarts).remoteHost(),
    };
    expect(await shownBy(open(url))).toEqual([expect.objectContaining({ kind: 'ready' }), context]);
    const refusal = { operation: 'start_session', kind: 'answer', status: 422, times: 1 } as const;
    await service.sandbox!.control.addFault(refusal);
    const [refused] = await shownBy(click(`${url}?brand=acme`));
    expect(refused).toMatchObject({ kind: 'rejected', brand: 'acme' });
    await service.database.query(
      `UPDATE invitations SET owner_done_at = now(), online_at = now(), disconnected_at = now() WHERE id = $1`,
      [id],
    );
    await service.database.query(
      `INSERT INTO stalls (kind, subject, cause, since, evidence) VALUES ('invitation', $1, 'completed_not_online', now(), '{}')
       ON CONFLICT (kind, subject) DO UPDATE SET cause = excluded.cause`,
      [id],
    );
    const disconnected = {
      isUnopened: false,
      isDisconnected: true,
      isLate: true,
      consents: [expect.anything()],
    };
    expect((await shownBy(open(url)))[1]).toEqual({ ...context, ...disconnected });
    send.mockRestore();
  });

  it('works with what mail clients add to it', async () => {
    const { url } = await invite();
    for (const added of [
      '_',
      '-',
      '&utm_source=mail',
      '&amp;utm=1',
      '=20',
      '%3C/a%3E',
      '%3E',
      '</a>',
      '%0A',
      '%E2%80%8B',
      '%A0',
      '%',
      '%2',
      ').',
      '?utm_source=mail&utm_source=letter',
      '?lang=nl&lang=en',
      '?constructor=1',
      '?a=%00',
    ])
      expect([added, (await fetch(url + added, { headers: { 'accept-language': 'en' } })).status]).toEqual([
        added,
        200,
      ]);
    const broken = (by: string) => url.slice(0, -20) + by + url.slice(-20);
    for (const by of [
      '%20',
      '%0A',
      '=%0D%0A',
      '=',
      '%C2%AD',
      '%AD',
      '%00',
      '%E2%80%8D',
      '%2520',
      '%3Cwbr%3E',
    ])
      expect([by, (await fetch(broken(by))).status]).toEqual([by, 200]);
    for (const added of ['_', '?utm_source=mail&utm_source=letter&__proto__=%00'])
      expect((await click(broken('=%0A') + added)).headers.get('location')).toMatch(/^http/);
  });

  it.each([
    [4_096, 422],
    [4_097, 413],
  ])('a form of %i bytes, for which no key is needed, has the status %i', async (length, status) => {
    const body = new URLSearchParams({ code: '' });
    body.set('code', 'x'.repeat(length - body.toString().length));
    expect((await fetch(`${service.url}/i`, { method: 'POST', body })).status).toBe(status);
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
    const { 'set-cookie': cookie, ...headers } = Object.fromEntries(response.headers);
    expect(cookie).toBeUndefined();
    expect(headers).toMatchObject({
      ...{ 'content-type': 'text/html; charset=utf-8', 'x-robots-tag': 'noindex', vary: 'accept-language' },
      ...{ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
      'content-security-policy': containing("default-src 'none'"),
    });
    for (const [name, type] of [
      ['page.css', 'text/css; charset=utf-8'],
      ['page.js', 'text/javascript; charset=utf-8'],
    ]) {
      const found = Object.fromEntries((await open(new URL(name!, url).href)).headers);
      expect(found).toMatchObject({ 'content-type': type, 'cache-control': 'public, max-age=300' });
    }
    const other = await invite();
    const french = await open(other.url, { 'accept-language': 'es, fr;q=0.8, en;q=0.5' });
    expect(await textOf(french)).toContain('<html lang="fr">');
  });
});

/** Invites an owner and starts the session as the owner does. Returns the invitation with the id of the session. */
async function begin() {
  const invitation = await invite();
  await click(invitation.url);
  return { ...invitation, sessionId: await sessionOf(invitation) };
}

describe('an owner who is done', () => {
  it('waits for the installation after the session and the date, and sees it come online', async () => {
    const { id, url, sessionId } = await begin();
    const { control } = service.sandbox!;
    await control.complete(sessionId, { onlineAfterMs: null });
    await isIn(id, 'owner_done');
    await control.expire(sessionId);
    await client.untilState(sessionId, 'expired');
    await pass(id);
    const page = await textOf(await open(url));
    expect(page).toContain('Connect again');
    expect((await read(id)).state).toBe('owner_done');
    await control.online(sessionId);
    await isIn(id, 'online');
  });

  it.each(['awaiting_owner', 'awaiting_installation', 'expired'])(
    'begins again once the session is no longer watched, if it was %s last',
    async (state) => {
      const { id, url, sessionId } = await begin();
      const { control } = service.sandbox!;
      if (state !== 'awaiting_owner') {
        await control.complete(sessionId, { onlineAfterMs: null });
        await client.untilState(sessionId, 'awaiting_installation');
      }
      if (state === 'expired') await control.expire(sessionId);
      await client.untilState(sessionId, state);
      await isIn(id, state === 'awaiting_owner' ? 'started' : 'owner_done');
      expect(await textOf(await open(url))).not.toContain('Connect your solar installation');
      await service.database.query(
        `WITH stopped AS (DELETE FROM session_polls WHERE session_id = $1)
         UPDATE onboarding_sessions SET closed_at = clock_timestamp(), changed_at = clock_timestamp(),
                close_reason = 'late_window_over', start_url_ciphertext = NULL
          WHERE id = $1`,
        [sessionId],
      );
      expect(await textOf(await open(url))).toContain('Connect your solar installation');
      await isIn(id, 'started');
    },
  );

  it('has a connected installation also by the session that another one has replaced', async () => {
    const { id, url, gridLocationId, sessionId } = await begin();
    expect((await client.start(gridLocationId, { reuse: false })).status).toBe(201);
    await service.sandbox!.control.online(sessionId);
    await isIn(id, 'online');
    expect(await textOf(await open(url))).toContain('Your installation is connected');
  });

  it('was done at the earliest when invited, although the tenant had started the session before', async () => {
    const gridLocationId = await client.locate();
    const { body: session } = await client.start(gridLocationId);
    await service.sandbox!.control.complete(session.id, { onlineAfterMs: null });
    await client.untilState(session.id, 'awaiting_installation');
    const { body } = await inviteAgain(gridLocationId);
    await isIn(body.id, 'owner_done');
    const { ownerDoneAt, createdAt } = await read(body.id);
    expect(Date.parse(String(ownerDoneAt))).toBeGreaterThanOrEqual(Date.parse(String(createdAt)));
  });

  it('gets the same invitation again', async () => {
    const { id, gridLocationId, sessionId } = await begin();
    await service.sandbox!.control.online(sessionId);
    await isIn(id, 'online');
    const earlier = { opened_at: '2001-02-04', owner_done_at: '2001-02-05', online_at: '2001-02-06' };
    await insertRow(service.database.pool, 'invitations', {
      ...{ grid_location_id: gridLocationId, created_at: '2001-02-03', ...earlier },
    });
    expect(await inviteAgain(gridLocationId)).toMatchObject({ status: 200, body: { id, state: 'online' } });
    const another = { gridLocationId, brands: ['another'] };
    expect(await client.call('POST', '/invitations', another)).toMatchObject({ status: 201, body: another });
  });
});

describe('the step of a brand', () => {
  const ACME = ['acme'];
  const BOTH = ['acme', 'sunward'];
  const late = { state: 'expired', hasBeenDone: true };
  const closed = { closed_at: 'now', close_reason: 'late_window_over' };

  it.each<[awaits: string, brands: string[], sessions: Record<string, unknown>[], steps: string[]]>([
    ['start', ACME, [], ['acme todo']],
    ['start', ACME, [{ state: 'expired' }], ['acme todo']],
    ['start', ACME, [{ state: 'lost' }], ['acme todo']],
    ['start', ACME, [{ state: 'unrecognised' }], ['acme todo']],
    ['start', ACME, [{ brand: 'sunward', state: 'awaiting_owner' }], ['acme todo']],
    ['start', ACME, [{ state: 'awaiting_owner', ...closed }], ['acme todo']],
    ['start', ACME, [{ state: 'awaiting_installation', ...closed }], ['acme todo']],
    ['start', ACME, [{ ...late, ...closed }], ['acme todo']],
    ['finish', ACME, [{ state: 'awaiting_owner' }], ['acme started']],
    ['installation', ACME, [{ state: 'awaiting_installation' }], ['acme waiting']],
    ['installation', ACME, [late], ['acme waiting late']],
    ['online', ACME, [{ state: 'online', ...closed }], ['acme online']],
    ['start', BOTH, [{ state: 'awaiting_installation' }], ['acme waiting', 'sunward todo']],
    ['start', BOTH, [{ state: 'online', brand: 'sunward' }], ['acme todo', 'sunward online']],
    ['finish', BOTH, [{ state: 'awaiting_owner', brand: 'sunward' }], ['acme todo', 'sunward started']],
    [
      'installation',
      BOTH,
      [{ state: 'online' }, { ...late, brand: 'sunward' }],
      ['acme online', 'sunward waiting late'],
    ],
    ['start', [], [], ['null todo']],
    ['finish', [], [{ state: 'lost' }, { state: 'awaiting_owner', brand: 'sunward' }], ['sunward started']],
    ['installation', [], [late], ['null waiting late']],
    ['finish', [], [{ state: 'awaiting_owner' }, { state: 'awaiting_owner', brand: 'b' }], ['b started']],
    ['online', [], [{ state: 'expired' }, { state: 'online', brand: 'sunward' }], ['null online']],
  ])('waits for %s with the brands %j and the sessions %j', async (awaits, brands, sessions, steps) => {
    const { pool } = service.database;
    const { userId: user_id, gridLocationId } = await insertCustomer(pool);
    for (const { hasBeenDone, ...session } of sessions) {
      const basis = session.state === 'awaiting_installation' ? 'inferred' : 'observed';
      const values = { user_id, grid_location_id: gridLocationId, brand: 'acme', basis, ...session };
      const { id: session_id } = await insertRow<{ id: string }>(pool, 'onboarding_sessions', values);
      if (hasBeenDone === true)
        await insertRow(pool, 'session_transitions', {
          session_id,
          basis: 'inferred',
          to_state: 'awaiting_installation',
        });
    }
    const { id } = await invite({ gridLocationId, brands });
    const [row] = await service.database.query(
      `SELECT CASE WHEN online_at IS NULL THEN awaits ELSE 'online' END AS awaits FROM invitations WHERE id = $1`,
      [id],
    );
    expect(row).toEqual({ awaits });
    const found = await service.app.get(InvitationsStore).findSteps(id);
    expect(found.map(({ brand, kind, isLate }) => `${brand} ${kind}${isLate ? ' late' : ''}`)).toEqual(steps);
  });
});

describe('an invitation past its date', () => {
  it('is expired at once, and another one can be made, although the tenant has started a session', async () => {
    const gridLocationId = await client.locate();
    const { body } = await inviteAgain(gridLocationId);
    await client.start(gridLocationId);
    await pass(body.id);
    expect((await read(body.id)).state).toBe('expired');
    expect(await textOf(await open(body.url))).toContain('This invitation has expired');
    expect((await inviteAgain(gridLocationId)).status).toBe(201);
  });

  it('lets an owner who has begun finish, but not begin again', async () => {
    const { id, url, sessionId } = await begin();
    await pass(id);
    expect((await read(id)).state).toBe('started');
    await service.sandbox!.control.expire(sessionId);
    await isIn(id, 'expired');
    expect(await textOf(await open(url))).toContain('This invitation has expired');
  });
});

describe('a start that the remote service refuses', () => {
  it('is on the page and in the invitation until the owner tries again', async () => {
    const { body } = await inviteAgain(await client.locate());
    const refusal = { operation: 'start_session', kind: 'answer', status: 422, times: 1 } as const;
    await service.sandbox!.control.addFault(refusal);
    const clicked = await click(body.url);
    expect([clicked.status, await clicked.text()]).toEqual([422, containing('Try again')]);
    expect(await textOf(await open(body.url))).toContain('This did not work');
    const stalled = await waitFor(
      'the stall to be found',
      async () => (await client.call('GET', `/invitations/${body.id}`)).body.stalled,
    );
    expect(stalled).toMatchObject({ cause: 'remote_unreachable', evidence: { isGivenUp: true } });
    const listed = await client.call<{ items: Invitation[] }>(
      'GET',
      `/invitations?stalled=any&gridLocationId=${body.gridLocationId}`,
    );
    expect(listed.body.items.map(({ id }) => id)).toEqual([body.id]);

    // An invitation that has ended is not listed as stalled, for whichever cause.
    const ended = (await inviteAgain(await client.locate())).body;
    await service.sandbox!.control.addFault(refusal);
    await click(ended.url);
    const stalledAs = async (cause: string) => {
      const path = `/invitations?stalled=${cause}&gridLocationId=${ended.gridLocationId}`;
      return (await client.list<Invitation>(path)).length;
    };
    await waitFor('the stall to be found', async () => (await stalledAs('remote_unreachable')) === 1);
    expect(await stalledAs('any')).toBe(1);
    expect((await client.call('DELETE', `/invitations/${ended.id}`)).status).toBeLessThan(300);
    await waitFor('the stall to end', async () => (await stalledAs('any')) === 0);
    expect((await click(body.url)).headers.get('location')).toContain('pv-onboarding');
    expect(await textOf(await open(body.url))).toContain('You are almost there');
  });
});

it('an invitation has the same link in a response of a process that has begun to stop', () =>
  withReplica(service, {}, async ({ app }) => {
    const invitations = app.get(InvitationsService);
    const page = invitations.codePage;
    await app.close();
    expect([page, invitations.codePage]).toEqual([expect.stringMatching(/:\d\d+\/i$/), page]);
  }));

describe('in production', () => {
  it('nobody is invited without PUBLIC_URL', async () => {
    const gridLocationId = await client.locate();
    const production = await startTestApp({
      ...service.environment,
      NODE_ENV: 'production',
      SHUTDOWN_DELAY_MS: 0,
    });
    try {
      const there = TestClient.of(production);
      expect((await there.call('POST', '/invitations', { gridLocationId })).body).toMatchObject({
        code: 'invalid_request',
        detail: containing('PUBLIC_URL'),
      });
    } finally {
      await production.close();
    }
    expect((await client.call('GET', `/invitations?gridLocationId=${gridLocationId}`)).body).toMatchObject({
      items: [],
    });
  });
});

describe('a reminder', () => {
  const SCHEDULE = scheduleOf([48, 120], 'UTC', 'off');
  const EVENT = 'pv.invitation.reminder_due.v1';

  const query = <Row>(text: string, values: readonly unknown[]) => service.database.query<Row>(text, values);

  /** Moves all times of an invitation into the past, and makes its reminder due. */
  const age = (id: string, hours: number) =>
    query(
      `UPDATE invitations
          SET created_at = created_at - $2 * interval '1 hour', opened_at = opened_at - $2 * interval '1 hour',
              started_at = started_at - $2 * interval '1 hour', wished_at = wished_at - $2 * interval '1 hour',
              reminded_at = reminded_at - $2 * interval '1 hour', reminder_due_at = clock_timestamp() - interval '1 second'
        WHERE id = $1`,
      [id, hours],
    );

  const remind = () => service.app.get(RemindersStore).remind(SCHEDULE);
  const remindersOf = async (id: string): Promise<EventAnswer[]> =>
    (await client.events()).filter(({ type, subject }) => type === EVENT && subject === id);
  const attemptsOf = async (id: string) =>
    (await remindersOf(id)).map(({ data: { attempt, attempts, cause } }) => ({ attempt, attempts, cause }));
  const dueAt = async (id: string) =>
    (
      await query<{ at: Date | null }>('SELECT reminder_due_at AS at FROM invitations WHERE id = $1', [id])
    )[0]!.at;

  it('says which attempt it is and where the owner stands, without the link and the EAN', async () => {
    const { id, url, userId, gridLocationId, expiresAt } = await invite({
      locale: 'nl',
      metadata: { label: 'Barn' },
    });
    await remind();
    expect(await remindersOf(id)).toEqual([]);
    await age(id, 49);
    await remind();
    const [reminder] = await remindersOf(id);
    expect(reminder?.data).toEqual({
      invitationId: id,
      gridLocationId,
      userId,
      tenantReference: expect.any(String),
      brands: [],
      locale: 'nl',
      metadata: { label: 'Barn' },
      campaignId: null,
      expiresAt,
      attempt: 1,
      attempts: 3,
      cause: 'never_opened',
    });
    expect(JSON.stringify(reminder)).not.toContain(url.split('/').at(-1));
    expect(JSON.stringify(reminder)).not.toMatch(/\b\d{18}\b/);
    await click(`${url}?opened=1`);
    await age(id, 72);
    await remind();
    expect(await inviteAgain(gridLocationId)).toMatchObject({ status: 200, body: { id } });
    await age(id, 500);
    await remind();
    expect(await attemptsOf(id)).toMatchObject([
      { attempt: 1, cause: 'never_opened' },
      { attempt: 2, cause: 'opened_not_started' },
    ]);
    expect(await dueAt(id)).toEqual(new Date(Date.parse(expiresAt) - 24 * 3_600_000));
  });

  it('is not due once the owner is done or the invitation is revoked', async () => {
    const [done, revoked] = [await invite(), await invite()];
    await click(done.url);
    await service.sandbox!.control.complete(await sessionOf(done), { onlineAfterMs: null });
    await isIn(done.id, 'owner_done');
    await client.call('DELETE', `/invitations/${revoked.id}`);
    for (const { id } of [done, revoked]) await age(id, 100);
    await remind();
    expect([await remindersOf(done.id), await remindersOf(revoked.id)]).toEqual([[], []]);
    expect(await dueAt(done.id)).toBeNull();
  });

  it('is due at once when a person says so, and the next of the schedule a day later', async () => {
    const { app } = await createKey(client, 'invitations:write');
    const { id, url } = await invite();
    const { status, body } = await app.call<Invitation>('POST', `/invitations/${id}/reminders`);
    expect([status, body.id, body.url]).toEqual([200, id, null]);
    expect(await attemptsOf(id)).toMatchObject([{ attempt: 1, cause: 'never_opened' }]);
    const again = await app.call('POST', `/invitations/${id}/reminders`);
    expect(again).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(3_000);
    expect(await remindersOf(id)).toHaveLength(1);
    const other = await invite();
    const calls = Array.from({ length: 5 }, () => app.call('POST', `/invitations/${other.id}/reminders`));
    const statuses = (await Promise.all(calls)).map((call) => call.status);
    expect(statuses.sort()).toEqual([200, 429, 429, 429, 429]);
    await query(
      `UPDATE invitations SET created_at = created_at - interval '49 hours', reminder_due_at = now() - interval '1 ms' WHERE id = $1`,
      [id],
    );
    await remind();
    expect(await remindersOf(id)).toHaveLength(1);
    await age(id, 24);
    await remind();
    await click(`${url}?opened=1`);
    expect(await remindersOf(id)).toHaveLength(1);
    await client.call('POST', `/invitations/${id}/reminders`);
    expect(await attemptsOf(id)).toMatchObject([{ attempt: 1 }, { attempt: 2, attempts: 2 }]);
    const log = await client.list<object>(`/audit-log?targets=${id}`);
    expect(log).toMatchObject([
      { action: 'invitation.reminded', details: { attempt: 2 } },
      { action: 'invitation.reminded', details: { attempt: 1 } },
    ]);
  });

  it('is due once when an outage is over for which the owner had to wait', async () => {
    const { id, url } = await invite();
    await age(id, 49);
    await service.sandbox!.control.addFault({
      operation: 'start_session',
      kind: 'answer',
      status: 503,
      times: null,
    });
    expect((await click(url)).headers.get('location')).toBe(url.split('/').at(-1));
    expect(await textOf(await open(url))).toContain('We keep trying');
    const gridLocationId = await client.locate();
    const startOther = () => client.start(gridLocationId);
    const isServed = async () => (await service.app.get(InvitationsStore).findOutages()).isServed;
    await waitFor(
      'the outage to be known',
      async () => (await startOther()).status === 503 && !(await isServed()),
    );
    await age(id, 0);
    await remind();
    expect(await remindersOf(id)).toEqual([]);
    await query(
      `UPDATE invitations SET wished_at = now() - interval '3 h', wish_due_at = now() + interval '59 min' WHERE id = $1`,
      [id],
    );
    await service.sandbox!.control.clearFaults();
    await waitFor('another start to succeed', async () => (await startOther()).status < 300);
    await isIn(id, 'started');
    await waitFor('the remote service to count as recovered', isServed);
    // An owner who has left the page open continues without a reminder.
    await age(id, 0);
    await remind();
    expect(await remindersOf(id)).toEqual([]);
    await query(
      `UPDATE invitations SET recovered_at = recovered_at - interval '10 minutes', wished_at = wished_at - interval '2 hours' WHERE id = $1`,
      [id],
    );
    for (let time = 0; time < 2; time++) {
      await age(id, 0);
      await remind();
    }
    expect((await remindersOf(id)).map(({ data }) => data.cause)).toEqual(['recovered']);
  });

  it('is not waited for by owners whose outage another process has seen end: all their starts are taken', async () => {
    await withReplica(service, { ROLE: 'api' }, async (replica) => {
      const waiting = await Promise.all(Array.from({ length: 4 }, () => invite()));
      const ids = waiting.map(({ id }) => id);
      await service.sandbox!.control.addFault({
        operation: 'start_session',
        kind: 'answer',
        status: 503,
        times: null,
      });
      await Promise.all(waiting.map(({ url }) => click(url)));
      const gridLocationId = await client.locate();
      const isServed = async () => (await service.app.get(InvitationsStore).findOutages()).isServed;
      await waitFor(
        'the outage to be known',
        async () => (await client.start(gridLocationId)).status === 503 && !(await isServed()),
      );
      await query(
        `UPDATE invitations SET wished_at = now() - interval '3 h', wish_due_at = now() + interval '59 min' WHERE id = ANY ($1)`,
        [ids],
      );
      await service.sandbox!.control.clearFaults();
      const other = TestClient.of(replica);
      await waitFor(
        'a start of the other process to succeed',
        async () => (await other.start(gridLocationId)).status < 300,
      );
      await Promise.all(ids.map((id) => isIn(id, 'started')));
    });
  });

  it('is not due while the brand fails with which the owner is not done, and once when it is over', async () => {
    const { control } = service.sandbox!;
    for (let n = 0; n < 5; n++) {
      const { id } = await client.startNew({ brand: 'sunward' });
      await control.complete(id, { brand: 'sunward', onlineAfterMs: null });
      await client.startNew({ brand: 'heliotec' });
      await client.startNew();
    }
    const [one, both] = [
      await invite({ brands: ['sunward'] }),
      await invite({ brands: ['sunward', 'heliotec'] }),
    ];
    const failing = async () => {
      await service.app.get(BrandOutages).find();
      return (await service.app.get(InvitationsStore).findOutages()).failingBrands;
    };
    const fault = { operation: 'read_session', kind: 'answer', status: 500, times: null } as const;
    await control.addFault({ ...fault, brand: 'sunward' });
    await waitFor('the brand to fail', async () => (await failing()).includes('sunward'));
    expect(await failing()).toEqual(['sunward']);

    expect(await textOf(await open(one.url))).toContain('sunward cannot be connected right now, through no');
    const page = await textOf(await open(both.url));
    expect(page).toContain('<strong>sunward</strong> <span>cannot be connected right now</span>');
    expect(page).toContain('Connect heliotec');
    for (const { id } of [one, both]) await age(id, 49);
    await remind();
    expect([await remindersOf(one.id), await remindersOf(both.id)]).toMatchObject([[], [{}]]);
    expect((await click(one.url)).headers.get('location')).toBe(one.url.split('/').at(-1));
    const kept = await textOf(await open(one.url));
    for (const text of ['We have kept your request', 'sunward cannot be connected right now, because'])
      expect(kept).toContain(text);
    expect((await click(`${both.url}?brand=heliotec`)).headers.get('location')).toContain('pv-onboarding');
    await query(`UPDATE invitations SET wish_due_at = now() - interval '1 ms' WHERE id = $1`, [one.id]);
    expect(await service.app.get(InvitationsStore).claimWishes(8, 1)).toEqual([]);
    expect(await read(one.id)).toMatchObject({ state: 'opened', stalled: null });

    await control.clearFaults();
    await waitFor('the brand to be read', async () => (await failing()).length === 0);
    await isIn(one.id, 'started');
    await query(
      `UPDATE invitations SET recovered_at = recovered_at - interval '1 h', wished_at = wished_at - interval '2 h',
              reminder_due_at = now() - interval '1 ms' WHERE id = $1`,
      [one.id],
    );
    for (let time = 0; time < 2; time++) await remind();
    expect((await remindersOf(one.id)).map(({ data }) => data.cause)).toEqual(['recovered']);
  });

  it('is not due at once while the owner waits for us, or is done', async () => {
    const [waiting, done] = [await invite(), await invite()];
    await query(
      `UPDATE invitations SET opened_at = now(), wish_due_at = now() + interval '1 h' WHERE id = $1`,
      [waiting.id],
    );
    await query(`UPDATE invitations SET opened_at = now(), awaits = 'installation' WHERE id = $1`, [done.id]);
    for (const { id } of [waiting, done])
      expect(await client.call('POST', `/invitations/${id}/reminders`)).toMatchObject(conflict());
  });

  it('is not due while its link has come back, and is again once it was sent anew', async () => {
    const { id } = await invite();
    const tell = (message: object) => client.call('POST', `/invitations/${id}/messages`, message);
    await tell({ status: 'bounced', channel: 'email' });
    await age(id, 49);
    await remind();
    expect(await remindersOf(id)).toEqual([]);
    expect(await dueAt(id)).not.toBeNull();
    await tell({ status: 'sent', channel: 'letter' });
    await age(id, 0);
    await remind();
    expect(await remindersOf(id)).toHaveLength(1);
  });

  it('says nothing of a person once the user has been erased', async () => {
    const { id, userId } = await invite({ locale: 'nl', metadata: { label: 'Kerkstraat 12' } });
    await age(id, 49);
    await remind();
    await client.call('DELETE', `/users/${userId}`);
    const [reminder] = await remindersOf(id);
    expect(reminder?.data).toMatchObject({ tenantReference: null, metadata: {}, locale: null, attempt: 1 });
    expect(await dueAt(id)).toBeNull();
  });

  it('is not planned of an erased user, of whom nothing is left in the invitation', async () => {
    const returnUrl = 'http://localhost:9/done';
    const { id, userId } = await invite({
      locale: 'nl',
      metadata: { a: 'b' },
      returnUrl,
      expected: { inverters: 2 },
    });
    await client.call('POST', `/invitations/${id}/code`);
    await query(
      `UPDATE invitations SET opened_at = now(), wish_due_at = now() + interval '1 h', wished_at = now(), declined_at = now(), decline_reason = 'not_mine' WHERE id = $1`,
      [id],
    );
    await client.call('DELETE', `/users/${userId}`);
    const [row] = await query<Record<string, unknown>>('SELECT * FROM invitations WHERE id = $1', [id]);
    const left = Object.keys(row!).filter((name) => row![name] !== null);
    expect(left.sort().join(' ')).toBe(
      'awaits awaits_since brands created_at declined_at erased_at expires_at grid_location_id id metadata opened_at reminders_sent token_hash wished_at',
    );
    expect(row!['metadata']).toEqual({});
  });

  it('is announced by a worker, unless reminders are switched off', async () => {
    const [overdue, reminded] = [await invite(), await invite()];
    const start = (REMINDER_SCHEDULE_HOURS: number[]) =>
      startReplica(service, { ROLE: 'worker', REMINDER_QUIET_HOURS: 'off', REMINDER_SCHEDULE_HOURS });
    await age(reminded.id, 49);
    await pass(overdue.id);
    const off = await start([0]);
    await waitFor('another task to have run', async () =>
      (await client.eventsOf(overdue.id)).includes('invitation.expired'),
    );
    await off.close();
    expect(await remindersOf(reminded.id)).toEqual([]);
    const on = await start([48]);
    const [reminder] = await waitFor('the reminder', async () => {
      const reminders = await remindersOf(reminded.id);
      return reminders.length > 0 && reminders;
    });
    await on.close();
    expect(reminder?.data).toMatchObject({ attempt: 1, attempts: 2 });
  });
});
