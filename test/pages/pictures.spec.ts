import { writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { StallTask } from '../../src/stalls/stall-task.service.js';
import { useFolder } from '../setup/folder.js';
import { TestClient } from '../setup/client.js';
import { startWebhookReceiver, type WebhookReceiver } from '../setup/receivers/webhook-receiver.js';
import { useTestApp } from '../setup/test-app.js';
import { describeInChromium, launchChromium } from './chromium.js';

const FOLDER = fileURLToPath(new URL('../../docs/images', import.meta.url));
/** `PICTURES=true npm test -- test/pages/pictures` replaces the pictures of the documents. Otherwise they are taken and not stored. */
const areStored = process.env.PICTURES === 'true';
const PICTURES = ['console.png', 'owner-page.png'];
const BRANDS = { sunward: 'Sunward', heliotrope: 'Heliotrope', solarix: 'Solarix' };
const CUSTOMERS = 24;

it('the documents have no other pictures', async () => {
  const files = await readdir(FOLDER);
  expect(files.filter((file) => !file.endsWith('.svg')).sort()).toEqual(PICTURES);
});

describeInChromium('the pictures of the documents', () => {
  const INVERTER_BRANDS_FILE = join(useFolder(), 'brands.json');
  writeFileSync(
    INVERTER_BRANDS_FILE,
    JSON.stringify(Object.fromEntries(Object.entries(BRANDS).map(([id, name]) => [id, { name }]))),
  );
  const service = useTestApp({
    INVERTER_BRANDS_FILE,
    BRAND_NAME: 'Sunny Supply',
    BRAND_COLOR: '#ffe14d',
    BRAND_SUPPORT_URL: 'https://sunny.example/help',
    WEBHOOK_RETRY_SCHEDULE_MS: [3_600_000],
    POLL_MIN_INTERVAL_MS: 15_000,
    POLL_MAX_INTERVAL_MS: 900_000,
  });
  const client = TestClient.of(service);
  let browser: Browser;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    browser = await launchChromium();
    receiver = await startWebhookReceiver();
    receiver.answer = () => ({ status: 500, body: 'The database is read-only.' });
    await populate();
  });
  afterAll(async () => {
    await browser?.close();
    await receiver?.close();
  });

  const change = (table: string, id: string, values: string) =>
    service.database.query(`UPDATE ${table} SET ${values} WHERE id = $1`, [id]);

  /** Some customers in each state, as a person on duty may find them in the morning. */
  async function populate(): Promise<void> {
    await client.call('POST', '/webhook-endpoints', { url: `${receiver.url}/crm`, description: 'The CRM' });
    for (let nth = 0; nth < CUSTOMERS; nth++) {
      const id = await client.locate(`K-${20_481 + nth * 37}`);
      const brand = Object.keys(BRANDS)[nth % 3]!;
      if (nth % 4 === 3) await invite(id, brand, nth);
      else await begin(id, brand, nth);
    }
    for (const name of ['K-30917', 'K-30921', 'K-30958']) {
      await service.sandbox!.control.addFault({ kind: 'reset', contains: name });
      await client.call('POST', '/users', {
        tenantReference: name,
        gridLocations: [{ ean: '541448820044186577' }],
      });
    }
    await service.app.get(StallTask).run();
  }

  async function begin(id: string, brand: string, nth: number): Promise<void> {
    const { body: session } = await client.start(id, { brand });
    if (nth % 2 === 0) {
      await service.sandbox!.control.complete(session.id, { onlineAfterMs: 0 });
      await client.call('POST', `/onboarding/pv/${session.id}/refresh`);
      await client.untilState(session.id, 'online');
    } else
      await change(
        'onboarding_sessions',
        session.id,
        `recorded_at = recorded_at - interval '${5 + nth} h', state_changed_at = state_changed_at - interval '${5 + nth} h'`,
      );
  }

  async function invite(gridLocationId: string, brand: string, nth: number): Promise<void> {
    const { body } = await client.call<{ id: string }>('POST', '/invitations', {
      gridLocationId,
      brands: [brand],
    });
    const hours = 75 + nth;
    const opened = nth % 8 === 3 ? `, opened_at = now() - interval '${hours - 1} h'` : '';
    await change(
      'invitations',
      body.id,
      `created_at = created_at - interval '${hours} h', awaits_since = awaits_since - interval '${hours} h'${opened}`,
    );
  }

  const take = async (page: Page, name: string) => {
    expect(PICTURES).toContain(name);
    await page.screenshot(areStored ? { path: join(FOLDER, name) } : {});
  };

  it('show the page for the person on duty', async () => {
    const context = await browser.newContext({
      viewport: { width: 1024, height: 768 },
      deviceScaleFactor: 2,
    });
    const page = await context.newPage();
    await page.goto(`${service.url}/console`);
    await page.getByLabel('API key').fill(client.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const needs = page.getByRole('region', { name: 'Needs a person' });
    for (const words of ['3 registrations', 'has not finished', 'Nobody has opened'])
      await needs.getByText(words).first().waitFor();
    await page.getByText('Runbook').first().waitFor();
    await take(page, 'console.png');
    await context.close();
  });

  it('show the page of an invitation on a phone', async () => {
    const { body } = await client.call<{ url: string }>('POST', '/invitations', {
      gridLocationId: await client.locate('K-31004'),
      brands: Object.keys(BRANDS),
      metadata: { label: 'Kerkstraat 12' },
    });
    const context = await browser.newContext({
      viewport: { width: 360, height: 780 },
      deviceScaleFactor: 2,
      locale: 'en',
    });
    const page = await context.newPage();
    await page.goto(body.url);
    await page.getByText('Kerkstraat 12').waitFor();
    await take(page, 'owner-page.png');
    await context.close();
  });
});
