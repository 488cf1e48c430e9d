import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Locator, Page, Route } from 'playwright-core';
import { TestClient } from '../setup/client.js';
import { useTestApp } from '../setup/test-app.js';
import { describeInChromium, launchChromium, SCREENS } from './chromium.js';

/** More pages than a browser has connections to one host over HTTP/1.1. */
const MANY_TABS = 8;
/** More failures than notifications are shown. */
const MANY_FAILURES = 6;
const STREAM = '**/events/stream*';

describeInChromium('the console in a bad network, in Chromium', () => {
  const service = useTestApp();
  const client = TestClient.of(service);
  let browser: Browser;
  let context: BrowserContext;

  beforeAll(async () => {
    browser = await launchChromium();
    context = await contextOf(client.key);
  });
  afterEach(() => Promise.all(context.pages().map((page) => page.close())));
  afterAll(() => browser?.close());

  /** Returns a browser in which the person with a key is signed in. */
  async function contextOf(key: string): Promise<BrowserContext> {
    const made = await browser.newContext({ viewport: SCREENS.desktop });
    await signIn(made, key);
    return made;
  }
  async function signIn({ request }: BrowserContext, key: string): Promise<void> {
    const options = { data: { key }, headers: { origin: service.url, 'x-console': '1' } };
    expect((await request.post(`${service.url}/console/session`, options)).status()).toBe(204);
  }
  async function open(path: string, prepare?: (page: Page) => Promise<unknown>): Promise<Page> {
    const page = await context.newPage();
    await prepare?.(page);
    await page.goto(`${service.url}/console${path}`);
    return page;
  }
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
  const goTo = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name }).click();
  const button = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true });
  const failure = (page: Page, words: string) => page.getByRole('alert').getByText(words).waitFor();

  it('says that a page cannot be shown whose file is gone, or whose data are of another release, and goes on', async () => {
    const page = await open('/webhooks');
    await heading(page, 'Webhooks');
    const gone = (route: Route) => route.fulfill({ status: 404 });
    await page.route('**/assets/**', gone);
    await goTo(page, 'Keys');
    await failure(page, 'This page cannot be shown');
    await goTo(page, 'Webhooks');
    await heading(page, 'Webhooks');
    await page.keyboard.press('Control+k');
    await failure(page, 'This page cannot be shown');
    await page.unroute('**/assets/**', gone);
    await button(page, 'Load the console anew').click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.route('**/api/v1/campaigns?*', (route) =>
      route.fulfill({ json: { items: [{ id: 'a', status: 'of a later release' }], next: null } }),
    );
    await goTo(page, 'Campaigns');
    await failure(page, 'This page cannot be shown');
  });

  it('opens in more tabs than a browser has connections', async () => {
    const pages: Page[] = [];
    for (let count = 0; count < MANY_TABS; count++) {
      await Promise.all(pages.map((each) => each.evaluate('hide(true)')));
      const page = await open('/webhooks', (each) =>
        each.addInitScript(`
          let isHidden = false;
          Object.defineProperties(document, { hidden: { get: () => isHidden }, visibilityState: { get: () => (isHidden ? 'hidden' : 'visible') } });
          window.hide = (hidden) => { isHidden = hidden; document.dispatchEvent(new Event('visibilitychange')); };
        `),
      );
      await page.getByText('There is no endpoint').first().waitFor();
      pages.push(page);
    }
    const [first] = pages as [Page];
    await pages.at(-1)!.evaluate('hide(true)');
    const opened = first.waitForResponse(STREAM);
    await first.evaluate('hide(false)');
    expect((await opened).status()).toBe(200);
  });

  it('keeps one stream from page to page, and reads again what changed before the stream was open', async () => {
    let open_ = () => {};
    const isOpen = new Promise<void>((resolve) => (open_ = resolve));
    let streams = 0;
    const page = await open('/registrations', (each) =>
      each.route(STREAM, async (route) => {
        streams++;
        await isOpen;
        await route.continue();
      }),
    );
    await page.getByText('No registration waits for a decision.').waitFor();
    await service.database.query(
      `INSERT INTO registrations (tenant_reference, eans, metadata, status, attempts) VALUES ('missed', '{541448820044186577}', '{}', 'uncertain', 1)`,
    );
    open_();
    await page.getByRole('row', { name: 'missed' }).waitFor();
    await goTo(page, 'Webhooks');
    await goTo(page, 'Keys');
    await heading(page, 'Keys');
    expect(streams).toBe(1);
  });

  it('tells of a failure after its dialog was closed, and of a sign-out that failed', async () => {
    await client.call('POST', '/api-keys', { name: 'to revoke', scopes: ['users:read'] });
    const page = await open('/keys');
    await button(page.getByRole('row', { name: 'to revoke' }), 'Revoke').click();
    let fail = () => {};
    const fails = new Promise<void>((resolve) => (fail = resolve));
    await page.route('**/api-keys/*', async (route) => {
      await fails;
      await route.fulfill({ status: 502, body: 'Bad gateway' });
    });
    await button(page.getByRole('dialog'), 'Revoke').click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    fail();
    await failure(page, 'cannot be reached');
    await button(page, 'Close').click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.route('**/console/session', (route) => route.fulfill({ status: 502 }));
    await button(page, 'Sign out').click();
    await failure(page, 'cannot be reached');
  });

  it('does an act once that is tried again after its response was lost', async () => {
    const locationId = await client.locate('lost-start');
    const { body } = await client.call<{ items: { user: { id: string } }[] }>(
      'GET',
      '/customers?tenantReference=lost-start',
    );
    const page = await open(`/customers/${body.items[0]!.user.id}`);
    await button(page, 'Start a session').click();
    await page.route(
      `**/onboarding/pv/${locationId}`,
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    const start = button(page.getByRole('dialog'), 'Start a session');
    await start.click();
    await failure(page, 'may be done all the same');
    await start.click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const found = await client.call<{ items: unknown[] }>(
      'GET',
      `/onboarding/pv?gridLocationId=${locationId}`,
    );
    expect(found.body.items).toHaveLength(1);
  });

  it('does not claim to have copied what the browser has not', async () => {
    const page = await open('/keys', (each) =>
      each.addInitScript(`
        window.writes = false;
        const writeText = () => (window.writes ? Promise.resolve() : Promise.reject(new Error('denied')));
        Object.defineProperty(navigator, 'clipboard', { value: { writeText } });
        document.execCommand = () => false;
      `),
    );
    const copy = page.getByRole('row', { name: 'to revoke' }).locator('button.copy').first();
    await copy.click();
    await failure(page, 'The browser does not allow it to be copied');
    for (let repeated = 0; repeated < MANY_FAILURES; repeated++) await copy.click();
    await page.evaluate('window.writes = true');
    await copy.click();
    await page.getByRole('status').getByText('Copied.').waitFor();
  });

  it('still has an import that was begun when the person has gone Back, or has signed in again, and nothing for another', async () => {
    const page = await open('/campaigns/new');
    await page.getByLabel('Or paste rows').fill('tenantReference,ean\ncustomer-1,wrong');
    await button(page, 'Take these rows').click();
    const name = page.getByLabel('Name of the campaign');
    await name.fill('Autumn');
    await button(page, 'Check the rows').click();
    const cell = page.getByRole('table', { name: 'Rows with faults' }).getByRole('textbox').nth(1);
    await cell.fill('541448820044186577');
    await goTo(page, 'Webhooks');
    await page.goBack();
    await page.getByRole('cell', { name: '541448820044186577' }).waitFor();
    await context.clearCookies();
    await button(page, 'Check the rows').click();
    await page.getByText('Your session has ended').waitFor();
    // In another tab, as at an identity provider.
    await signIn(context, client.key);
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    await page.getByRole('cell', { name: '541448820044186577' }).waitFor();
    expect(await name.inputValue()).toBe('Autumn');
    const other = { name: 'to revoke', scopes: ['admin'] };
    const { body } = await client.call<{ key: string }>('POST', '/api-keys', other);
    await signIn(context, body.key);
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    await heading(page, '1. The file');
    await page.getByRole('banner').getByText('to revoke').waitFor();
    await signIn(context, client.key);
  });

  it('ends what has no response, tells what came of a job while the service was away, and names what stands before it', async () => {
    const page = await open('/registrations', (each) =>
      each.addInitScript(`
        const { timeout } = AbortSignal;
        window.isHurried = false;
        AbortSignal.timeout = (ms) => timeout.call(AbortSignal, window.isHurried ? ms / 100 : ms);
      `),
    );
    const row = page.getByRole('row', { name: 'missed' });
    await row.getByRole('checkbox').check();
    await button(page.getByRole('group', { name: 'What is selected' }), 'Give up').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Why').fill('a test');
    await page.route('**/bulk-actions', () => {}, { times: 1 });
    await page.evaluate('window.isHurried = true');
    await button(dialog, 'Give up').click();
    await failure(page, 'may be done all the same');
    await page.evaluate('window.isHurried = false');
    await page.route('**/bulk-actions', (route) => route.fulfill({ status: 413, body: 'too large' }), {
      times: 1,
    });
    await button(dialog, 'Give up').click();
    await failure(page, 'such as a proxy, responded with 413');
    await page.route('**/bulk-actions/*', (route) => route.fulfill({ status: 502 }), { times: 1 });
    await button(dialog, 'Give up').click();
    await page.getByRole('status').getByText('1 done').waitFor();
  });

  it('says why a person is not signed in whose browser refuses the cookie', async () => {
    const other = await browser.newContext();
    const page = await other.newPage();
    await page.goto(`${service.url}/console`);
    await page.route('**/console/session', async (route) => {
      if (route.request().method() === 'POST') await route.fulfill({ status: 204 });
      else await route.continue();
    });
    await page.getByLabel('API key').fill(client.key);
    await button(page, 'Sign in').click();
    await failure(page, 'has not kept the session');
    await other.close();
  });
});
