import { afterEach, describe, expect, it } from '@jest/globals';
import { InvitationsStore } from '../../../src/invitations/invitations.store.js';
import { OwnerTexts } from '../../../src/invitations/owner/owner-texts.service.js';
import { OwnerStarts } from '../../../src/invitations/owner/owner-starts.service.js';
import { CHROMIUM, launchChromium } from '../../pages/chromium.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';

const VISITS = isLong ? 1_000 : 100;
const AT_ONCE = 20;
/** Visits of a real browser. Each visit takes as long as many requests. */
const VISITS_OF_BROWSERS = isLong ? 20 : 3;

/** The requests of mail scanners, chat programs and prefetching browsers, which are sent in turn. */
const MACHINES: readonly RequestInit[] = [
  {},
  { method: 'HEAD' },
  { headers: { 'user-agent': 'Mozilla/5.0 (compatible; LinkScanner/1.0)' } },
  { headers: { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130.0' } },
  { headers: { 'sec-fetch-user': '?1' } },
  { headers: { 'sec-purpose': 'prefetch;prerender', 'sec-fetch-user': '?1' } },
  { headers: { purpose: 'preview', 'sec-fetch-user': '?1' } },
  { headers: { 'x-moz': 'prefetch', 'sec-fetch-user': '?1' } },
];

/** The addresses that machines follow: the link, and those of the forms on its page. */
const PATHS = ['', '/decline', '/renewal'];

let replicas: Replicas;
afterEach(() => replicas.close());

/** Follows the link in a headless browser, like a scanner that runs scripts. Returns how often the page was served. */
async function followInBrowser(url: string): Promise<number> {
  if (CHROMIUM === null) return 0;
  const browser = await launchChromium();
  try {
    let served = 0;
    for (let visit = 0; visit < VISITS_OF_BROWSERS; visit++) {
      const page = await browser.newPage();
      const response = await page.goto(url, { waitUntil: 'networkidle' });
      if (response?.status() === 200) served++;
      await page.close();
    }
    return served;
  } finally {
    await browser.close();
  }
}

/** Lets scanners follow the link of an invitation. Returns the effects. */
async function scan(prepare?: ReplicaOptions['prepare']) {
  replicas = await startReplicas({ count: 1, environment: { ROLE: 'all' }, ...(prepare && { prepare }) });
  const [client] = replicas.clients;
  const { body: invitation } = await client!.call<{ id: string; url: string }>('POST', '/invitations', {
    gridLocationId: await client!.locate(),
  });
  let served = 0;
  for (let visit = 0; visit < VISITS * 2; visit += AT_ONCE) {
    const responses = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        fetch(
          `${invitation.url}${PATHS[(visit + index) % PATHS.length]}`,
          MACHINES[(visit + index) % MACHINES.length],
        ),
      ),
    );
    served += responses.filter(({ status }) => status === 200).length;
    await Promise.all(responses.map((response) => response.arrayBuffer()));
  }
  const servedToBrowsers = await followInBrowser(invitation.url);
  const { openedAt, declinedAt } = (
    await client!.call<{ openedAt: string | null; declinedAt: string | null }>(
      'GET',
      `/invitations/${invitation.id}`,
    )
  ).body;
  return {
    served,
    servedToBrowsers,
    sessions: (await replicas.sandbox.control.ledger()).sessions.length,
    openedAt,
    declinedAt,
  };
}

describe('R45: following a link creates nothing', () => {
  it('whatever machines follow it', async () => {
    const seen = await scan();
    promise('R45', {
      figure: `${seen.sessions} sessions and ${seen.openedAt === null ? 0 : 1} visits by ${VISITS * 2} requests of machines and ${seen.servedToBrowsers} visits of headless Chromium`,
      bound: '0, 0',
    });
    expect(seen).toEqual({
      served: VISITS * 2,
      servedToBrowsers: CHROMIUM === null ? 0 : VISITS_OF_BROWSERS,
      sessions: 0,
      openedAt: null,
      declinedAt: null,
    });
  });

  itAtLength('turns red when the page starts the session', async () => {
    const seen = await scan((app) => {
      const store = app.get(InvitationsStore);
      const find = store.findByToken.bind(store);
      store.findByToken = async (token) => {
        const invitation = await find(token);
        await app
          .get(OwnerStarts)
          .begin({ ...invitation!, brand: null }, app.get(OwnerTexts).consentIn('en'));
        return invitation;
      };
    });
    expect(seen.sessions).toBeGreaterThan(0);
  });
});
