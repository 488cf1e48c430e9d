import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { useTestApp } from '../setup/test-app.js';
import { waitFor } from '../setup/wait-for.js';
import { withClient } from '../setup/database/with-client.js';
import { CHROMIUM, launchChromium, SCREENS } from './chromium.js';
import { seedOf } from './seed.js';

const SESSIONS = 1_000_000;
const MIXED = 100_000;
const VISITS = 5;
/** The maximum time until the page takes input, whatever the size of the lists. */
const INTERACTIVE_WITHIN_MS = 1_000;
/** The maximum time from Enter in the search until the customer's page stands. */
const FOUND_WITHIN_MS = 300;

/** The milliseconds from the start of the navigation until the page takes input, shows the status, and shows its last list. */
interface Visit {
  readonly interactiveMs: number;
  readonly statusMs: number;
  readonly listsMs: number;
}

const OBSERVE = `
  window.seen = {};
  new MutationObserver(() => {
    const isLoading = document.querySelector('.loading') !== null;
    for (const [name, holds] of Object.entries({
      interactiveMs: document.querySelector('nav a') !== null,
      statusMs: document.querySelector('.verdict') !== null,
      listsMs: document.querySelector('.verdict') !== null && !isLoading,
    })) if (holds) window.seen[name] ??= performance.now();
  }).observe(document, { subtree: true, childList: true });`;

/** Stores how long it took from Enter until a heading names the customer. */
const observeCustomer = (reference: string) => `
  addEventListener('keydown', ({ key }) => { if (key === 'Enter') window.enteredAt = performance.now(); }, true);
  new MutationObserver(() => {
    const headings = [...document.querySelectorAll('h1')].map((each) => each.textContent);
    if (headings.some((each) => each.endsWith(' ${reference}'))) window.foundMs ??= performance.now() - window.enteredAt;
  }).observe(document, { subtree: true, childList: true, characterData: true });`;

const median = (values: readonly number[]) =>
  Math.round(values.toSorted((a, b) => a - b)[values.length >> 1]!);

// Starts no worker, so that the figures do not change.
const service = useTestApp({ ROLE: 'api' });
let browser: Browser;
let cookies: Awaited<ReturnType<BrowserContext['storageState']>>;

beforeAll(async () => {
  await withClient(service.environment.DATABASE_URL, async (client) => {
    // Disables the foreign key checks, which would take most of the time.
    await client.query('SET session_replication_role = replica');
    await client.query(`BEGIN; ${seedOf(SESSIONS, MIXED)}; COMMIT`);
    await client.query('VACUUM ANALYZE');
  });
  browser = await launchChromium();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${service.url}/console`);
  await page.getByLabel('API key').fill(service.adminKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation').waitFor();
  cookies = await context.storageState();
  await context.close();
}, 1_800_000);
afterAll(() => browser?.close());

async function measure(page: Page, open: () => Promise<unknown>): Promise<Visit> {
  await open();
  return waitFor('the lists', async () => {
    const seen = await page.evaluate<Partial<Visit>>('window.seen');
    return seen.listsMs !== undefined && (seen as Visit);
  });
}

it(`takes input within a second, with ${SESSIONS} sessions`, async () => {
  expect(CHROMIUM).not.toBeNull();
  const visits: Record<'cold' | 'warm', Visit[]> = { cold: [], warm: [] };
  for (let visit = 0; visit < VISITS; visit++) {
    const context = await browser.newContext({ viewport: SCREENS.desktop, storageState: cookies });
    await context.addInitScript(OBSERVE);
    const page = await context.newPage();
    visits.cold.push(await measure(page, () => page.goto(`${service.url}/console`, { waitUntil: 'commit' })));
    visits.warm.push(await measure(page, () => page.reload({ waitUntil: 'commit' })));
    await context.close();
  }
  for (const [cache, each] of Object.entries(visits)) {
    const [interactive, status, lists] = (['interactiveMs', 'statusMs', 'listsMs'] as const).map((name) =>
      median(each.map((visit) => visit[name])),
    );
    console.log(`${cache}: input ${interactive} ms, status ${status} ms, last list ${lists} ms`);
    expect(interactive).toBeLessThan(INTERACTIVE_WITHIN_MS);
  }
}, 600_000);

it(`finds a customer within ${FOUND_WITHIN_MS} ms, among ${SESSIONS}`, async () => {
  const found: number[] = [];
  for (let search = 0; search < VISITS; search++) {
    const reference = `customer-${SESSIONS - search}`;
    const context = await browser.newContext({ viewport: SCREENS.desktop, storageState: cookies });
    await context.addInitScript(observeCustomer(reference));
    const page = await context.newPage();
    await page.goto(`${service.url}/console`);
    await page.locator('.verdict').waitFor();
    await page
      .getByRole('searchbox', { name: 'Search by reference' })
      .pressSequentially(reference, { delay: 60 });
    await page.keyboard.press('Enter');
    found.push(await waitFor('the customer', () => page.evaluate<number | undefined>('window.foundMs')));
    await context.close();
  }
  console.log(`a customer: ${median(found)} ms`);
  expect(median(found)).toBeLessThan(FOUND_WITHIN_MS);
}, 600_000);
