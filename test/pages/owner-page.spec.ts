import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { BrandOutages } from '../../src/brands/brand-outages.service.js';
import { LOCALES } from '../../src/platform/env/locale.rules.js';
import { StallsStore } from '../../src/stalls/stalls.store.js';
import { languageOf } from '../../sandbox/pages/owner-flow.texts.js';
import { allAtLength, isLong } from '../faults/support/promise.js';
import { useFolder } from '../setup/folder.js';
import { TestClient } from '../setup/client.js';
import { insertConsent } from '../setup/consent.js';
import { useTestApp } from '../setup/test-app.js';
import { waitFor } from '../setup/wait-for.js';
import { withReplica } from '../e2e/replica.js';
import { describeInChromium, faultsOf, launchChromium, picture, SCREENS } from './chromium.js';

/** The longest name of a brand that an invitation takes. */
const LONG_BRAND = 'Wechselrichterhersteller'.repeat(3).slice(0, 60);

const NOTES = {
  account: 'Das Konto, mit dem Sie die App SunWard Home benutzen.',
  login: 'Oft hat der Installateur das Konto angelegt.',
  traps: 'Das Konto des Shops ist ein anderes.',
  helpUrl: 'https://sunward.example/help',
};
const SUN =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 64"><circle cx="48" cy="32" r="28" fill="#f5b301"/></svg>';

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

describeInChromium("the owner's page, in Chromium", () => {
  const folder = useFolder();
  const brandsFile = join(folder, 'brands.json');
  writeFileSync(join(folder, 'sun.svg'), SUN);
  const sunward = { name: 'SunWard Solar', picture: 'sun.svg', en: NOTES, nl: NOTES, de: NOTES, fr: NOTES };
  writeFileSync(brandsFile, JSON.stringify({ sunward }));
  const service = useTestApp({
    POLL_MIN_INTERVAL_MS: 100,
    POLL_TICK_MS: 50,
    INVERTER_BRANDS_FILE: brandsFile,
    BRAND_PRIVACY_URL: 'https://sunny.example/privacy',
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

  const stalledOf = async (id: string) =>
    (await client.call<{ stalled: { cause: string } | null }>('GET', `/invitations/${id}`)).body.stalled
      ?.cause;

  const click = (url: string) => fetch(url, { method: 'POST', redirect: 'manual' });
  /** Completes the web flow of the location's session of the brand. */
  const complete = async ({ gridLocationId }: Invitation, brand: string) => {
    const items = await client.list<{ id: string; brand: string }>(
      `/onboarding/pv?gridLocationId=${gridLocationId}`,
    );
    const { id } = items.find((session) => session.brand === brand)!;
    await service.sandbox!.control.complete(id, { onlineAfterMs: null });
  };
  const change = (id: string, assignment: string) =>
    service.database.query(`UPDATE invitations SET ${assignment} WHERE id = $1`, [id]);
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
      const { texts } = languageOf(locale);
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
        await page.getByRole('button', { name: texts.next }).click();
        await page.getByLabel(texts.email).fill('owner@example.com');
        await page.getByLabel(texts.password).fill('secret');
        await page.getByRole('button', { name: texts.signIn }).click();
        for (const each of [texts.monitoring, texts.curtailment]) await page.getByLabel(each).check();
        await page.getByRole('button', { name: texts.allow }).click();
        await page.getByText(texts.thanks).first().waitFor();
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

  const query = (text: string) => service.database.query(text);
  const setHealth = (assignment: string) =>
    query(`UPDATE remote_operations SET ${assignment} WHERE operation = 'start_session'`);
  const refuseStarts = () =>
    service.sandbox!.control.addFault({
      operation: 'start_session',
      kind: 'answer',
      status: 422,
      times: null,
    });
  /** How each page comes about. `at`: the end of its address. `shows`: its heading, if that is that of another page. */
  const KINDS: Readonly<
    Record<
      string,
      {
        readonly make?: (owner: Invitation) => Promise<unknown>;
        readonly at?: (link: string) => string;
        readonly shows?: string;
        readonly press?: (page: Page) => Promise<unknown>;
      }
    >
  > = {
    unknown: { at: (link) => link.slice(0, -1) },
    ready: {},
    brand: { make: ({ id }) => change(id, `brands = '{sunward}'`), shows: 'ready' },
    outage: {
      make: () =>
        setHealth(`health = 'degraded', reason = 'down', trouble_until = now() + interval '1 hour'`),
      shows: 'ready',
    },
    brandOutage: {
      make: () => {
        // The worker would find that no session fails.
        jest.spyOn(service.app.get(BrandOutages), 'find').mockResolvedValue();
        return query(
          `INSERT INTO brand_outages (brand, since, failing, read) SELECT brand, now(), 5, 0 FROM unnest('{sunward, ${LONG_BRAND}}'::text[]) brand`,
        );
      },
      shows: 'ready',
    },
    started: { make: ({ url }) => click(`${url}?brand=${LONG_BRAND}`) },
    next: {
      make: async (owner) => {
        await click(`${owner.url}?brand=${LONG_BRAND}`);
        await complete(owner, LONG_BRAND);
      },
    },
    waiting: {
      make: async (owner) => {
        await KINDS.next!.make!(owner);
        await click(`${owner.url}?brand=sunward`);
        await complete(owner, 'sunward');
      },
    },
    late: {
      make: async (owner) => {
        await KINDS.waiting!.make!(owner);
        await waitFor('the owner to be done', async () => (await stateOf(owner.id)) === 'owner_done');
        await change(owner.id, `awaits_since = now() - interval '30 days'`);
        await service.app.get(StallsStore).lookNow('invitation', owner.id);
        await waitFor('it is late', async () => (await stalledOf(owner.id)) === 'completed_not_online');
      },
    },
    online: { make: ({ id }) => change(id, 'owner_done_at = now(), online_at = now()') },
    agreed: {
      make: async (owner) => {
        await insertConsent(service.database, owner.id);
        await KINDS.online!.make!(owner);
      },
      shows: 'online',
      press: (page) => page.locator('details:has([action*="/withdrawal"]) > summary').click(),
    },
    withdrawn: {
      make: async (owner) => {
        await KINDS.agreed!.make!(owner);
        await click(`${owner.url}/withdrawal`);
      },
    },
    expired: { make: ({ id }) => change(id, `expires_at = now() - interval '1 ms'`) },
    renewal: {
      make: async (owner) => {
        await KINDS.expired!.make!(owner);
        await click(`${owner.url}/renewal`);
      },
    },
    revoked: { make: ({ id }) => client.call('DELETE', `/invitations/${id}`) },
    declined: { make: ({ url }) => click(`${url}/decline?reason=login_elsewhere`) },
    erased: { make: ({ userId }) => client.call('DELETE', `/users/${userId}`) },
    wish: {
      make: async ({ url }) => {
        await failStarts();
        await click(`${url}?brand=${LONG_BRAND}`);
      },
    },
    kept: {
      make: async (owner) => {
        await KINDS.brandOutage!.make!(owner);
        await click(`${owner.url}?brand=${LONG_BRAND}`);
      },
    },
    rejected: {
      make: async ({ url }) => {
        await refuseStarts();
        await click(`${url}?brand=${LONG_BRAND}`);
      },
    },
    receipt: { make: ({ url }) => click(`${url}?brand=sunward`), at: (link) => `${link}?receipt` },
    code: { at: () => '' },
    wrongCode: {
      at: () => '',
      shows: 'code',
      press: async (page) => {
        await page.locator('#code').fill('ABCDEFGH');
        await page.locator('form button').click();
        await page.locator('#code[aria-invalid]').waitFor();
      },
    },
  };
  afterEach(async () => {
    await setHealth(`health = 'healthy', reason = NULL, trouble_until = NULL`);
    await query('DELETE FROM code_guesses');
    await query('DELETE FROM brand_outages');
    jest.restoreAllMocks();
  });

  it('goes on by itself when a wish can be fulfilled', async () => {
    const { id, url } = await invite();
    await failStarts();
    await visit({ locale: 'en' }, async (page) => {
      await page.goto(url);
      await page.getByRole('button').click();
      await page.getByRole('heading', { name: messages('en')('wish.heading') }).waitFor();
      await service.sandbox!.control.clearFaults();
      await change(id, `wish_due_at = now() - interval '1 ms'`);
      await page.getByText('Which brand is your inverter?').waitFor({ timeout: 60_000 });
    });
  });

  it.each(Object.keys(KINDS))(
    'when it is %s, has no fault of accessibility and is no wider than the screen, in any language and colour scheme',
    async (kind) => {
      const owner = await invite({ brands: [LONG_BRAND, 'sunward'], metadata: { label: 'Kerkstraat 12' } });
      const { make, at = (link) => link, shows = kind, press } = KINDS[kind]!;
      await make?.(owner);
      const [start, token] = owner.url.split(/(?<=\/i)\//) as [string, string];
      const path = at(token);
      const url = `${start}${path && '/'}${path}${path.includes('?') ? '&' : '?'}lang=`;
      await visit({ viewport: { width: 320, height: 568 } }, async (page) => {
        for (const [index, locale] of LOCALES.entries()) {
          const heading = page.getByRole('heading', { name: messages(locale)(`${shows}.heading`) });
          await waitFor('the page', async () => {
            await page.goto(url + locale);
            return (await heading.count()) === 1;
          });
          await press?.(page);
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
        await page.emulateMedia({ media: 'print', colorScheme: 'light' });
        await picture(page, `${kind}-print`);
        await page.emulateMedia({ media: 'screen' });
        // As a language would be that is written from right to left.
        await page.setViewportSize({ width: 320, height: 800 });
        await page.evaluate(`document.documentElement.dir = 'rtl'`);
        await picture(page, `${kind}-rtl`);
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
      });
    },
  );

  it.each([
    ['ready', '.begin'],
    ['ready', 'details form'],
    ['agreed', 'details form'],
    ['expired', 'form'],
    ['code', 'form'],
  ])('shows at once that a click is taken, and takes no second one: %s, %s', async (kind, form) => {
    const owner = await invite();
    await KINDS[kind]!.make?.(owner);
    await visit({}, async (page) => {
      await page.goto(kind === 'code' ? `${service.url}/i` : owner.url);
      // Records whether the page has refused each click, and stays on the page.
      await page.evaluate(
        `globalThis.refused = [];
           addEventListener('submit', (event) => { refused.push(event.defaultPrevented); event.preventDefault(); })`,
      );
      if (kind === 'code') await page.locator('#code').fill('ABCDEFGH');
      if (form.startsWith('details')) await page.locator('details:has(form) summary').click();
      const button = page.locator(`${form} button`).first();
      await button.click();
      await page.locator(`${form}[aria-busy] .busy`, { hasText: /./ }).waitFor();
      await button.click();
      expect(await page.evaluate('refused')).toEqual([false, true]);
    });
  });

  it('leaves what a person has opened as it is, while nothing changes', async () => {
    const { url } = await invite();
    await click(url);
    await visit({ locale: 'en' }, async (page) => {
      await page.goto(url);
      const details = page.locator('details:has([action$="/decline"])');
      await details.locator('summary').click();
      for (let refreshes = 0; refreshes < 2; refreshes++)
        await page.waitForResponse((response) => response.url() === url);
      expect(await details.getAttribute('open')).toBe('');
    });
  });

  it('has one read at a time, which takes no connection from a click, and tries again after one without a response', async () => {
    const { url } = await invite();
    await click(url);
    await visit({ locale: 'en' }, async (page) => {
      await page.clock.install();
      await page.goto(url);
      let reads = 0;
      await page.route(url, (route) => {
        if (route.request().resourceType() === 'fetch') return void reads++;
        return route.continue();
      });
      for (const count of [1, 2]) {
        await page.clock.runFor(16_000);
        await waitFor(`read ${count}`, () => Promise.resolve(reads === count));
      }
      await page.getByRole('button', { name: messages('en')('started.button') }).click();
      await page.getByText('Which brand is your inverter?').waitFor();
    });
  });

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
      await page.locator('button:focus', { hasText: 'Connect SunWard Solar' }).waitFor();
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
