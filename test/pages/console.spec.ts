import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Browser, BrowserContext, Locator, Page, Route } from 'playwright-core';
import { StallTask } from '../../src/stalls/stall-task.service.js';
import { Sampler } from '../../src/status/history/sampler.service.js';
import { Database } from '../../src/platform/database/database.js';
import { allAtLength } from '../faults/support/promise.js';
import { useFolder } from '../setup/folder.js';
import { insertCampaign } from '../setup/campaign.js';
import { newValidEan, newWrongEan } from '../setup/ean.js';
import { workbookOf, type Cell } from '../setup/workbook.js';
import { TestClient } from '../setup/client.js';
import { authorisedClientOf } from '../setup/sandbox/sandbox-client.js';
import { startWebhookReceiver, type WebhookReceiver } from '../setup/receivers/webhook-receiver.js';
import { useTestApp } from '../setup/test-app.js';
import { waitFor } from '../setup/wait-for.js';
import { withReplica } from '../e2e/replica.js';
import { describeInChromium, faultsOf, launchChromium, LOOKS, picture, SCREENS } from './chromium.js';

/** The step of the clock: longer than any pause of the console before it reads or connects again. */
const PAUSE_MS = 60_000;
/** Markup with a script, which runs if a page inserts the text as markup. */
const MARKUP = '<img src=x onerror="window.ran=true"><script>window.ran=true</script>';

describeInChromium('the console, in Chromium', () => {
  // Nothing is retried during the tests.
  const service = useTestApp({ WEBHOOK_RETRY_SCHEDULE_MS: [3_600_000] });
  const client = TestClient.of(service);
  let hasRecovered = false;
  let takesTests = true;
  let database: Database;
  let browser: Browser;
  let receiver: WebhookReceiver;
  /** A browser in which a person is signed in. */
  let desktop: BrowserContext;
  /** A session whose owner has not finished the web flow for hours. */
  let stalledId: string;
  /** An endpoint that responds with errors. */
  let failingId: string;

  beforeAll(async () => {
    database = service.database;
    browser = await launchChromium();
    receiver = await startWebhookReceiver();
    receiver.answer = ({ path }) => {
      if (path === '/fails' || (path === '/new' && !takesTests)) return { status: 500, body: MARKUP };
      return path === '/recovers' && !hasRecovered ? { status: 500, body: 'not yet' } : { status: 204 };
    };
    for (const path of ['/works', '/fails']) {
      const input = { url: receiver.url + path, description: MARKUP };
      failingId = (await client.call<{ id: string }>('POST', '/webhook-endpoints', input)).body.id;
    }
    const locationId = await client.locate('customer-7');
    stalledId = (await client.start(locationId, { brand: 'acme', metadata: { note: MARKUP } })).body.id;
    await client.call('POST', '/invitations', { gridLocationId: await client.locate(), brands: ['acme'] });
    await database.query(
      `UPDATE onboarding_sessions SET recorded_at = recorded_at - interval '5 h', state_changed_at = state_changed_at - interval '5 h' WHERE id = $1`,
      [stalledId],
    );
    await service.app.get(StallTask).run();
    desktop = await browser.newContext({ viewport: SCREENS.desktop });
    await visit(desktop, '', signIn);
  });
  afterAll(async () => {
    await browser?.close();
    await receiver?.close();
  });

  const signIn = async (page: Page, heading = 'Needs a person', key = client.key) => {
    await page.getByLabel('API key').waitFor();
    expect(await page.locator(':focus').getAttribute('id')).toBe('key');
    await page.keyboard.type('not-a-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: heading }).waitFor();
  };

  async function visit(
    context: BrowserContext,
    path: string,
    work: (page: Page) => Promise<unknown>,
  ): Promise<void> {
    const page = await context.newPage();
    try {
      await page.goto(`${service.url}/console${path}`);
      await work(page);
    } finally {
      await page.close();
    }
  }
  const signedIn = (path: string, work: (page: Page) => Promise<unknown>) => visit(desktop, path, work);

  /** Waits for a notification, whose link leads to a page. */
  const told = (page: Page, words: string, link: string) =>
    page.getByRole('status').filter({ hasText: words }).getByRole('link', { name: link }).first().waitFor();

  /** Advances the clock of the page until the page has `count` elements of this locator. */
  const soon = (page: Page, locator: Locator, count = 1) =>
    waitFor(String(locator), async () => {
      await page.clock.fastForward(PAUSE_MS);
      return (await locator.count()) === count;
    });

  /** Registers a customer whose registration loses its response. */
  async function loseRegistration(tenantReference: string): Promise<string> {
    // A registration that succeeds, so that the losses of these tests do not open the circuit breaker.
    await client.locate();
    await service.sandbox!.control.addFault({ kind: 'reset', contains: tenantReference });
    const { body } = await client.call<{ id: string }>('POST', '/users', {
      tenantReference,
      gridLocations: [{ ean: '541448820044186577' }],
    });
    return body.id;
  }
  const registration = async (id: string) =>
    (await client.call<{ status: string }>('GET', `/registrations/${id}`)).body.status;

  it('leads from the stalled by cause to the session and its timeline', async () => {
    await signedIn('?view=customers', async (page) => {
      await page.getByRole('link', { name: /^The owner has started, and has not finished/ }).click();
      await page.getByRole('link', { name: stalledId.slice(0, 8) }).click();
      await page.getByText('Stalled:').waitFor();
      await page.getByText('First: Ask the owner').waitFor();
      await page.getByRole('table', { name: 'What happened' }).getByText('by the rule as started').waitFor();
      await page.getByRole('button', { name: 'Refresh now' }).click();
      await told(page, 'It is read. Its state is awaiting owner.', 'Open the session');
      expect(new URL(page.url()).pathname).toBe(`/console/sessions/${stalledId}`);
    });
  });

  it('finds a customer from any page with the keyboard alone, and no term is in the address', async () => {
    await signedIn('/webhooks', async (page) => {
      await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
      await page.keyboard.press('Tab');
      expect(await page.locator(':focus').innerText()).toBe('Skip to the page');
      await page.keyboard.press('Tab');
      expect(await page.locator(':focus').getAttribute('type')).toBe('search');
      await page.keyboard.type('a mistake');
      await page.keyboard.press('Escape');
      expect(await page.locator(':focus').getAttribute('id')).toBe('main');
      await page.keyboard.press('/');
      await page.keyboard.type('customer-7');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Customer customer-7' }).waitFor();
      expect(new URL(page.url()).pathname).toMatch(/^\/console\/customers\/[-\da-f]{36}$/);
      await page.keyboard.press('/');
      await page.keyboard.type(stalledId);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: `Session ${stalledId.slice(0, 8)}` }).waitFor();
    });
  });

  it('goes to a page, does its act and finds a customer by the keyboard alone', async () => {
    await signedIn('/webhooks', async (page) => {
      await page.getByRole('button', { name: 'Create an endpoint' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('option', { name: 'Create an endpoint' }).waitFor();
      await picture(page, 'console-palette');
      expect(await faultsOf(page)).toEqual([]);
      await page.keyboard.type('camp');
      await page.getByRole('option', { name: 'Campaigns' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Import customers' }).waitFor();
      await page.keyboard.press('ControlOrMeta+k');
      await page.locator('[role=combobox]:focus').waitFor();
      await page.keyboard.type('import');
      await page.getByRole('option', { name: 'Import customers' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: '1. The file' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.locator('[role=combobox]:focus').waitFor();
      await page.keyboard.type('customer-7');
      await page
        .getByRole('option', { name: /^customer-7.*customer/ })
        .first()
        .waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Customer customer-7' }).waitFor();
      expect(page.url()).not.toContain('customer-7');
      await page.keyboard.press('Control+k');
      await page.locator('[role=combobox]:focus').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });
  });

  it('sends an uncertain registration again only after a confirmation that names the danger', async () => {
    const id = await loseRegistration('customer-8');
    await signedIn('/registrations', async (page) => {
      await page
        .getByRole('row', { name: /customer-8/ })
        .getByRole('button', { name: 'Send again' })
        .click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('creates a second user').waitFor();
      expect(await dialog.getByRole('button', { name: 'Send again' }).isDisabled()).toBe(true);
      await picture(page, 'console-retry');
      expect(await faultsOf(page)).toEqual([]);
      await dialog.getByRole('checkbox').check();
      await dialog.getByRole('button', { name: 'Send again' }).click();
      await waitFor('the registration', async () => (await registration(id)) === 'registered');
      await dialog.waitFor({ state: 'detached' });
    });
  });

  it('enters the user that the provider confirmed, and gives a registration up', async () => {
    const [exists, given] = [await loseRegistration('customer-9'), await loseRegistration('customer-10')];
    await signedIn('/registrations', async (page) => {
      const act = (customer: string, button: string) =>
        page.getByRole('row', { name: customer }).getByRole('button', { name: button }).click();
      await act('customer-9', 'It exists');
      const dialog = page.getByRole('dialog', { name: /^It exists/ });
      const pasted = dialog.getByLabel('What the provider confirmed');
      await pasted.fill('We found it: 8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5, EAN 541448820044186999.');
      await dialog.getByText('The EAN 541448820044186999 was not requested').waitFor();
      await pasted.fill(
        'User 8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5\n541448820044186577\t8bc432c7-fd1e-4d99-9dcb-2fbcb63255c',
      );
      const enter = dialog.getByRole('button', { name: 'Enter this user' });
      expect(await dialog.getByLabel('User id').inputValue()).toBe('8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5');
      expect(await enter.isDisabled()).toBe(true);
      const location = dialog.getByLabel(/Grid location id/);
      await location.fill('8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5');
      await dialog.getByText('This id is entered twice').first().waitFor();
      expect(await enter.isDisabled()).toBe(true);
      await picture(page, 'console-resolve');
      expect(await faultsOf(page)).toEqual([]);
      await location.fill('8bc432c7-fd1e-4d99-9dcb-2fbcb63255c6');
      await enter.click();
      await waitFor('the user', async () => (await registration(exists)) === 'registered');
      await act('customer-10', 'Give up');
      await page.getByRole('dialog').getByRole('button', { name: 'Give up' }).click();
      await waitFor('the end', async () => (await registration(given)) === 'discarded');
      await page.getByText('No registration waits for a decision.').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('customer-9');
      await page.keyboard.press('Enter');
      const done = page.getByRole('table', { name: 'What was done' }).getByRole('row', { name: exists });
      expect(await done.innerText()).toContain('registration resolved');
      expect(await done.innerText()).toContain('administrator key, in the console');
    });
  });

  it('reads a session that could not be read, at the press of its remedy, and shows that it has left the list', async () => {
    const { body } = await client.start(await client.locate('customer-14'), { brand: 'acme' });
    // Nothing reads it by itself.
    const fail = `
        UPDATE session_polls
        SET failures = 3, failing_since = now() - interval '2 h', claimed_at = now() - interval '3 h', checked_at = now() - interval '3 h',
          last_error = 'unreadable', due_at = 'infinity'
        WHERE session_id = $1 AND NOT EXISTS (SELECT FROM poll_batches WHERE id = batch_id) RETURNING session_id`;
    await waitFor('the session is stalled', async () => {
      await database.query(fail, [body.id]);
      const found = await client.call<{ stalled: { cause: string } | null }>(
        'GET',
        `/onboarding/pv/${body.id}`,
      );
      return found.body.stalled?.cause === 'remote_unreachable';
    });
    await signedIn('/stalled', async (page) => {
      const row = page.getByRole('row', { name: 'customer-14' });
      await row.getByText('The last 3 reads of the session failed').waitFor();
      await picture(page, 'console-remedy');
      await row.getByRole('link', { name: body.id.slice(0, 8) }).click();
      await page.getByText('The last 3 reads of the session failed').waitFor();
      expect(await page.getByText('Waits for the owner').count()).toBe(0);
      await page.goBack();
      await row.getByRole('button', { name: 'Read it now' }).click();
      await told(page, 'Done.', 'Open the session');
      await row.waitFor({ state: 'detached' });
      await page.goto(`${service.url}/console/sessions/${body.id}`);
      await page.getByText('Waits for the owner').first().waitFor();
      await page.getByRole('link', { name: 'customer-14' }).click();
      await page.getByRole('heading', { name: 'Customer customer-14' }).waitFor();
      expect(page.url()).not.toContain('customer-14');
      await page
        .getByText(/to be done by/)
        .first()
        .waitFor();
    });
  });

  it('asks before a remedy that cannot be undone, leads to the page of one that a person has to write, and hides those without the scope', async () => {
    const id = await loseRegistration('customer-15');
    const remedies = (page: Page) => page.getByRole('row', { name: 'customer-15' });
    await signedIn('/stalled', async (page) => {
      const row = remedies(page);
      const link = row.getByRole('link', { name: 'It exists' });
      expect(await link.getAttribute('href')).toBe('/console/registrations?status=uncertain');
      await row.getByRole('button', { name: 'Give it up' }).click();
      await page.getByRole('dialog').getByText('The customer is not registered.').waitFor();
      await picture(page, 'console-remedy-dialog');
      expect(await faultsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Go back' }).click();
      expect(await registration(id)).toBe('uncertain');
      await row.getByRole('button', { name: 'Give it up' }).click();
      const confirm = page.getByRole('dialog').getByRole('button', { name: 'Give it up' });
      // No read is answered either: the failure does not wait for them.
      const unanswered = (route: Route) => (route.request().method() === 'GET' ? undefined : route.abort());
      await page.route('**/api/v1/**', unanswered);
      await confirm.click();
      await page.getByRole('dialog').getByRole('alert').getByText('cannot be reached').waitFor();
      await page.unroute('**/api/v1/**', unanswered);
      const { body } = await client.call<{ key: string }>('POST', '/api-keys', {
        name: 'reader',
        scopes: ['users:read'],
      });
      await visit(await browser.newContext(), '/stalled', async (other) => {
        await other.getByLabel('API key').fill(body.key);
        await other.getByRole('button', { name: 'Sign in' }).click();
        await remedies(other).getByText('Nobody knows whether').waitFor();
        expect(await remedies(other).locator('.remedies').getByRole('button').count()).toBe(0);
      });
      await confirm.click();
      await waitFor('the end', async () => (await registration(id)) === 'discarded');
      await row.waitFor({ state: 'detached' });
    });
  });

  it('has the remedies of a customer on its page, and enables an endpoint that a person has disabled', async () => {
    const id = await loseRegistration('customer-16');
    const { body } = await client.call<{ id: string }>('POST', '/webhook-endpoints', {
      url: `${receiver.url}/switched`,
      description: 'switched',
    });
    const endpoint = `/webhook-endpoints/${body.id}`;
    await client.call('PATCH', endpoint, { enabled: false });
    const isEnabled = async () => (await client.call<{ enabled: boolean }>('GET', endpoint)).body.enabled;
    await waitFor('the registration is stalled', async () => {
      const { body: found } = await client.call<{ stalled: object | null }>('GET', `/registrations/${id}`);
      return found.stalled !== null;
    });
    await signedIn('/customers', async (page) => {
      await find(page, 'customer-16');
      await page.getByRole('button', { name: 'Give it up' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Give it up' }).click();
      await waitFor('the end', async () => (await registration(id)) === 'discarded');
      await page.goto(`${service.url}/console/webhooks`);
      const row = page.getByRole('row', { name: 'switched' });
      await row.getByRole('button', { name: 'Enable it' }).click();
      await waitFor('the endpoint is enabled', isEnabled);
    });
    await client.call('DELETE', endpoint);
  });

  it('leads a key to the first page that it may see, and says which scope another page needs', async () => {
    const { body } = await client.call<{ key: string }>('POST', '/api-keys', {
      name: 'registrar',
      scopes: ['users:read'],
    });
    await visit(await browser.newContext(), '', async (page) => {
      await page.getByLabel('API key').fill(body.key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Stalled', exact: true }).waitFor();
      await page.goto(`${service.url}/console/sessions`);
      await page.getByText('It needs the scope onboarding:read.').waitFor();
    });
  });

  it('says that nothing is known under a term', async () => {
    await signedIn('', async (page) => {
      await page.getByRole('searchbox').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('nobody');
      await page.keyboard.press('Enter');
      await page.getByText('Nothing is known under “nobody”').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    });
  });

  it('finds customers by the beginning of a reference, and leads to the one that is meant', async () => {
    await client.locate('Oak-1');
    await client.locate('Oak-12');
    await signedIn('/webhooks', async (page) => {
      await page.getByRole('searchbox').fill('oak-');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Oak-12' }).click();
      await page.getByRole('heading', { name: 'Customer Oak-12' }).waitFor();
      await page.getByRole('searchbox').fill('Oak-1');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Customer Oak-1', exact: true }).waitFor();
      await page.getByRole('link', { name: 'Oak-12' }).waitFor();
      expect(page.url()).not.toContain('Oak');
    });
  });

  it('leads from a silent endpoint to the cause, and sends what failed again', async () => {
    const receivedAt = () => receiver.received.filter(({ path }) => path === '/recovers').length;
    await client.call('POST', '/webhook-endpoints', {
      url: `${receiver.url}/recovers`,
      types: ['user.registered'],
    });
    await client.locate();
    await waitFor('an attempt', () => receivedAt() > 0);
    await signedIn('?view=events', async (page) => {
      await page.clock.install();
      await page.getByRole('link', { name: '/recovers' }).click();
      await page.getByText('Ask the team of its app about the last answer').first().waitFor();
      const last = page.getByRole('region', { name: 'Last answer' });
      await last.getByText('HTTP 500').waitFor();
      await last.getByText('not yet').waitFor();
      await last.getByText('user.registered').click();
      await last.getByText(`POST ${receiver.url}/recovers`).waitFor();
      await last.getByText('webhook-signature: (not shown)').waitFor();
      await page.getByRole('img', { name: '1 event, 0 % are delivered.' }).waitFor();
      hasRecovered = true;
      const before = receivedAt();
      await last.getByRole('button', { name: 'Redeliver' }).click();
      await waitFor('the event', () => receivedAt() > before);
      await page.getByLabel('Outcome').selectOption('retried');
      await soon(page, page.getByText('No delivery fails.'));
      await page.getByRole('region', { name: 'Now' }).getByText('Works; last delivery').waitFor();
      await last.getByText('HTTP 204').waitFor();
      await last.getByText('Earlier attempts').click();
      await last.getByText('not yet').waitFor();
      expect(await faultsOf(page)).toEqual([]);
    });
  });

  it('sends an event to an endpoint again', async () => {
    const receivedAt = () => receiver.received.filter(({ path }) => path === '/again').length;
    // Gets one event: a later one would move the row.
    const { body } = await client.call<{ id: string }>('POST', '/webhook-endpoints', {
      url: `${receiver.url}/again`,
      types: ['user.registered'],
    });
    await client.locate();
    await waitFor('a delivery', () => receivedAt() > 0);
    await signedIn('/webhooks?status=any', async (page) => {
      const before = receivedAt();
      const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row', { name: '/again' });
      await row.getByRole('button', { name: 'Redeliver' }).click();
      await waitFor('the event', () => receivedAt() > before);
      await row.locator('summary').first().click();
      await row.getByText('"specversion"').waitFor();
      expect(await faultsOf(page)).toEqual([]);
      const again = receivedAt();
      await row.getByLabel('Select').check();
      const chosen = page.getByRole('group', { name: 'What is selected' });
      await chosen.getByRole('button', { name: 'Redeliver' }).click();
      await page.getByRole('dialog').getByLabel('Why').fill('The app has lost it');
      await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click();
      await page.getByText('1 done, 0 skipped, 0 failed.').waitFor();
      await waitFor('the event once more', () => receivedAt() > again);
    });
    await client.call('DELETE', `/webhook-endpoints/${body.id}`);
  });

  it('pauses, resumes and cancels a campaign', async () => {
    const paused = { status: 'paused' };
    await insertCampaign(database, [{ tenantReference: 'row-1' }], { name: 'Autumn', ...paused });
    const id = await insertCampaign(database, [{ tenantReference: 'row-2' }], {
      name: 'Winter',
      ...paused,
    });
    // The campaign is not due, so it stays in this status until a person pauses it.
    await database.query(`UPDATE campaigns SET status = 'running', due_at = 'infinity' WHERE id = $1`, [id]);
    await signedIn('/campaigns', async (page) => {
      const act = async (name: RegExp, button: string, status: string) => {
        const row = page.getByRole('row', { name });
        await row.getByRole('button', { name: button }).click();
        await row.locator('.badge', { hasText: status }).waitFor();
      };
      const autumn = page.getByRole('row', { name: /Autumn/ });
      await autumn.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('dialog').getByText('It cannot be resumed').waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Go back' }).click();
      expect(await autumn.locator('.badge').innerText()).toContain('paused');
      await autumn.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Cancel the campaign' }).click();
      await told(page, 'The campaign is cancelled.', 'Open the campaign');
      await autumn.locator('.badge', { hasText: 'cancelled' }).waitFor();
      await autumn.getByText('0 of 1 row').waitFor();
      await act(/Winter/, 'Pause', 'paused');
      await act(/Winter/, 'Resume', 'finished');
    });
    expect(
      await database.query(
        `SELECT name, status FROM campaigns WHERE name IN ('Autumn', 'Winter') ORDER BY name`,
      ),
    ).toEqual([
      { name: 'Autumn', status: 'cancelled' },
      { name: 'Winter', status: 'finished' },
    ]);
  });

  /** Opens the page of the import, and gives it a file. */
  const choose = async (page: Page, name: string, buffer: Buffer) => {
    await page.getByRole('heading', { name: '1. The file' }).waitFor();
    await page
      .getByLabel('Drop an Excel or CSV file here')
      .setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
  };

  it('imports a file after its columns are recognised, and a wrong and a doubtful row are corrected', async () => {
    const eans = [newValidEan(), newValidEan(), newValidEan()] as const;
    const mistyped = newWrongEan();
    const cells = [eans[0], eans[1].slice(0, -1), mistyped].map((ean, at) => `import-${at + 1};${ean};Dorp`);
    const text = ['Klantnummer;EAN-code;Straat', '', ...cells, ''].join('\n');
    await signedIn('/campaigns', async (page) => {
      await page.getByRole('button', { name: 'Import customers' }).click();
      await choose(page, 'klanten.csv', Buffer.from(text));
      await page.getByRole('heading', { name: '2. The columns of klanten.csv' }).waitFor();
      expect(await page.getByLabel('Klantnummer').inputValue()).toBe('tenantReference');
      expect(await page.getByLabel('EAN-code').inputValue()).toBe('ean');
      expect(await page.getByLabel('Straat').inputValue()).toBe('');
      await page.setViewportSize(SCREENS.phone);
      for (const label of ['Klantnummer', 'EAN-code', 'Straat'])
        await page.getByLabel(label).click({ trial: true });
      await picture(page, 'console-import-phone');
      await page.setViewportSize(SCREENS.desktop);
      await page.getByRole('button', { name: 'Check the rows' }).click();
      const cell = page.getByLabel('EAN-code of row 4');
      await cell.fill(eans[1]);
      const odd = page.getByRole('row', { name: /probably mistyped/ }).getByLabel('EAN-code of row 5');
      expect(await odd.inputValue()).toBe(mistyped);
      await odd.fill(eans[2]);
      await page.getByRole('button', { name: 'Check again' }).click();
      await page.getByText('3 rows will be registered').waitFor();
      expect(await page.getByLabel(/^EAN-code of row/).count()).toBe(0);
      await page.getByRole('button', { name: 'Register 3 rows' }).click();
      await page.getByRole('heading', { name: 'klanten' }).waitFor();
      await page.getByRole('row', { name: /import-2/ }).waitFor();
    });
    await waitFor('the customers', async () => {
      const items = await client.list<unknown>('/users?tenantReference=import-2');
      return items.length === 1;
    });
  });

  it('takes rows that are dropped beside the box, pasted, chosen or typed, by the keyboard too', async () => {
    const rows = `Klantnummer;EAN-code\nimport-9;${newValidEan()}`;
    await desktop.grantPermissions(['clipboard-read', 'clipboard-write']);
    await signedIn('/campaigns/new', async (page) => {
      const taken = async (name: string) => {
        await page.getByRole('heading', { name: `2. The columns of ${name}` }).waitFor();
        await page.getByRole('button', { name: 'Take another file' }).click();
        await page.getByRole('heading', { name: '1. The file' }).waitFor();
      };
      const drop = async (...names: string[]) => {
        // The script is text, because this repository has the types of Node, not those of a browser.
        const script = `(() => {
          const data = new DataTransfer();
          for (const name of ${JSON.stringify(names)}) data.items.add(new File([${JSON.stringify(rows)}], name));
          return data;
        })()`;
        await page.dispatchEvent('h1', 'drop', { dataTransfer: await page.evaluateHandle(script) });
      };
      await page.getByRole('heading', { name: '1. The file' }).waitFor();
      await drop('one.csv', 'two.csv');
      await page.getByRole('alert').getByText('Take one file at a time.').waitFor();
      await drop('dropped.csv');
      await taken('dropped.csv');
      const box = page.getByLabel('Drop an Excel or CSV file here');
      const chosen = page.waitForEvent('filechooser');
      await box.press('Enter');
      await (await chosen).setFiles({ name: 'chosen.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) });
      await taken('chosen.csv');
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(rows)})`);
      await page.keyboard.press('ControlOrMeta+v');
      await taken('Pasted rows');
      await page.setViewportSize({ width: 320, height: 560 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await page.setViewportSize(SCREENS.desktop);
      await page.getByLabel('Or paste rows').pressSequentially('import-9');
      const take = page.getByRole('button', { name: 'Take these rows' });
      await take.press('Enter');
      await page.getByRole('alert').getByText('There must be a line with the names').waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await page.getByLabel('Or paste rows').fill(rows);
      await take.press('Enter');
      await taken('Pasted rows');
    });
  });

  it('imports 500 customers from a sheet of a workbook, with five wrong rows corrected in place', async () => {
    const wrong: Readonly<Record<number, Cell>> = {
      7: '54144882004418',
      70: { xml: '<c><v>541448820044186577</v></c>' },
      170: '',
      270: 'unknown',
      470: '541448820044186570000',
    };
    const eans = Array.from({ length: 500 }, newValidEan);
    const rows = eans.map((ean, at) => [`excel-${at}`, wrong[at] ?? ean, 'Dorp']);
    const book = workbookOf({ Klanten: [['Klantnummer', 'EAN-code', 'Straat'], ...rows], Lijst: [['x']] });
    await signedIn('/campaigns/new', async (page) => {
      await choose(page, 'klanten.xlsx', book);
      await page.getByRole('button', { name: 'Klanten (501 rows)' }).click();
      await page.getByRole('heading', { name: '2. The columns of klanten.xlsx, Klanten' }).waitFor();
      await page.getByText('500 rows. The first 10:').waitFor();
      await page.getByRole('button', { name: 'Check the rows' }).click();
      for (const at of Object.keys(wrong).map(Number))
        await page.getByLabel(`EAN-code of row ${at + 2}`).fill(eans[at]!);
      await picture(page, 'console-import');
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.getByRole('button', { name: 'Register 495 rows' }).isDisabled()).toBe(true);
      await page.getByRole('button', { name: 'Check the corrected rows' }).click();
      await page.getByText('500 rows will be registered at the provider').waitFor();
      expect(await page.getByLabel(/^EAN-code of row/).count()).toBe(0);
      await page.getByRole('button', { name: 'Register 500 rows' }).dblclick();
      await page.getByRole('heading', { name: 'klanten, Klanten' }).waitFor();
    });
    const [campaign, another] = await database.query<{ id: string; rows: number }>(
      `SELECT id, rows FROM campaigns WHERE name = 'klanten, Klanten' AND status <> 'checked'`,
    );
    expect(another).toBeUndefined();
    const { body } = await client.call<{ summary: object }>('GET', `/campaigns/${campaign!.id}`);
    expect([campaign!.rows, body.summary]).toEqual([500, expect.objectContaining({ invalid: 0 })]);
    // The other tests need the capacity of the service.
    await client.call('POST', `/campaigns/${campaign!.id}/cancel`);
  });

  it('invites the owners of a file whose customers are all known, and names those who have declined', async () => {
    const known = await Promise.all(
      ['known-1', 'known-2'].map(async (tenantReference) => {
        const body = { tenantReference, gridLocations: [{ ean: newValidEan() }] };
        const user = await client.call<{ gridLocations: [{ id: string; ean: string }] }>(
          'POST',
          '/users',
          body,
        );
        return { tenantReference, ...user.body.gridLocations[0] };
      }),
    );
    const { body: declined } = await client.call<{ url: string }>('POST', '/invitations', {
      gridLocationId: known[0]!.id,
    });
    await fetch(`${declined.url}/decline`, { method: 'POST', redirect: 'manual' });
    const rows = known.map(({ tenantReference, ean }) => `${tenantReference};${ean}`);
    const file = ['tenantReference;ean', ...rows].join('\n');
    await signedIn('/campaigns/new', async (page) => {
      await choose(page, 'known.csv', Buffer.from(file));
      await page.getByRole('button', { name: 'Check the rows' }).click();
      expect(await page.getByRole('button', { name: 'Register 0 rows' }).isDisabled()).toBe(true);
      await page.getByText('does the owner want to be asked again?').waitFor();
      await page.getByLabel('Invite the owners').check();
      await page.getByText('and the owners of 2 rows get an invitation').waitFor();
      await page.getByRole('button', { name: 'Invite the owners of 2 rows' }).click();
      await page.getByRole('heading', { name: 'known', exact: true }).waitFor();
    });
    for (const { id } of known)
      await waitFor('the owner to be invited', async () => {
        const live = await client.list(`/invitations?gridLocationId=${id}&state=invited`);
        return live.length === 1;
      });
  });

  it('refuses a file that cannot be read in words, stays usable, and reads it in a worker of its own origin', async () => {
    const cells = [['Klantnummer', 'EAN-code', 'Klantnummer']];
    const book = workbookOf({ A: [...cells, ['<script>window.ran=true</script>', '=1+1', MARKUP]] });
    const bomb = workbookOf({ A: cells }, { 'xl/bomb.xml': [new Uint8Array(100_000_001), { level: 1 }] });
    await signedIn('/campaigns/new', async (page) => {
      const violations: string[] = [];
      page.on('console', (message) => void (message.type() === 'error' && violations.push(message.text())));
      const refused = page.getByRole('alert');
      for (const [buffer, words] of [
        [bomb, 'more than 100 MB once it is unpacked'],
        [Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0, 0, 0, 0]), 'an old version of Excel'],
        [book.subarray(0, 300), 'is damaged'],
        [Buffer.from('a;b\n'), 'and a row below'],
      ] as const) {
        await choose(page, 'klanten.xlsx', buffer);
        await refused.getByText(words).waitFor();
      }
      const worker = page.waitForEvent('worker');
      await choose(page, 'klanten.xlsx', book);
      expect(new URL((await worker).url()).origin).toBe(service.url);
      await page.getByRole('cell', { name: '<script>window.ran=true</script>', exact: true }).waitFor();
      expect(await page.evaluate('window.ran')).toBeUndefined();
      await page.getByLabel('Klantnummer').nth(1).selectOption('tenantReference');
      await page.getByText('Two columns are “Customer reference”. Choose one.').waitFor();
      expect(await page.getByRole('button', { name: 'Check the rows' }).isDisabled()).toBe(true);
      expect(violations).toEqual([]);
    });
  });

  it('creates a key for a role, shows it once, and revokes it, as the audit log says', async () => {
    await signedIn('/keys', async (page) => {
      await page.getByRole('button', { name: 'Create a key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create a key' });
      await dialog.getByLabel('Name').fill('night shift');
      await dialog.getByLabel('For').selectOption('duty');
      await picture(page, 'console-key');
      expect(await faultsOf(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Create a key' }).dblclick();
      const once = page.getByRole('dialog', { name: 'The key “night shift”' });
      const key = await once.locator('pre').innerText();
      const url = `${service.url}/api/v1/registrations`;
      const statusOf = async () => (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status;
      expect(await statusOf()).toBe(200);
      await once.getByRole('button', { name: 'Close' }).click();
      expect(await page.getByText(key).count()).toBe(0);
      const row = page.getByRole('row', { name: /night shift/ });
      expect(await row.count()).toBe(1);
      await row.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await row.getByText('revoked').waitFor();
      await page.getByRole('link', { name: 'Audit log', exact: true }).click();
      await page
        .getByRole('row', { name: /API key revoked/ })
        .first()
        .waitFor();
    });
  });

  it('creates an endpoint with a secret that is shown once, tests it, and deletes it', async () => {
    await signedIn('/webhooks', async (page) => {
      await page.getByRole('button', { name: 'Create an endpoint' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('URL').fill(`${receiver.url}/new`);
      await dialog.getByRole('group', { name: 'session' }).getByLabel('online').check();
      expect(await dialog.getByLabel('All types').isChecked()).toBe(false);
      await picture(page, 'console-endpoint-new');
      expect(await faultsOf(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Create an endpoint' }).click();
      const once = page.getByRole('dialog', { name: /^The secret/ });
      expect(await once.locator('pre').innerText()).toMatch(/^whsec_/);
      await once.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('table', { name: 'Endpoints' }).getByRole('link', { name: '/new' }).click();
      await page.getByText('No event has been sent to it yet').waitFor();
      await page.getByText('session.online', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Change' }).click();
      await dialog.getByRole('checkbox', { name: 'session' }).check();
      await dialog.getByRole('checkbox', { name: 'session' }).uncheck();
      expect(await dialog.getByLabel('All types').isChecked()).toBe(true);
      await dialog.getByRole('button', { name: 'Change' }).click();
      await page.getByText('every type of event').waitFor();
      await page.getByRole('button', { name: 'Test' }).click();
      await page.getByText('It took the test event: HTTP 204').waitFor();
      takesTests = false;
      await page.getByRole('button', { name: 'Test' }).click();
      await page.getByRole('alert').getByText('It did not take the test event: responded with 500').waitFor();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    });
  });

  it('invites a customer, revokes the invitation, and erases the customer with a receipt', async () => {
    await client.locate('customer-20');
    await signedIn('/customers', async (page) => {
      await page.getByRole('searchbox').fill('customer-20');
      await page.getByRole('searchbox').press('Enter');
      await page
        .getByRole('region', { name: /^Grid location/ })
        .getByRole('button', { name: 'Invite the owner' })
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Invite the owner' }).click();
      const invitation = page
        .getByRole('table', { name: 'Invitations of the location' })
        .getByRole('row')
        .nth(1);
      await invitation.getByText('invited').waitFor();
      await picture(page, 'console-customer');
      await invitation.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await invitation.getByText('revoked').waitFor();
      await page.getByRole('button', { name: 'Erase' }).click();
      await page.getByRole('dialog').getByText('1 grid location with the EANs').waitFor();
      expect(await faultsOf(page)).toEqual([]);
      const receipt = page.waitForEvent('download');
      await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
      expect((await receipt).suggestedFilename()).toMatch(/^erasure-.*\.json$/);
    });
    expect((await client.call('GET', '/customers?tenantReference=customer-20')).status).toBe(404);
  });

  /** Searches for a customer in the list, and waits for its page. */
  const find = async (page: Page, tenantReference: string) => {
    await page.getByRole('searchbox').fill(tenantReference);
    await page.getByRole('searchbox').press('Enter');
    await page.getByRole('heading', { name: `Customer ${tenantReference}` }).waitFor();
  };

  it('registers a customer anew whose registration was given up', async () => {
    const id = await loseRegistration('anew-1');
    await service.sandbox!.control.clearFaults();
    await client.call('POST', `/registrations/${id}/discard`);
    await signedIn('/customers', async (page) => {
      await find(page, 'anew-1');
      await page.getByRole('button', { name: 'Register anew' }).click();
      const dialog = page.getByRole('dialog', { name: 'Register anew' });
      await dialog.getByText('541448820044186577').waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Register anew' }).click();
      await page.getByText('The customer is registered.').waitFor();
      await page.getByRole('region', { name: 'Grid location 541448820044186577' }).waitFor();
      expect(await page.getByRole('button', { name: 'Register anew' }).count()).toBe(0);
    });
    expect(await registration(id)).toBe('discarded');
  });

  it('adopts a session that exists only at the provider, and saves what is stored of a customer', async () => {
    const gridLocationId = await client.locate('adopt-1');
    const provider = await authorisedClientOf(service.sandbox!);
    const { sessionId } = JSON.parse((await provider.start(gridLocationId)).text) as { sessionId: string };
    await signedIn('/customers', async (page) => {
      await find(page, 'adopt-1');
      await page.getByRole('button', { name: 'Adopt a session' }).click();
      const dialog = page.getByRole('dialog', { name: 'Adopt a session' });
      await dialog.getByLabel('Session id').fill(sessionId);
      expect(await faultsOf(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Adopt a session' }).click();
      await page.getByText('The session is read at the provider.').waitFor();
      await waitFor('the session', async () => (await client.session(sessionId)).id === sessionId);
      await page.goto(`${service.url}/console/sessions/${sessionId}`);
      await page.getByRole('link', { name: 'adopt-1' }).click();
      await page.getByRole('heading', { name: 'Customer adopt-1' }).waitFor();
      await page.getByRole('button', { name: 'Export data' }).click();
      expect(await faultsOf(page)).toEqual([]);
      const saved = page.waitForEvent('download');
      await page.getByRole('dialog').getByRole('button', { name: 'Export data' }).click();
      const file = await saved;
      expect(file.suggestedFilename()).toMatch(/^personal-data-.*\.json$/);
      const text = await readFile(await file.path(), 'utf8');
      for (const part of ['adopt-1', sessionId]) expect(text).toContain(part);
    });
  });

  it('finds the customer whose link is pasted, and copies the link again', async () => {
    const gridLocationId = await client.locate('pasted-1');
    const { body } = await client.call<{ url: string }>('POST', '/invitations', { gridLocationId });
    await signedIn('/webhooks', async (page) => {
      await page.getByRole('searchbox').fill(`Our customer says: ${body.url} does not open`);
      await page.getByRole('searchbox').press('Enter');
      await page.getByRole('heading', { name: 'Customer pasted-1' }).waitFor();
      expect(page.url()).not.toContain(body.url.slice(-10));
      const invitations = page.getByRole('table', { name: 'Invitations of the location' });
      await invitations.getByRole('button', { name: 'Copy the link' }).click();
      await told(page, 'The link is copied.', 'Open the invitation');
    });
  });

  it('leads from a campaign to its customers that are stalled, and to no other', async () => {
    const campaignId = await insertCampaign(database, [{ tenantReference: 'row-3' }], {
      name: 'Spring',
      status: 'paused',
    });
    const id = await loseRegistration('spring-1');
    const other = await loseRegistration('spring-2');
    await database.query('UPDATE registrations SET campaign_id = $2 WHERE id = $1', [id, campaignId]);
    // A stall has the campaign of its subject at the time of the look, which may have been before.
    await waitFor('both to be stalled', async () => {
      const stalls = await database.query(
        'UPDATE stalls SET campaign_id = CASE subject WHEN $1 THEN $3::uuid END WHERE subject IN ($1, $2) RETURNING subject',
        [id, other, campaignId],
      );
      return stalls.length === 2;
    });
    await signedIn('/campaigns', async (page) => {
      await page.getByRole('link', { name: 'Spring' }).click();
      await page.getByRole('link', { name: 'Stalled customers' }).click();
      await page.getByRole('row', { name: /spring-1/ }).waitFor();
      expect(await page.getByRole('row', { name: /spring-2/ }).count()).toBe(0);
      expect(new URL(page.url()).searchParams.get('campaignId')).toBe(campaignId);
      await find(page, 'spring-1');
      await page.getByRole('link', { name: 'Spring' }).click();
      await page.getByRole('heading', { name: 'Spring' }).waitFor();
    });
    for (const each of [id, other]) await client.call('POST', `/registrations/${each}/discard`);
    await client.call('POST', `/campaigns/${campaignId}/cancel`);
  });

  const INVERTER_BRANDS_FILE = join(useFolder(), 'brands.json');
  it('shows brands by their names, and takes a name where a person enters a brand', async () => {
    await writeFile(INVERTER_BRANDS_FILE, JSON.stringify({ acme: { name: 'Acme Solar' } }));
    const gridLocationId = await client.locate('named-1');
    await service.sandbox!.control.addFault({ kind: 'answer', operation: 'start_session', status: 422 });
    await client.start(gridLocationId, { brand: 'acme' });
    await withReplica(service, { ROLE: 'api', INVERTER_BRANDS_FILE }, async ({ url }) => {
      const context = await browser.newContext({ viewport: SCREENS.desktop });
      const page = await context.newPage();
      await page.goto(`${url}/console`);
      await signIn(page);
      await page.goto(`${url}/console/stalled`);
      await page.getByLabel('Brand').selectOption({ label: 'Acme Solar' });
      await page.getByRole('row', { name: /customer-7.*Acme Solar/ }).waitFor();
      expect(new URL(page.url()).search).toBe('?brand=acme');
      await page.goto(`${url}/console/brands`);
      const acme = page.getByRole('row', { name: /Acme Solar/ });
      await acme.locator('[data-title="Starts failed"]', { hasText: /^1\s*$/ }).waitFor();
      await find(page, 'named-1');
      await page.getByRole('button', { name: 'Invite the owner' }).click();
      await page.getByRole('dialog').getByLabel('Brands').fill('Zeta');
      await page.getByRole('dialog').getByRole('button', { name: 'Invite the owner' }).click();
      const invitation = page.getByRole('table', { name: 'Invitations of the location' }).getByRole('row');
      await invitation.getByRole('button', { name: 'Change' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Brands').fill('acme solar');
      await dialog.getByRole('button', { name: 'Change' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('Acme Solar').first().waitFor();
      await context.close();
    });
    const items = await client.list<{ brands: string[] }>(`/invitations?gridLocationId=${gridLocationId}`);
    expect(items.map(({ brands }) => brands)).toEqual([['acme']]);
  });

  it('lists customers by filters, with the keyboard, and returns to the list from the page of one', async () => {
    const id = await client.locate('listed-1');
    await signedIn('/customers', async (page) => {
      const row = page.getByRole('row', { name: /listed-1/ });
      await row.getByText('Nothing is open, and the owner has no valid invitation.').waitFor();
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save as CSV' }).click();
      expect(await readFile(await (await saved).path(), 'utf8')).toMatch(
        /Customer,EAN,Waits for,[^]*listed-1/,
      );
      await row.getByText('Nothing is open').click();
      await page.getByRole('heading', { name: 'Customer listed-1' }).waitFor();
      expect(page.url()).not.toContain('listed-1');
      await page.getByText(id).first().waitFor();
      await page.goBack();
      await page.getByLabel('Search these rows').fill('listed-1');
      await row.getByRole('link', { name: 'listed-1' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Customer listed-1' }).waitFor();
      await page.goBack();
      await row.waitFor();
      expect(await page.getByLabel('Search these rows').inputValue()).toBe('listed-1');
      await page.getByLabel('Search these rows').fill('');
      await page.getByLabel('Brand').focus();
      await page.keyboard.type('acme');
      await page.keyboard.press('Enter');
      await row.waitFor({ state: 'detached' });
      await page.getByRole('row', { name: /customer-7/ }).waitFor();
      expect(new URL(page.url()).search).toBe('?brand=acme');
      await page.getByLabel('Stalled because').selectOption('started_not_completed');
      await page.getByRole('row', { name: /customer-7/ }).waitFor();
    });
  });

  it('reminds the owner of an invitation, changes one or many, and saves what a mailing needs', async () => {
    const gridLocationId = await client.locate('invited-1');
    const { body } = await client.call<{ id: string; url: string }>('POST', '/invitations', {
      gridLocationId,
    });
    const invitation = async () =>
      (
        await client.call<{
          locale: string | null;
          brands: string[];
          expiresAt: string;
          remindedAt: string | null;
        }>('GET', `/invitations/${body.id}`)
      ).body;
    const before = await invitation();
    const day = new Date(Date.now() + 120 * 86_400_000).toISOString().slice(0, 10);
    await signedIn('/invitations', async (page) => {
      const row = page.getByRole('row', { name: /invited-1/ });
      const dialog = page.getByRole('dialog');
      await row.getByRole('button', { name: 'Copy the link' }).click();
      await told(page, 'The link is copied.', 'Open the invitation');
      await row.getByRole('button', { name: 'Remind now' }).click();
      await page.getByText('The reminder is announced.').waitFor();
      expect((await invitation()).remindedAt).not.toBeNull();
      await row.getByRole('button', { name: 'Remind now' }).click();
      await page.getByText('less than an hour ago').waitFor();
      await row.getByRole('button', { name: 'Change' }).click();
      await dialog.getByLabel('Language').selectOption('fr');
      await dialog.getByLabel('Brands').fill('acme, sunward');
      await picture(page, 'console-change');
      expect(await faultsOf(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Change' }).click();
      await row.getByText('acme, sunward').waitFor();
      expect(await invitation()).toMatchObject({ locale: 'fr', expiresAt: before.expiresAt });
      await row.getByLabel('Select').check();
      const chosen = page.getByRole('group', { name: 'What is selected' });
      await chosen.getByRole('button', { name: 'Prolong' }).click();
      const until = dialog.getByLabel('Valid until the end of');
      // An earlier date would shorten it.
      const last = before.expiresAt.slice(0, 10);
      expect([await until.inputValue(), await until.getAttribute('min')]).toEqual([last, last]);
      await until.fill(day);
      await dialog.getByLabel('Why').fill('The campaign goes on');
      await dialog.getByRole('button', { name: 'Prolong' }).click();
      await waitFor('the new date', async () => (await invitation()).expiresAt === `${day}T23:59:59.000Z`);
      await page.getByRole('button', { name: 'Save worklist' }).click();
      const saved = page.waitForEvent('download');
      await dialog.getByRole('button', { name: 'Save worklist' }).click();
      expect(await readFile(await (await saved).path(), 'utf8')).toContain(body.url);
    });
  });

  it('records that an owner withdraws the consent, also of an invitation that has ended', async () => {
    const gridLocationId = await client.locate('withdrawn-1');
    const { body } = await client.call<{ id: string; url: string }>('POST', '/invitations', {
      gridLocationId,
    });
    const link = new URL(new URL(body.url).pathname, service.url).href;
    for (const url of [link, `${link}/decline?reason=login_elsewhere`])
      await fetch(url, { method: 'POST', redirect: 'manual' });
    await signedIn('/invitations', async (page) => {
      const row = page.getByRole('row', { name: /withdrawn-1/ });
      await row.getByText('declined').waitFor();
      await row.getByRole('button', { name: 'Withdraw the consent' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Withdraw the consent' }).click();
      await page.getByText('The withdrawal is recorded.').waitFor();
      await row.getByRole('button', { name: 'Withdraw the consent' }).waitFor({ state: 'hidden' });
    });
    expect((await client.call('GET', `/invitations/${body.id}`)).body).toMatchObject({
      consentWithdrawnAt: expect.any(String),
    });
  });

  it('shows what is stalled by filters that the address keeps, and saves it as a file without formulas', async () => {
    await signedIn('/stalled', async (page) => {
      // The brands arrive late. The field does not change meanwhile under the fingers of a person.
      let arrive = (): void => {};
      const late = new Promise<void>((resolve) => (arrive = resolve));
      await page.route('**/api/v1/brands', (route) => late.then(() => route.continue()));
      await page.reload();
      await page.getByRole('row', { name: /customer-7/ }).waitFor();
      expect(await page.getByRole('combobox', { name: 'Brand' }).count()).toBe(1);
      arrive();
      await page.getByLabel('Brand').selectOption('acme');
      await page.getByRole('row', { name: /customer-7/ }).waitFor();
      expect(new URL(page.url()).search).toBe('?brand=acme');
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save as CSV' }).click();
      expect(await readFile(await (await saved).path(), 'utf8')).toContain('customer-7');
      await page.getByLabel('Waits for').selectOption('us');
      await page.getByText('Nothing that is stalled matches the filters.').waitFor();
    });
  });

  it('gives up many registrations at once, for a reason that the audit log has', async () => {
    const ids = [await loseRegistration('many-1'), await loseRegistration('many-2')];
    await signedIn('/stalled?kind=registration', async (page) => {
      for (const name of ['many-1', 'many-2'])
        await page.getByRole('row', { name }).getByLabel('Select').check();
      const chosen = page.getByRole('group', { name: 'What is selected' });
      await chosen.getByText('2 items selected').waitFor();
      await chosen.getByRole('button', { name: 'Give it up' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('many-2').waitFor();
      await picture(page, 'console-bulk');
      expect(await faultsOf(page)).toEqual([]);
      await dialog.getByLabel('Why').fill('They have left');
      await dialog.getByRole('button', { name: 'Give it up' }).click();
      for (const id of ids) await waitFor('the end', async () => (await registration(id)) === 'discarded');
      await page.getByRole('row', { name: 'many-1' }).waitFor({ state: 'detached' });
      await page.goto(`${service.url}/console/audit`);
      await page.getByText('They have left').first().waitFor();
    });
  });

  it('does for all of a group only what the preview has shown, also if the group grows meanwhile', async () => {
    const ids = [await loseRegistration('shown-1'), await loseRegistration('shown-2')];
    await signedIn('', async (page) => {
      const group = page.getByRole('listitem').filter({ hasText: '2 registrations: Nobody knows' });
      await group.getByRole('button', { name: 'Give it up (all 2)' }).click();
      const dialog = page.getByRole('dialog', { name: 'Give it up (all 2)' });
      await dialog.getByText('shown-2').waitFor();
      ids.push(await loseRegistration('late-1'));
      await page.getByText('3 registrations: Nobody knows').waitFor();
      await dialog.getByLabel('Why').fill('They have left');
      await dialog.getByRole('button', { name: 'Give it up (all 2)' }).click();
      await page.getByText('2 done, 0 skipped, 0 failed.').waitFor();
    });
    expect(await Promise.all(ids.map(registration))).toEqual(['discarded', 'discarded', 'uncertain']);
    await client.call('POST', `/registrations/${ids[2]}/discard`);
  });

  it('gives up exactly the chosen registrations on their own page', async () => {
    const names = ['decide-1', 'decide-2', 'decide-3'];
    const ids: string[] = [];
    for (const name of names) ids.push(await loseRegistration(name));
    await signedIn('/registrations', async (page) => {
      for (const name of names.slice(0, 2))
        await page.getByRole('row', { name }).getByLabel('Select').check();
      const chosen = page.getByRole('group', { name: 'What is selected' });
      await chosen.getByText('2 registrations selected').waitFor();
      await chosen.getByRole('button', { name: 'Give up' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(/^decide-2: /).waitFor();
      expect(await dialog.getByText(/^decide-3/).count()).toBe(0);
      await picture(page, 'console-decide');
      expect(await faultsOf(page)).toEqual([]);
      await dialog.getByLabel('Why').fill('They were a test');
      await dialog.getByRole('button', { name: 'Give up' }).click();
      for (const id of ids.slice(0, 2))
        await waitFor('the end', async () => (await registration(id)) === 'discarded');
      await page.getByRole('row', { name: 'decide-1' }).waitFor({ state: 'detached' });
      expect(await registration(ids[2]!)).not.toBe('discarded');
    });
    await client.call('POST', `/registrations/${ids[2]}/discard`);
  });

  it('shows what has changed without being asked, by events or, while they are lost, by reading again', async () => {
    await signedIn('/registrations', async (page) => {
      await page.getByText('No registration waits for a decision.').waitFor();
      await loseRegistration('customer-11');
      await page.getByRole('row', { name: /customer-11/ }).waitFor();
      const stream = '**/events/stream*';
      await page.route(stream, (route) => route.abort());
      await page.clock.install();
      await page.reload();
      await page.getByText('Live updates were lost').waitFor();
      await loseRegistration('customer-12');
      await soon(page, page.getByRole('row', { name: /customer-12/ }));
      await page.unroute(stream);
      await soon(page, page.getByText('Live updates were lost'), 0);
    });
  });

  it('shows what was wrong before the page was opened, and since when', async () => {
    await loseRegistration('customer-13');
    // The samples of this service have other figures.
    jest.spyOn(service.app.get(Sampler), 'sampleIfDue').mockResolvedValue();
    await database.query('DELETE FROM status_samples');
    await database.query(`
        INSERT INTO status_samples (at, reasons, figures)
        SELECT date_trunc('minute', now()) - minute * interval '1 minute',
          CASE minute WHEN 120 THEN '{"remote_slow": "2026-01-01T00:00:00Z"}' ELSE '{"registrations_uncertain": "2026-01-01T00:00:00Z"}' END::jsonb,
          '{"read_session.p95Seconds": 0.7, "latenessSeconds": 90}'
        FROM unnest(ARRAY[0, 3, 120]) AS minute`);
    await signedIn('', async (page) => {
      await page.getByRole('list', { name: 'What is wrong' }).getByText('since 1 Jan').waitFor();
      const tabs = page.getByRole('navigation', { name: 'Parts of this page' });
      await tabs.getByRole('link', { name: 'What was wrong' }).click();
      await page.getByRole('button', { name: '7 d' }).click();
      const past = page.getByRole('region', { name: 'What was wrong in the last 7 d' });
      await past.getByText('The remote service is slow').waitFor();
      await tabs.getByRole('link', { name: 'Remote service' }).click();
      await page.getByRole('img', { name: 'Read a session, 95 % within: last 700 ms' }).waitFor();
      await page
        .getByRole('cell', { name: / ms, .* ms$/ })
        .first()
        .waitFor();
      const axis = () => page.locator('.trend canvas').first().screenshot();
      const before = await axis();
      await page.getByRole('button', { name: 'Zoom in' }).focus();
      await page.keyboard.press('Enter');
      const zoomed = await axis();
      expect(zoomed.equals(before)).toBe(false);
      await page.getByRole('button', { name: 'Earlier' }).press('Enter');
      expect((await axis()).equals(zoomed)).toBe(false);
      await page.getByRole('button', { name: 'Zoom out' }).press('Enter');
      expect((await axis()).equals(before)).toBe(true);
    });
    jest.restoreAllMocks();
  });

  it('shows on duty what to do on one screen, without the library of the charts', async () => {
    const id = await loseRegistration('customer-17');
    await service.sandbox!.control.addFault({ kind: 'reset', contains: 'customer-17' });
    await client.call('POST', `/registrations/${id}/retry`);
    await waitFor('it is uncertain again', async () => (await registration(id)) === 'uncertain');
    const viewport = { width: 1440, height: 900 };
    const context = await browser.newContext({ viewport });
    await context.addCookies(await desktop.cookies());
    // Shows at most three incidents, whatever the other tests have left.
    await context.route('**/api/v1/status', async (route) => {
      const response = await route.fetch();
      const { reasons, ...json } = (await response.json()) as { reasons: object[] };
      await route.fulfill({ response, json: { ...json, reasons: reasons.slice(0, 3) } });
    });
    await visit(context, '', async (page) => {
      await page.getByRole('list', { name: 'Figures' }).getByRole('listitem').nth(3).waitFor();
      await page.getByRole('list', { name: 'What is wrong' }).getByText('Runbook').first().waitFor();
      await page.getByText('Next:').first().waitFor();
      const card = page.getByRole('listitem').filter({ hasText: 'Registrations wait for your decision' });
      await card.getByText('Tried: nothing by itself').waitFor();
      const group = page.getByRole('listitem').filter({ hasText: 'Nobody knows whether' });
      await group
        .getByText(/, tried \d times?, the last .+, last outcome: .* by administrator key/)
        .waitFor();
      const audit = await group.getByRole('link', { name: 'Registration retried' }).getAttribute('href');
      expect(audit).toBe(`/console/audit?targets=${id}`);
      await picture(page, 'console-duty');
      const needs = await page.getByRole('region', { name: 'Needs a person' }).boundingBox();
      expect(needs!.y + needs!.height).toBeLessThanOrEqual(viewport.height);
      expect(await page.locator('.uplot').count()).toBe(0);
    });
    await client.call('POST', `/registrations/${id}/discard`);
    await context.close();
  });

  it('runs no markup of users, metadata, descriptions and answers, and loads nothing from elsewhere', async () => {
    for (const path of ['', '/webhooks?status=any', `/sessions/${stalledId}`, '/sessions', '/stalled'])
      await signedIn(path, async (page) => {
        const requested: string[] = [];
        page.on('request', (request) => requested.push(new URL(request.url()).origin));
        await page.reload();
        await page.getByRole('heading').first().waitFor();
        if (path.startsWith('/webhooks')) await page.getByText('<script>').first().waitFor();
        expect(await page.evaluate('window.ran')).toBeUndefined();
        // Also searches for the elements, because the policy of the page would stop their script.
        expect(await page.locator('img, main script').count()).toBe(0);
        expect(new Set(requested)).toEqual(new Set([service.url]));
      });
  });

  /** The pages, each with a text that is visible once the page is complete. */
  const PAGES: Readonly<Record<string, { path: string; until: string; search?: string; press?: string }>> = {
    duty: { path: '', until: 'Next:' },
    past: { path: '?view=past', until: 'still' },
    remote: { path: '?view=remote', until: 'Held back by' },
    freshness: { path: '?view=freshness', until: 'Oldest due read' },
    funnel: { path: '?view=customers', until: 'Orphans' },
    events: { path: '?view=events', until: 'Without sequence' },
    processes: { path: '?view=processes', until: 'Last sign of life' },
    stalled: { path: '/stalled', until: 'Nobody knows whether the remote service has registered' },
    sessions: { path: '/sessions', until: 'customer-7' },
    session: { path: '/sessions/ID', until: 'by the rule as started' },
    list: { path: '/customers', until: 'Save as CSV' },
    customers: { path: '/customers', until: 'Grid location', search: 'customer-7' },
    registrations: { path: '/registrations', until: 'customer-11' },
    webhooks: { path: '/webhooks?status=tried', until: 'HTTP ' },
    endpoint: { path: '/webhooks/ENDPOINT', until: 'HTTP ' },
    invitations: { path: '/invitations', until: 'Save as CSV' },
    campaigns: { path: '/campaigns', until: 'Autumn' },
    campaign: { path: '/campaigns/CAMPAIGN', until: 'Save result.csv' },
    import: { path: '/campaigns/new', until: 'Or paste rows from a spreadsheet' },
    palette: { path: '/webhooks', until: 'Create an endpoint', press: 'Control+k' },
    brands: { path: '/brands', until: 'acme' },
    weeks: { path: '/brands?by=week', until: 'acme' },
    keys: { path: '/keys', until: 'reader' },
    audit: { path: '/audit', until: 'administrator key, in the console' },
  };

  it.each(allAtLength(LOOKS))(
    'has no fault of accessibility on a $screen, $colorScheme',
    async ({ screen, colorScheme }) => {
      const viewport = SCREENS[screen];
      const context = await browser.newContext({ viewport, colorScheme });
      await visit(context, '', async (page) => {
        await page.getByLabel('API key').waitFor();
        await picture(page, `console-sign-in-${screen}-${colorScheme}`);
        expect(await faultsOf(page)).toEqual([]);
      });
      await context.addCookies(await desktop.cookies());
      const [campaign] = await database.query<{ id: string }>(
        `SELECT id FROM campaigns WHERE name = 'Winter'`,
      );
      for (const [name, { path, until, search, press }] of Object.entries(PAGES))
        await visit(
          context,
          path
            .replace('/ID', `/${stalledId}`)
            .replace('ENDPOINT', failingId)
            .replace('CAMPAIGN', campaign!.id),
          async (page) => {
            if (search !== undefined) await find(page, search);
            await page.getByText(until).first().waitFor();
            if (press !== undefined) {
              await page.keyboard.press(press);
              await page.getByRole('dialog').getByRole('option').first().waitFor();
            }
            await picture(page, `console-${name}-${screen}-${colorScheme}`);
            expect([name, await faultsOf(page)]).toEqual([name, []]);
            const width = await page.evaluate<number>('document.documentElement.scrollWidth');
            expect(width).toBeLessThanOrEqual(viewport.width);
            const cut = await page.evaluate<string[]>(
              `[...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.innerText)`,
            );
            expect([name, cut]).toEqual([name, []]);
          },
        );
    },
  );

  it('works below the path of PUBLIC_URL', async () => {
    const base = '/tools/pv/console';
    await withReplica(service, { PUBLIC_URL: 'http://127.0.0.1/tools/pv' }, async ({ url }) => {
      const context = await browser.newContext({ viewport: SCREENS.desktop });
      const page = await context.newPage();
      await page.goto(url + base);
      await signIn(page);
      await page.getByRole('link', { name: 'Sessions' }).first().click();
      await page.getByRole('heading', { name: 'Sessions' }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`${base}/sessions`);
      await page.goto(`${url}${base}/sessions/${stalledId}`);
      await page.getByText('customer-7').first().waitFor();
      await context.close();
    });
  });

  it('has nothing in memory of a person whose session has ended, for whoever signs in next', async () => {
    const context = await browser.newContext();
    await visit(context, '', async (page) => {
      await signIn(page);
      await page.evaluate(() => Object.assign(globalThis, { read: true }));
      await context.clearCookies();
      // The page may notice by itself that the session has ended, before the click.
      const link = page.getByRole('link', { name: 'Customers' }).first();
      await link.click({ timeout: 5_000 }).catch(() => {});
      const other = { name: 'another', scopes: ['admin'] };
      const { body } = await client.call<{ key: string }>('POST', '/api-keys', other);
      await signIn(page, page.url().endsWith('/customers') ? 'Customers' : undefined, body.key);
      expect(await page.evaluate(() => 'read' in globalThis)).toBe(false);
    });
  });

  it('signs out, and shows nothing without a session', async () => {
    await visit(await browser.newContext(), '', async (page) => {
      await signIn(page);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('API key').waitFor();
      expect(await page.context().cookies()).toEqual([]);
    });
  });
});
