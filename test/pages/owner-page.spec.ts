import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { LOCALES } from '../../src/platform/env/locale.rules.js';
import { Database } from '../../src/platform/database/database.js';
import { allAtLength, isLong } from '../faults/support/promise.js';
import { TestClient } from '../setup/client.js';
import { useTestApp } from '../setup/test-app.js';
import { waitFor } from '../setup/wait-for.js';
import { withReplica } from '../e2e/replica.js';
import { CHROMIUM, faultsOf, launchChromium, picture, SCREENS } from './chromium.js';

/** The longest name of a brand that an invitation takes. */
const LONG_BRAND = 'Wechselrichterhersteller'.repeat(3).slice(0, 60);

/** Returns a function that returns a message of the page in this language. */
const messages = (locale: string) => {
  const text = readFileSync(new URL(`../../pages/owner/messages/${locale}.json`, import.meta.url), 'utf8');
  return (key: string): string => (JSON.parse(text) as Record<string, string>)[key]!;
};

interface Invitation {
  readonly id: string;
  readonly url: string;
  readonly gridLocationId: string;
  readonly userId: string;
}

if (CHROMIUM === null) {
  const notice =
    "THE OWNER'S PAGES WERE NOT TESTED: there is no chromium here (apt-get install chromium, or CHROMIUM)";
  console.warn(notice);
  it(`is not shown. ${notice}`, () => expect(CHROMIUM).toBeNull());
} else
  describe("the owner's page, in Chromium", () => {
    const service = useTestApp({
      POLL_MIN_INTERVAL_MS: 100,
      POLL_TICK_MS: 50,
      BRAND_NAME: 'Sunny Supply',
      BRAND_COLOR: '#ffe14d',
      BRAND_SUPPORT_URL: 'https://sunny.example/help',
    });
    const client = TestClient.of(service);
    let browser: Browser;

    beforeAll(async () => {
      browser = await launchChromium();
    });
    afterAll(() => browser?.close());

    afterEach(() => service.sandbox!.control.clearFaults());

    const invite = async (input: object = {}) => {
      const { body } = await client.call<Invitation>('POST', '/invitations', {
        gridLocationId: await client.locate(),
        ...input,
      });
      return body;
    };
    const stateOf = async (id: string) =>
      (await client.call<{ state: string }>('GET', `/invitations/${id}`)).body.state;

    const click = (url: string) => fetch(url, { method: 'POST', redirect: 'manual' });
    /** Completes the web flow of the location's session of the brand. */
    const complete = async ({ gridLocationId }: Invitation, brand: string) => {
      const { body } = await client.call<{ items: { id: string; brand: string }[] }>(
        'GET',
        `/onboarding/pv?gridLocationId=${gridLocationId}`,
      );
      const { id } = body.items.find((session) => session.brand === brand)!;
      await service.sandbox!.control.complete(id, { onlineAfterMs: null });
    };
    const change = (id: string, assignment: string) =>
      service.app.get(Database).query(`UPDATE invitations SET ${assignment} WHERE id = $1`, [id]);
    const failStarts = () =>
      service.sandbox!.control.addFault({
        operation: 'start_session',
        kind: 'answer',
        status: 503,
        times: null,
      });

    async function visit<T>(options: BrowserContextOptions, work: (page: Page) => Promise<T>): Promise<T> {
      const context = await browser.newContext(options);
      try {
        return await work(await context.newPage());
      } finally {
        await context.close();
      }
    }

    it('is not wider than the smallest phone, however long the names are', async () => {
      const long = 'Elektrizitätsversorgungsgenossenschaft'.repeat(2);
      await withReplica(service, { BRAND_NAME: long, DEFAULT_LOCALE: 'de' }, async ({ url: longUrl }) => {
        const { url } = await invite({ metadata: { label: long }, brands: [long.slice(0, 60), 'sunward'] });
        for (const path of [new URL(url).pathname, '/i/unknown'])
          await visit({ viewport: { width: 320, height: 568 } }, async (page) => {
            await page.goto(longUrl + path);
            expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
              320,
            );
          });
      });
    });

    it.each([...allAtLength(LOCALES).map((locale) => [locale, true] as const), ['en', false] as const])(
      'leads from the invitation to online in %s (with scripts: %s)',
      async (locale, javaScriptEnabled) => {
        const text = messages(locale);
        const { id, url } = await invite();
        await visit({ javaScriptEnabled, locale, viewport: SCREENS.phone }, async (page) => {
          await page.goto(url);
          await page.mouse.move(100, 100);
          await page.mouse.move(200, 200);
          if (javaScriptEnabled)
            await waitFor('a person to be seen', async () => (await stateOf(id)) === 'opened');
          else expect(await stateOf(id)).toBe('invited');
          await page.getByRole('button', { name: text('ready.button') }).click();
          await page.getByRole('radio').first().check();
          await page.getByRole('button', { name: 'Continue' }).click();
          await page.getByLabel('Email address').fill('owner@example.com');
          await page.getByLabel('Password').fill('secret');
          await page.getByRole('button', { name: 'Sign in' }).click();
          for (const each of ['Reading how much', 'Reducing their production'])
            await page.getByLabel(each).check();
          await page.getByRole('button', { name: 'Allow' }).click();
          await page.getByText('Thank you').first().waitFor();
          await waitFor('the owner to be done', async () => (await stateOf(id)) !== 'started');
          await page.goto(url);
          await page
            .getByRole('heading', { name: text('waiting.heading') })
            .or(page.getByRole('heading', { name: text('online.heading') }))
            .waitFor();
          await page.getByRole('heading', { name: text('online.heading') }).waitFor({ timeout: 60_000 });
          await picture(page, `online-${locale}-${javaScriptEnabled ? 'live' : 'plain'}`);
        });
        await waitFor('the invitation is online', async () => (await stateOf(id)) === 'online');
      },
    );

    const KINDS: Readonly<Record<string, (owner: Invitation) => Promise<unknown>>> = {
      unknown: async () => {},
      ready: async () => {},
      started: ({ url }) => click(`${url}?brand=${LONG_BRAND}`),
      next: async (owner) => {
        await click(`${owner.url}?brand=${LONG_BRAND}`);
        await complete(owner, LONG_BRAND);
      },
      waiting: async (owner) => {
        await KINDS.next!(owner);
        await click(`${owner.url}?brand=sunward`);
        await complete(owner, 'sunward');
      },
      online: ({ id }) => change(id, 'owner_done_at = now(), online_at = now()'),
      expired: ({ id }) => change(id, 'expires_at = now()'),
      revoked: ({ id }) => client.call('DELETE', `/invitations/${id}`),
      declined: ({ url }) => click(`${url}/decline?reason=login_elsewhere`),
      erased: ({ userId }) => client.call('DELETE', `/users/${userId}`),
      wish: async ({ url }) => {
        await failStarts();
        await click(`${url}?brand=${LONG_BRAND}`);
      },
    };
    it('goes on by itself when a wish can be fulfilled', async () => {
      const { id, url } = await invite();
      await failStarts();
      await visit({ locale: 'en' }, async (page) => {
        await page.goto(url);
        await page.getByRole('button').click();
        await page.getByRole('heading', { name: messages('en')('wish.heading') }).waitFor();
        await service.sandbox!.control.clearFaults();
        await change(id, 'wish_due_at = now()');
        await page.getByText('Which brand is your inverter?').waitFor({ timeout: 60_000 });
      });
    });

    it.each(Object.keys(KINDS))(
      'when it is %s, has no fault of accessibility and is no wider than the screen, in any language and colour scheme',
      async (kind) => {
        const owner = await invite({ brands: [LONG_BRAND, 'sunward'], metadata: { label: 'Kerkstraat 12' } });
        await KINDS[kind]!(owner);
        const url = kind === 'unknown' ? owner.url.slice(0, -1) : owner.url;
        await visit({ viewport: { width: 320, height: 568 } }, async (page) => {
          for (const [index, locale] of LOCALES.entries()) {
            const heading = page.getByRole('heading', { name: messages(locale)(`${kind}.heading`) });
            await waitFor('the page', async () => {
              await page.goto(`${url}?lang=${locale}`);
              return (await heading.count()) === 1;
            });
            for (const width of [320, 1280]) {
              await page.setViewportSize({ width, height: 800 });
              expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
                width,
              );
              // Each language in one of the four looks, and at length in all.
              for (const [scheme, colorScheme] of (['light', 'dark'] as const).entries()) {
                if (!isLong && index !== scheme + (width === 320 ? 0 : 2)) continue;
                await page.emulateMedia({ colorScheme });
                await picture(page, `${kind}-${locale}-${width}-${colorScheme}`);
                expect(await faultsOf(page)).toEqual([]);
              }
            }
          }
        });
      },
    );

    it('leads to the remote service by the keyboard alone', async () => {
      const { url } = await invite();
      await visit({}, async (page) => {
        await page.goto(url);
        const focused = () => page.evaluate<boolean>('document.activeElement.matches(".begin button")');
        for (let tabs = 0; tabs < 10 && !(await focused()); tabs++) await page.keyboard.press('Tab');
        await page.locator('.begin button:focus').waitFor();
        await page.keyboard.press('Enter');
        await page.getByText('Which brand is your inverter?').waitFor();
      });
    });

    it('announces a change without a reload, and keeps the focus on its button', async () => {
      const owner = await invite({ brands: ['acme', 'sunward'] });
      await click(`${owner.url}?brand=acme`);
      await visit({ locale: 'en' }, async (page) => {
        const text = messages('en');
        await page.goto(owner.url);
        await page.getByRole('button', { name: 'Continue with acme' }).focus();
        let loads = 0;
        page.on('load', () => loads++);
        await complete(owner, 'acme');
        await page.locator('[aria-live=polite]', { hasText: text('next.heading') }).waitFor();
        await page.locator('button:focus', { hasText: 'Connect sunward' }).waitFor();
        expect(loads).toBe(0);
      });
    });

    it('loads nothing from elsewhere, and sets no cookie', async () => {
      const { url } = await invite();
      await visit({}, async (page) => {
        const requested: string[] = [];
        page.on('request', (request) => requested.push(new URL(request.url()).origin));
        await page.goto(url, { waitUntil: 'networkidle' });
        expect(new Set(requested)).toEqual(new Set([service.url]));
        expect(await page.context().cookies()).toEqual([]);
      });
    });
  });
