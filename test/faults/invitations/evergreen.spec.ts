import { afterEach, describe, expect, it } from '@jest/globals';
import { SessionViewsStore } from '../../../src/onboarding/store/session-views.store.js';
import { itAtLength, promise } from '../support/promise.js';
import { startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';

/** The age of the invitation at each click, in days. By each click, the remote session of the previous click has expired. */
const DAYS = [1, 2, 30, 60];

let replicas: Replicas;
afterEach(() => replicas.close());

/** Clicks at each of these ages. Counts the clicks that lead to a session that is still open at the remote service. */
async function clickLater(prepare?: ReplicaOptions['prepare']) {
  const environment = { ROLE: 'all', POLL_MIN_INTERVAL_MS: 50, POLL_TICK_MS: 50 } as const;
  replicas = await startReplicas({ count: 1, environment, ...(prepare && { prepare }) });
  const [client] = replicas.clients;
  const { control } = replicas.sandbox;
  const { body } = await client!.call<{ id: string; url: string }>('POST', '/invitations', {
    gridLocationId: await client!.locate(),
  });
  const database = replicas.apps[0]!.database;
  let led = 0;
  for (const day of DAYS) {
    await database.query(
      `UPDATE invitations SET created_at = now() - $2 * interval '1 day', expires_at = now() - $2 * interval '1 day' + interval '90 days' WHERE id = $1`,
      [body.id, day],
    );
    const location =
      (await fetch(body.url, { method: 'POST', redirect: 'manual' })).headers.get('location') ?? '';
    const open = (await control.sessions()).find(({ expired }) => !expired);
    if (open !== undefined && location.endsWith(open.linkToken)) led++;
    if (open === undefined) continue;
    await control.expire(open.sessionId);
    await client!.untilState(open.sessionId, 'expired');
  }
  return led;
}

describe('R47: a link stays valid', () => {
  it('on days 1, 2, 30 and 60, after the remote session has expired each time', async () => {
    const led = await clickLater();
    promise('R47', {
      figure: `${led} of ${DAYS.length} clicks led to an open session`,
      bound: `${DAYS.length}`,
    });
    expect(led).toBe(DAYS.length);
  });

  itAtLength('turns red when the first startUrl is remembered', async () => {
    const led = await clickLater((app) => {
      const views = app.get(SessionViewsStore);
      const find = views.findStartUrl.bind(views);
      let first: string | null = null;
      views.findStartUrl = (row) => (first ??= find(row));
    });
    expect(led).toBeLessThan(DAYS.length);
  });
});
