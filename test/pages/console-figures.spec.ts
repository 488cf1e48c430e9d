import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { Database } from '../../src/platform/database/database.js';
import { isLong } from '../faults/support/promise.js';
import { useTestApp } from '../setup/test-app.js';
import { CHROMIUM, launchChromium, SCREENS } from './chromium.js';

const SESSIONS = isLong ? 10_000 : 400;
/** The pages of the list of the stuck that the console reads, and their size. */
const MOST_STUCK = 5 * 200;

/** Every state, stall cause and status of a registration, some of them at the edges: superseded, closed, stalled rows of sessions that nobody waits for. */
const SEED = `
  CREATE TEMP TABLE seeds ON COMMIT DROP AS
    SELECT g, md5('user' || g)::uuid AS user_id, md5('location' || g)::uuid AS location_id, md5('session' || g)::uuid AS session_id,
      (ARRAY['online', 'online', 'online', 'awaiting_owner', 'awaiting_owner', 'awaiting_installation', 'expired', 'lost', 'unrecognised', 'online'])[g % 10 + 1] AS state
    FROM generate_series(1, ${SESSIONS}) AS g;
  INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata)
    SELECT user_id, 'customer-' || g, '', '', '', '', '{}' FROM seeds;
  INSERT INTO grid_locations (id, user_id, ean) SELECT location_id, user_id, lpad((541448820000000000 + g)::text, 18, '0') FROM seeds;
  INSERT INTO onboarding_sessions (id, user_id, grid_location_id, brand, metadata, state, basis, rule, finished, active, created_at, updated_at,
      expires_at, started_updated_at, state_changed_at, recorded_at, last_checked_at, closed_at, close_reason, superseded_at)
    SELECT session_id, user_id, location_id, 'brand ' || g % 3, '{}', state,
      CASE WHEN state = 'awaiting_installation' THEN 'inferred' ELSE 'observed' END, 'seeded', state = 'online', state = 'awaiting_owner',
      now() - interval '5 days', now() - interval '5 days', now() + interval '5 days', now() - interval '5 days', now() - interval '4 days',
      now() - interval '5 days', now() - interval '1 h', CASE WHEN g % 50 = 1 THEN now() END, CASE WHEN g % 50 = 1 THEN 'settled' END,
      CASE WHEN g % 50 = 3 THEN now() END
    FROM seeds;
  INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
    SELECT session_id, user_id, now() + CASE WHEN g % 7 = 0 THEN interval '-90 s' ELSE interval '1 h' END, now() - interval '1 h',
      now() - interval '1 h', 'late', now() - interval '5 days'
    FROM seeds WHERE g % 50 NOT IN (1, 3) AND state <> 'lost';
  INSERT INTO session_stalls (session_id, cause, since, evidence)
    SELECT session_id, CASE state WHEN 'awaiting_owner' THEN (ARRAY['started_not_completed', 'expiring_soon', 'remote_unreachable'])[g % 3 + 1]
      WHEN 'awaiting_installation' THEN 'completed_not_online' ELSE 'unrecognised' END, now() - interval '1 day', '{}'
    FROM seeds WHERE state IN ('awaiting_owner', 'awaiting_installation', 'unrecognised', 'expired') AND g % 4 < 3;
  INSERT INTO inverters (session_id, id, first_seen_at, last_seen_at, missing_since)
    SELECT session_id, md5('inverter' || g || n)::uuid, now() - interval '3 days', now(), CASE WHEN n <= g % 30 / 10 THEN now() END
    FROM seeds, generate_series(1, 2) AS n WHERE state = 'online';
  INSERT INTO registrations (tenant_reference, eans, metadata, status, attempts, next_attempt_at, created_at)
    SELECT 'new-' || g, '{541448820044186577}', '{}', status, 1, CASE status WHEN 'pending' THEN now() + interval '1 h' END,
      now() - (g % 60) * interval '1 h'
    FROM seeds, LATERAL (SELECT (ARRAY['uncertain', 'pending', 'rejected', 'discarded'])[g / 10 % 4 + 1] AS status) s WHERE g % 10 = 0;
  INSERT INTO session_starts (grid_location_id, status, orphans, lease_token, lease_until, updated_at)
    SELECT location_id, CASE WHEN g % 2 = 0 THEN 'failed' ELSE 'sending' END, g % 3, gen_random_uuid(), now() - interval '2 h', now() - interval '2 h'
    FROM seeds WHERE g % 25 < 2;
  INSERT INTO invitations (grid_location_id, token_hash, brands, metadata, created_at, opened_at, started_at, owner_done_at, online_at, expires_at)
    SELECT location_id, decode(md5('a' || g) || md5('b' || g), 'hex'), '{acme}', '{}', at, CASE WHEN g % 6 > 0 THEN at + interval '1 min' END,
      CASE WHEN g % 6 > 1 THEN at + interval '2 min' END, CASE WHEN g % 6 > 2 THEN at + interval '3 min' END,
      CASE WHEN g % 6 > 3 THEN at + interval '4 min' END, at + interval '90 days'
    FROM seeds, LATERAL (SELECT now() - (g % 10) * interval '1 day' - interval '5 min' AS at) t WHERE g % 2 = 0;`;

const OPEN = `closed_at IS NULL AND superseded_at IS NULL`;

if (CHROMIUM === null) {
  const notice =
    'THE FIGURES OF THE CONSOLE WERE NOT TESTED: there is no chromium here (apt-get install chromium, or CHROMIUM)';
  console.warn(notice);
  it(`is not shown. ${notice}`, () => expect(CHROMIUM).toBeNull());
} else
  describe(`the duty page of ${SESSIONS} sessions`, () => {
    // Nothing reads, searches or delivers, so the figures stay.
    const service = useTestApp({ ROLE: 'api' });
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      await service.app.get(Database).transaction((tx) => tx.query(SEED));
      browser = await launchChromium();
      page = await (await browser.newContext({ viewport: SCREENS.desktop })).newPage();
      await page.goto(`${service.url}/console`);
      await page.getByLabel('API key').fill(service.adminKey);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('region', { name: 'Needs a person' }).getByText('Next:').first().waitFor();
      await page.getByRole('table', { name: 'Invitations by day' }).waitFor();
    });
    afterAll(() => browser?.close());

    const numberIn = (text: string) => Number(/[\d,]+/.exec(text)?.[0].replaceAll(',', ''));
    /** Returns the number of a query that returns one. */
    const sql = async (text: string) => {
      const [row] = await service.app.get(Database).query<{ count: string }>(text);
      return Number(row!.count);
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
      ['started_not_completed', 'The owner has not finished the web flow'],
      ['expiring_soon', 'It expires soon'],
      ['remote_unreachable', 'The remote service has not returned it'],
      ['completed_not_online', 'the installation is late'],
      ['unrecognised', 'Its flags are not described'],
    ])('counts the stalled by cause as SQL does: %s', async (cause, words) => {
      const expected = await sql(`SELECT count(*) FROM admin.stalled WHERE cause = '${cause}'`);
      expect(expected).toBeGreaterThan(0);
      expect(await countIn(words)).toBe(expected);
    });

    it('counts doubtful sessions, registrations, starts and the schedule as SQL does', async () => {
      const sessions = (state: string) =>
        sql(`SELECT count(*) FROM onboarding_sessions WHERE ${OPEN} AND state = '${state}'`);
      const missing = (having: string) =>
        sql(`SELECT count(*) FROM (SELECT FROM inverters i JOIN onboarding_sessions s ON s.id = i.session_id
              WHERE ${OPEN} AND s.state = 'online' GROUP BY s.id HAVING ${having}) t`);
      const figures = {
        unrecognised: await countIn('The interface does not describe their flags'),
        lost: await countIn('The remote service no longer knows them'),
        allMissing: await countIn('all inverters missing'),
        someMissing: await countIn('some inverters missing'),
        uncertain: await fact('Registrations and starts', 'To decide'),
        pending: await fact('Registrations and starts', 'Sent again'),
        abandoned: await fact('Registrations and starts', 'Starts without end'),
        orphans: await fact('Registrations and starts', 'Orphans'),
        watched: await fact('Freshness', 'Watched'),
        overdue: await fact('Freshness', 'Late'),
      };
      expect(figures).toEqual({
        unrecognised: await sessions('unrecognised'),
        lost: await sessions('lost'),
        allMissing: await missing('bool_and(missing_since IS NOT NULL)'),
        someMissing: await missing(
          'bool_or(missing_since IS NOT NULL) AND NOT bool_and(missing_since IS NOT NULL)',
        ),
        uncertain: await sql(`SELECT count(*) FROM registrations WHERE status = 'uncertain'`),
        pending: await sql(`SELECT count(*) FROM registrations WHERE status = 'pending'`),
        abandoned: await sql(`SELECT count(*) FROM session_starts WHERE status = 'sending'`),
        orphans: await sql(`SELECT sum(orphans) AS count FROM session_starts`),
        watched: await sql(`SELECT count(*) FROM session_polls`),
        overdue: await sql(`SELECT count(*) FROM session_polls WHERE due_at < now()`),
      });
      expect(Object.values(figures).every((figure) => figure > 0)).toBe(true);
    });

    it('groups what needs a person as SQL does', async () => {
      const groups = await service.app
        .get(Database)
        .query<{ kind: string; reason: string; count: string }>(
          `SELECT kind, reason, count(*) FROM (SELECT * FROM admin.stuck ORDER BY since, id LIMIT ${MOST_STUCK}) s GROUP BY kind, reason`,
        );
      const shown = await panel('Needs a person').getByRole('listitem').getByRole('link').allInnerTexts();
      const expected = groups.map(({ kind, reason, count }) => [
        numberIn(Number(count).toLocaleString('en')),
        kind,
        reason,
      ]);
      const read = shown.map((text) => {
        const [, count = '', kind, reason] = /^([\d,]+) (\w+?)s?: (.*)$/.exec(text) ?? [];
        return [numberIn(count), kind, reason];
      });
      // The page shows the largest groups.
      expect(expected).toEqual(expect.arrayContaining(read));
      expect(read).toHaveLength(Math.min(6, expected.length));
      const total = expected.reduce((sum, [count]) => sum + Number(count), 0);
      await panel('Needs a person')
        .getByText(new RegExp(`${total.toLocaleString('en')} items in`))
        .waitFor();
    });

    it('counts the invitations of the last 7 days as SQL does', async () => {
      const reached = (step: string) =>
        sql(`SELECT count(*) FROM invitations
              WHERE created_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '6 days' AND ${step}`);
      const steps = await panel('Invitations of the last 7 days')
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

    it('leads to as many stalled sessions as it counts', async () => {
      const expected = await countIn('It expires soon');
      await panel('Stalled sessions').getByRole('link', { name: 'It expires soon' }).click();
      const more = page.getByRole('button', { name: 'Show more' });
      await page.getByText(/\d sessions\./).waitFor();
      while (await more.isVisible()) {
        const before = await page.getByText(/\d sessions\./).innerText();
        await more.click();
        await page.getByText(before, { exact: true }).waitFor({ state: 'detached' });
      }
      expect(numberIn(await page.getByText(/\d sessions\./).innerText())).toBe(expected);
      expect(await page.getByRole('row').count()).toBe(expected + 1);
    });
  });
