import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { ConsoleFiles } from '../../../src/console-access/console-files.service.js';
import { StallTask } from '../../../src/stalls/stall-task.service.js';
import { describeInChromium, faultsOf, launchChromium, SCREENS } from '../../pages/chromium.js';
import { useFolder } from '../../setup/folder.js';
import { insertCampaign } from '../../setup/campaign.js';
import { TestClient } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import { startTestApp, useTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { itAtLength, promise } from '../support/promise.js';

/** No page may load anything from this address, or contain an element with this attribute. */
const CANARY = 'http://127.0.0.2:9';
/** Text of at most 100 characters. If a page inserts it as markup, it runs a script, loads an image and adds an element. */
const TEXT = `x'"><img data-ran src=${CANARY} onerror=ran=1><script>ran=1</script>`;

interface Seen {
  /** The number of scripts run, dialogs, requests to other origins, violations of the policy, and elements made of the text. */
  executions: number;
  /** The accessibility faults that axe finds. */
  readonly faults: string[];
  pages: number;
  /** The number of pages that showed the text as text below their header. */
  shown: number;
}

describeInChromium('R54: text of others never runs', () => {
  const service = useTestApp({ BRAND_NAME: TEXT });
  const client = TestClient.of(service);
  let browser: Browser;
  let receiver: WebhookReceiver;
  let key: string;
  let sessionIds: readonly string[];
  let links: readonly string[];

  beforeAll(async () => {
    browser = await launchChromium();
    receiver = await startWebhookReceiver();
    receiver.answer = () => ({ status: 500, body: TEXT });
    key = (await client.call<{ key: string }>('POST', '/api-keys', { name: TEXT, scopes: ['admin'] })).body
      .key;
    await fillEveryField();
  });
  afterAll(async () => {
    await browser?.close();
    await receiver?.close();
  });

  /** Puts the text in every field that a tenant, an owner's supplier, the remote service or a receiver fills. */
  async function fillEveryField(): Promise<void> {
    const { control } = service.sandbox!;
    const database = service.database;
    const metadata = { [TEXT]: TEXT, label: TEXT };
    const refusal = {
      kind: 'answer',
      status: 422,
      body: JSON.stringify({ error: TEXT }),
      times: 1,
    } as const;
    const own = new TestClient(service.url, key);
    const endpoint = { url: receiver.url, description: TEXT };
    expect((await own.call('POST', '/webhook-endpoints', endpoint)).text).toContain('data-ran');
    const register = async (tenantReference: string) =>
      (
        await own.call<{ id: string; gridLocations: { id: string }[] }>('POST', '/users', {
          tenantReference,
          gridLocations: [{ ean: newEan() }],
          metadata,
        })
      ).body;
    const { id: userId, gridLocations } = await register(TEXT);
    await database.query(
      `UPDATE users SET tenant_name = $2, first_name = $2, last_name = $2, email = $2 WHERE id = $1`,
      [userId, TEXT],
    );
    await control.addFault({ ...refusal, operation: 'register_user' });
    await register(`rejected ${TEXT}`);
    await control.addFault({ kind: 'reset', operation: 'register_user', times: 1 });
    await register(`uncertain ${TEXT}`);

    const location = gridLocations[0]!.id;
    await control.addFault({ ...refusal, operation: 'start_session' });
    await own.start(location, { brand: `failed ${TEXT}` });
    const started = await own.start(location, { brand: TEXT, metadata });
    const strange = await own.start(location, { brand: `strange ${TEXT}`, metadata });
    sessionIds = [started.body.id, strange.body.id];
    await control.fields(strange.body.id, { set: { finished: true, active: true, [TEXT]: TEXT } });
    await own.call('POST', `/onboarding/pv/${strange.body.id}/refresh`);
    await database.query(
      `UPDATE onboarding_sessions SET recorded_at = recorded_at - interval '5 h', state_changed_at = state_changed_at - interval '5 h'`,
    );
    await service.app.get(StallTask).run();
    await database.query(`UPDATE stalls SET evidence = jsonb_build_object($1::text, $1::text)`, [TEXT]);

    const invite = async (gridLocationId: string) =>
      (
        await own.call<{ id: string; url: string }>('POST', '/invitations', {
          gridLocationId,
          brands: [TEXT, `another ${TEXT}`],
          metadata,
        })
      ).body;
    const revoked = await invite(location);
    await own.call('DELETE', `/invitations/${revoked.id}`);
    const begun = await invite(location);
    await fetch(begun.url, { method: 'POST', redirect: 'manual' });
    const fresh = await invite(await own.locate());
    links = [revoked, begun, fresh].map(({ url }) => url);
    const rows = [{ tenantReference: TEXT, brand: TEXT, metadata }];
    for (const status of ['paused', 'finished']) await insertCampaign(database, rows, { name: TEXT, status });
    await waitFor('an attempt of a delivery', () => receiver.received.length > 0);
    await waitFor('its answer', async () => {
      const items = await own.list<{ lastAnswer: string }>('/webhook-deliveries');
      return items.some(({ lastAnswer }) => lastAnswer?.includes('data-ran'));
    });
  }

  /** The pages of the console, each with the actions after which it shows everything. */
  const consolePages = (): readonly (readonly [path: string, act?: (page: Page) => Promise<unknown>])[] => [
    ['', (page) => page.getByRole('region', { name: 'Needs a person' }).getByText('Next:').first().waitFor()],
    ['/stalled', (page) => page.getByText('data-ran').first().waitFor()],
    ['/sessions', (page) => page.getByText('data-ran').first().waitFor()],
    [
      `/sessions?state=${encodeURIComponent(TEXT)}&stalled=any`,
      (page) => page.getByText('data-ran').first().waitFor(),
    ],
    ...sessionIds.map(
      (id) => [`/sessions/${id}`, (page: Page) => page.getByText('by the rule').first().waitFor()] as const,
    ),
    [
      '/customers',
      async (page) => {
        await page.getByRole('searchbox').fill(TEXT);
        await page.getByRole('searchbox').press('Enter');
        await page.getByRole('table', { name: 'What was done' }).waitFor();
      },
    ],
    [
      '',
      async (page) => {
        await page.getByRole('searchbox').fill(`unknown ${TEXT}`);
        await page.keyboard.press('Enter');
        await page.getByText('Nothing is known').waitFor();
      },
    ],
    ['/registrations?status=rejected', (page) => page.getByText('data-ran').first().waitFor()],
    [
      '/registrations',
      async (page) => {
        await page.getByRole('button', { name: 'Send again' }).first().click();
        await page.getByRole('dialog').waitFor();
      },
    ],
    [
      '/webhooks?status=any',
      async (page) => {
        await page.getByText('HTTP 500').first().click();
        await page.locator('pre').first().waitFor();
      },
    ],
    [
      '/campaigns',
      async (page) => {
        await page.getByRole('button', { name: 'Count the results' }).click();
        await page.getByRole('progressbar').nth(1).waitFor({ state: 'attached' });
      },
    ],
    [`/${encodeURIComponent(TEXT)}`],
  ];

  /** Visits every page of the console and of the owner. */
  async function visitAll({ url }: TestApp, options: BrowserContextOptions = {}): Promise<Seen> {
    const seen: Seen = { executions: 0, faults: [], pages: 0, shown: 0 };
    const context = await browser.newContext({ viewport: SCREENS.desktop, ...options });
    await context.addInitScript(
      `window.refused = 0; addEventListener('securitypolicyviolation', () => window.refused++);`,
    );
    const visit = async (address: string, act?: (page: Page) => Promise<unknown>) => {
      const page = await context.newPage();
      page.on('dialog', (dialog) => {
        seen.executions++;
        void dialog.dismiss();
      });
      page.on('request', (request) => {
        if (![url, 'data:'].some((own) => request.url().startsWith(own))) seen.executions++;
      });
      await page.goto(address);
      await page.getByRole('heading').first().waitFor();
      await act?.(page);
      seen.executions += await page.evaluate<number>('window.refused + (window.ran ? 1 : 0)');
      seen.executions += await page.locator('[data-ran]').count();
      seen.faults.push(...(await faultsOf(page)).map((fault) => `${address}: ${fault}`));
      seen.pages++;
      if ((await page.getByRole('main').getByText('data-ran').count()) > 0) seen.shown++;
      await page.close();
    };
    await visit(`${url}/console`, async (page) => {
      await page.getByLabel('API key').fill(TEXT);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('navigation').waitFor();
      await page.getByRole('heading', { level: 1 }).waitFor();
    });
    for (const [path, act] of consolePages()) await visit(`${url}/console${path}`, act);
    for (const link of links) await visit(url + new URL(link).pathname);
    await context.close();
    return seen;
  }

  it('on no page of the console or of the owner', async () => {
    const { executions, faults, pages, shown } = await visitAll(service);
    promise('R54', {
      figure: `${executions} executions and ${faults.length} faults by axe on ${pages} pages, of which ${shown} showed the text`,
      bound: '0 and 0',
    });
    expect(faults).toEqual([]);
    expect(executions).toBe(0);
    // The sign-in page, the unknown page and the page of a revoked invitation show none of these texts.
    expect(shown).toBeGreaterThanOrEqual(pages - 3);
  });

  const folder = useFolder();
  itAtLength('turns red when one text is inserted as markup', async () => {
    const { DATABASE_URL, SCS_BASE_URL } = service.environment;
    execFileSync(process.execPath, [
      'node_modules/vite/bin/vite.js',
      ...['build', 'console', '--config', 'test/faults/support/raw-console.config.mjs'],
      ...['--outDir', folder, '--logLevel', 'error'],
    ]);
    const prepare = (app: TestApp['app']) => void (app.get(ConsoleFiles).folder = folder);
    const careless = await startTestApp({ DATABASE_URL, SCS_BASE_URL }, { prepare });
    try {
      expect((await visitAll(careless)).executions).toBeGreaterThan(0);
      // Without the policy of the page, the script runs.
      expect((await visitAll(careless, { bypassCSP: true })).executions).toBeGreaterThan(0);
    } finally {
      await careless.close();
    }
  });
});
