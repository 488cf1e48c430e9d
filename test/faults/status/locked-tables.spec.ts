import { afterEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Database } from '../../../src/platform/database/database.js';
import { findTableLocks } from '../../../src/platform/database/table-locks.js';
import { ConsoleBrowser, createKey } from '../../e2e/console/console-client.js';
import { describeInChromium, launchChromium, SCREENS } from '../../pages/chromium.js';
import { TestClient } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { allAtLength, inTime, itAtLength, promise } from '../support/promise.js';

/** Within this time after the page was opened. */
const SHOWN_WITHIN_MS = 20_000;
/** A table of the key, of the token, of the figures, of what needs a person; and `users` while requests use up all connections. */
const LOCKED = ['api_keys', 'remote_tokens', 'domain_events', 'stalls', 'users'];

const service = useTestApp();
let blocker: pg.Client | undefined;

afterEach(async () => {
  await blocker?.end();
  blocker = undefined;
});

/** Locks a table, until the lock is old enough that it is no migration. */
async function lock(table: string): Promise<void> {
  blocker = new pg.Client(service.environment.DATABASE_URL);
  await blocker.connect();
  await blocker.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  const database = service.app.get(Database);
  await waitFor('the lock is told', async () => (await findTableLocks(database)).length > 0);
}

/** Sends requests that wait for `users` until the end of the test, more than there are connections. */
function useUpConnections(): () => Promise<unknown> {
  let goesOn = true;
  const client = TestClient.of(service);
  const asked = Array.from({ length: 3 * service.environment.DATABASE_POOL_SIZE }, async () => {
    while (goesOn) await client.call('GET', '/users').catch(() => {});
  });
  return () => ((goesOn = false), Promise.all(asked));
}

const problemOf = async (response: Promise<Response>) => {
  const { status } = await response;
  return { status, ...((await (await response).json()) as { detail: string }) };
};

describe('R68: a locked table is named', () => {
  it.each(allAtLength(LOCKED.slice(1).reverse()))('by a status whose figures wait: %s', async (table) => {
    await lock(table);
    const stop = table === 'users' ? useUpConnections() : () => Promise.resolve();
    try {
      const { pool } = service.app.get(Database);
      await waitFor('all connections wait', () => table !== 'users' || pool.waitingCount > 0);
      const { body } = await TestClient.of(service).call('GET', '/status');
      expect(body).toMatchObject({ detail: expect.stringContaining(`${table} is locked by process`) });
    } finally {
      await stop();
    }
  });

  it('to a person whose session cannot be checked, and to nobody without a session', async () => {
    const { key } = await createKey(service, 'admin');
    const browser = new ConsoleBrowser(service);
    await browser.signIn(key);
    await lock('api_keys');
    const named = { status: 503, detail: expect.stringContaining('api_keys is locked by process') };
    expect(await problemOf(browser.send('GET', '/console/session'))).toMatchObject(named);
    expect(await problemOf(browser.send('GET', '/api/v1/status'))).toMatchObject(named);
    const { body } = await new TestClient(service.url, key).call('GET', '/status');
    expect(body).toMatchObject({
      code: 'database_unavailable',
      detail: expect.not.stringContaining('api_keys'),
    });
  });

  it('to a person who cannot sign in, because nobody could record it', async () => {
    await lock('audit_log');
    expect(await problemOf(new ConsoleBrowser(service).signIn(service.adminKey))).toMatchObject({
      status: 503,
      detail: expect.stringContaining('audit_log is locked by process'),
    });
  });
});

describeInChromium('R68: a locked table is named', () => {
  itAtLength('on the first page of the console', async () => {
    const { key } = await createKey(service, 'admin');
    const browser = await launchChromium();
    const shownMs: number[] = [];
    try {
      const context = await browser.newContext({ viewport: SCREENS.desktop });
      const first = await context.newPage();
      await first.goto(`${service.url}/console`);
      await first.getByLabel('API key').fill(key);
      await first.getByRole('button', { name: 'Sign in' }).click();
      await first.getByText('Needs a person').waitFor();
      for (const table of LOCKED) {
        await lock(table);
        const stop = table === 'users' ? useUpConnections() : () => Promise.resolve();
        const page = await context.newPage();
        const openedAt = performance.now();
        await page.goto(`${service.url}/console`);
        await page.getByText(`${table} is locked by process`).first().waitFor();
        shownMs.push(performance.now() - openedAt);
        await Promise.all([page.close(), blocker?.end(), stop()]);
        blocker = undefined;
      }
    } finally {
      await browser.close();
    }
    const latest = Math.max(...shownMs);
    promise('R68', {
      figure: `a locked table is shown within ${Math.round(latest / 100) / 10} s, of ${LOCKED.length}`,
      bound: `${SHOWN_WITHIN_MS / 1_000} s`,
    });
    expect(latest).toBeLessThan(inTime(SHOWN_WITHIN_MS));
  });
});
