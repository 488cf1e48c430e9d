import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startTestApp, type TestApp } from '../setup/test-app.js';
import { describeInChromium, faultsOf, launchChromium, LOOKS, picture, SCREENS } from './chromium.js';

describeInChromium('the guides and the reference of the API', () => {
  // Each screen and each colour scheme once.
  const looks = LOOKS.filter(({ screen, colorScheme }) => (screen === 'phone') === (colorScheme === 'light'));
  let service: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestApp(), launchChromium()]);
  });
  afterAll(() => Promise.all([browser.close(), service.close()]));

  /** Opens a page, and fails if it breaks its policy, requests anything from elsewhere, or throws. */
  async function open(
    path: string,
    { screen, colorScheme }: (typeof LOOKS)[number],
    act: (page: Page) => Promise<void>,
  ) {
    const context = await browser.newContext({ viewport: SCREENS[screen], colorScheme });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('request', (request) => {
      const isOwn = request.url().startsWith(service.url) || request.url().startsWith('data:');
      if (!isOwn) faults.push(`requests ${request.url()}`);
    });
    await page.goto(service.url + path);
    await act(page);
    expect(faults).toEqual([]);
    const isTooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    expect(isTooWide).toBe(false);
    await context.close();
  }

  it.each(looks)('finds a section by what it says, on a $screen, $colorScheme', async (look) => {
    await open('/docs', look, async (page) => {
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, `docs-${look.screen}-${look.colorScheme}`);
      await page.keyboard.press('/');
      await page.keyboard.type('Idempotency-Key');
      const hit = page.locator('#hits a').first();
      await hit.waitFor();
      await hit.click();
      await page.waitForURL(/\/docs\/[\w-]+/);
      await page.locator('main h1').waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, `docs-page-${look.screen}-${look.colorScheme}`);
      await page.locator('#search').fill('xyzzyqq');
      await page.getByText('No section has all of').waitFor();
    });
  });

  it.each(looks)(
    'shows an operation with its scope, problems and samples, on a $screen, $colorScheme',
    async (look) => {
      await open('/docs/api#tag/users/POST/api/v1/users', look, async (page) => {
        await page.getByText('Scope: users:write').first().waitFor({ timeout: 60_000 });
        await page.getByText('tenant_reference_conflict').first().waitFor({ state: 'attached' });
        await page.getByText('curl', { exact: true }).first().waitFor({ state: 'attached' });
        await picture(page, `reference-${look.screen}-${look.colorScheme}`);
      });
    },
  );

  it('sends a request to this service with the key of the reader', async () => {
    await open('/docs/api#tag/users/GET/api/v1/users', LOOKS.at(-1)!, async (page) => {
      const button = page.getByRole('button', { name: /Test Request.*get \/api\/v1\/users\)/i });
      await button.waitFor({ timeout: 60_000 });
      await page.locator('input[placeholder*=oken]').first().fill(service.adminKey);
      await button.click();
      await page.getByText('Send Request').waitFor();
      const [response] = await Promise.all([
        page.waitForResponse(`${service.url}/api/v1/users`, { timeout: 60_000 }),
        page.keyboard.press('Control+Enter'),
      ]);
      expect([response.status(), await response.json()]).toEqual([200, { items: [], next: null }]);
    });
  });
});
