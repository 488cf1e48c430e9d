import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { StallsStore } from '../../src/stalls/stalls.store.js';
import { isLong } from '../faults/support/promise.js';
import type { StallKind } from '../../src/stalls/cause.rules.js';
import { StallKinds } from '../../src/stalls/stall-kinds.js';
import { useTestApp } from '../setup/test-app.js';
import { describeInChromium, launchChromium, SCREENS } from './chromium.js';
import { seedOf } from './seed.js';

const SESSIONS = isLong ? 10_000 : 400;

describeInChromium(`the duty page of ${SESSIONS} sessions`, () => {
  // Starts no worker, so that the figures do not change.
  const service = useTestApp({ ROLE: 'api' });
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    await service.database.transaction((tx) => tx.query(seedOf(SESSIONS)));
    await service.app.get(StallsStore).writeCauses();
    browser = await launchChromium();
    page = await (await browser.newContext({ viewport: SCREENS.desktop })).newPage();
    await page.goto(`${service.url}/console`);
    await page.getByLabel('API key').fill(service.adminKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('region', { name: 'Needs a person' }).getByText('Next:').first().waitFor();
  });
  afterAll(() => browser?.close());

  const numberIn = (text: string) => Number(/[\d,]+/.exec(text)?.[0].replaceAll(',', ''));
  /** Returns the result of a query that returns one number. */
  const sql = async (text: string) => {
    const [row] = await service.database.query<{ count: string }>(text);
    return Number(row!.count);
  };
  /** Opens a tab of the duty page. */
  const open = async (view: string, until: string) => {
    await page.goto(`${service.url}/console?view=${view}`);
    await panel(until).waitFor();
  };
  const panel = (name: string) => page.getByRole('region', { name });
  const fact = async (name: string, term: string) => {
    const row = panel(name)
      .locator('dl > div')
      .filter({ has: page.getByText(term, { exact: true }) });
    return numberIn(await row.locator('dd').innerText());
  };
  const countIn = async (words: string) =>
    numberIn(
      await panel('Stalled sessions')
        .getByRole('listitem')
        .filter({ hasText: words })
        .locator('strong')
        .innerText(),
    );

  it.each([
    ['started_not_completed', 'The owner has started'],
    ['expiring_soon', 'soon expires'],
    ['remote_unreachable', 'The reads of the session fail'],
    ['completed_not_online', 'the installation is later'],
    ['unrecognised', 'does not describe the flags'],
  ])('counts the stalled by cause as SQL does: %s', async (cause, words) => {
    const expected = await sql(
      `SELECT count(*) FROM admin.stalled WHERE kind = 'session' AND cause = '${cause}'`,
    );
    expect(expected).toBeGreaterThan(0);
    await open('customers', 'Stalled sessions');
    await panel('Stalled sessions').getByRole('link', { name: words }).waitFor();
    expect(await countIn(words)).toBe(expected);
  });

  it('counts registrations, starts and the schedule as SQL does', async () => {
    await open('freshness', 'Freshness');
    const freshness = {
      watched: await fact('Freshness', 'Watched'),
      overdue: await fact('Freshness', 'Late'),
    };
    await open('customers', 'Registrations and starts');
    const figures = {
      ...freshness,
      uncertain: await fact('Registrations and starts', 'To decide'),
      pending: await fact('Registrations and starts', 'Sent again'),
      rejected: await fact('Registrations and starts', 'Rejected'),
      abandoned: await fact('Registrations and starts', 'Starts without end'),
      orphans: await fact('Registrations and starts', 'Orphans'),
    };
    expect(figures).toEqual({
      uncertain: await sql(`SELECT count(*) FROM registrations WHERE status = 'uncertain'`),
      pending: await sql(`SELECT count(*) FROM registrations WHERE status = 'pending'`),
      rejected: await sql(`SELECT count(*) FROM registrations WHERE status = 'rejected'`),
      abandoned: await sql(`SELECT count(*) FROM session_starts WHERE status = 'sending'`),
      orphans: await sql(`SELECT sum(orphans) AS count FROM session_starts`),
      watched: await sql(`SELECT count(*) FROM session_polls`),
      overdue: await sql(`SELECT count(*) FROM session_polls WHERE due_at < now()`),
    });
    expect(Object.values(figures).every((figure) => figure > 0)).toBe(true);
  });

  it('groups what needs a person as SQL does', async () => {
    const groups = await service.database.query<{ kind: StallKind; cause: string; count: string }>(
      'SELECT kind, cause, count(*) FROM stalls GROUP BY kind, cause',
    );
    await page.goto(`${service.url}/console`);
    await panel('Needs a person').getByText('Next:').first().waitFor();
    const total = groups.reduce((sum, { count }) => sum + Number(count), 0);
    await panel('Needs a person')
      .getByText(new RegExp(`^${total.toLocaleString('en')} items in`))
      .waitFor();
    const shown = await panel('Needs a person').locator('li > div').getByRole('link').allInnerTexts();
    const expected = groups.map(({ kind, cause, count }) => [
      numberIn(Number(count).toLocaleString('en')),
      kind,
      service.app.get(StallKinds).causeOf(kind, cause)?.title,
    ]);
    const read = shown.map((text) => {
      const [, count = '', kind, reason] = /^([\d,]+) (\w+?)s?: (.*)$/.exec(text) ?? [];
      return [numberIn(count), kind, reason];
    });
    // The page shows only the largest groups.
    expect(expected).toEqual(expect.arrayContaining(read));
    expect(read).toHaveLength(Math.min(4, expected.length));
  });

  it('counts the invitations of the last 7 days as SQL does', async () => {
    const reached = (step: string) =>
      sql(`SELECT count(*) FROM invitations
              WHERE created_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '6 days' AND ${step}`);
    await open('customers', 'Invitations in 7 days');
    await page.getByRole('table', { name: 'Invitations by day' }).waitFor();
    const steps = await panel('Invitations in 7 days')
      .getByRole('listitem')
      .locator('strong')
      .allInnerTexts();
    expect(steps.map(numberIn)).toEqual([
      await reached('true'),
      await reached('opened_at IS NOT NULL'),
      await reached('started_at IS NOT NULL'),
      await reached('owner_done_at IS NOT NULL'),
      await reached('online_at IS NOT NULL'),
    ]);
  });

  it.each(['soon expires', 'does not describe the flags'])(
    'leads to as many sessions as it counts: %s',
    async (words) => {
      await open('customers', 'Stalled sessions');
      await panel('Stalled sessions').getByRole('link', { name: words }).waitFor();
      const expected = await countIn(words);
      await panel('Stalled sessions').getByRole('link', { name: words }).click();
      const more = page.getByRole('button', { name: 'Show more' });
      await page.getByText(/\d sessions?[.,]/).waitFor();
      while (await more.isVisible()) {
        const before = await page.getByText(/\d sessions?[.,]/).innerText();
        await more.click();
        await page.getByText(before, { exact: true }).waitFor({ state: 'detached' });
      }
      expect(numberIn(await page.getByText(/\d sessions?[.,]/).innerText())).toBe(expected);
      expect(await page.getByRole('row').count()).toBe(expected + 1);
    },
  );

  it('leads to the rejected registrations', async () => {
    await open('customers', 'Registrations and starts');
    await panel('Registrations and starts')
      .getByRole('link', { name: /in 24 h/ })
      .click();
    await page.getByText(/\d registrations?(, the newest first)?\./).waitFor();
    expect(await page.locator('.badge', { hasText: 'rejected' }).count()).toBeGreaterThan(0);
  });
});
