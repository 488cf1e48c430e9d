import { describe, expect, it } from '@jest/globals';
import type { FunnelView } from '../../../src/invitations/funnel.view.js';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const DAY_MS = 86_400_000;

const service = useTestApp({ POLL_MIN_INTERVAL_MS: 50, POLL_TICK_MS: 50 });
const client = TestClient.of(service);

const invite = async (gridLocationId: string, brand: string) =>
  (
    await client.call<{ id: string; state: string }>('POST', '/invitations', {
      gridLocationId,
      brands: [brand],
    })
  ).body;
const goOnline = async (gridLocationId: string, brand: string) => {
  const { body: session } = await client.start(gridLocationId, { brand });
  await service.sandbox!.control.complete(session.id, { onlineAfterMs: 0 });
  await waitFor(
    'the session to be online',
    async () => (await client.session(session.id)).state === 'online',
  );
};
const funnelOf = async (key: string, query = '') => {
  const { body } = await client.call<{ items: FunnelView[] }>('GET', `/funnel?by=brand${query}`);
  return body.items.find((item) => item.key === key);
};

describe('the funnel', () => {
  it('has no time to online of a location that was online before its owner was invited', async () => {
    const [before, after] = [await client.locate(), await client.locate()];
    await goOnline(before, 'quick');
    expect((await invite(before, 'quick')).state).toBe('online');
    expect(await funnelOf('quick')).toMatchObject({
      online: 1,
      medianSecondsToOnline: null,
      p95SecondsToOnline: null,
    });
    await invite(after, 'quick');
    await goOnline(after, 'quick');
    const both = await waitFor('both to be counted', async () => {
      const counted = await funnelOf('quick');
      return counted?.online === 2 && counted;
    });
    expect(both.medianSecondsToOnline).toBeGreaterThan(0);
    expect(both.p95SecondsToOnline).toBe(both.medianSecondsToOnline);
  });

  it('begins with a whole day in UTC', async () => {
    const { id } = await invite(await client.locate(), 'thirty days ago');
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const createAt = (ms: number) =>
      service.app
        .get(Database)
        .query('UPDATE invitations SET created_at = $2 WHERE id = $1', [id, new Date(ms)]);
    await createAt(today - 30 * DAY_MS);
    expect(await funnelOf('thirty days ago')).toMatchObject({ invited: 1 });
    await createAt(today - 30 * DAY_MS - 1);
    expect(await funnelOf('thirty days ago')).toBeUndefined();
  });

  it('is refused for a period that ends before it begins', async () => {
    const at = '2026-06-01T00:00:00Z';
    for (const query of [`from=${at}&to=${at}`, `from=9999-01-01T00:00:00Z`])
      expect((await client.call('GET', `/funnel?${query}`)).body).toMatchObject({
        code: 'invalid_request',
        errors: [{ field: 'from', message: 'must be before `to`' }],
      });
  });
});

describe('in production', () => {
  it('nobody is invited without PUBLIC_URL', async () => {
    const gridLocationId = await client.locate();
    const production = await startTestApp({
      ...service.environment,
      NODE_ENV: 'production',
      SHUTDOWN_DELAY_MS: 0,
    });
    try {
      const there = TestClient.of(production);
      expect((await there.call('POST', '/invitations', { gridLocationId })).body).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringContaining('PUBLIC_URL'),
      });
    } finally {
      await production.close();
    }
    expect((await client.call('GET', `/invitations?gridLocationId=${gridLocationId}`)).body).toMatchObject({
      items: [],
    });
  });
});
