import { describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const service = useTestApp();
const client = TestClient.of(service);

const waitForState = (id: string, state: string): Promise<SessionAnswer> =>
  waitFor(`session ${id} is ${state}`, async () => {
    const session = await client.session(id);
    return session.state === state && session;
  });

describe('the times of a session', () => {
  it('say when its state changed and when it came online first', async () => {
    const { control } = service.sandbox!;
    const started = await client.startNew();
    expect(started.onlineAt).toBeNull();
    expect(Date.parse(started.stateChangedAt)).toBeLessThanOrEqual(Date.parse(started.checkedAt));
    await control.complete(started.id);
    const completed = await waitForState(started.id, 'awaiting_installation');
    expect(completed.onlineAt).toBeNull();
    expect(Date.parse(completed.stateChangedAt)).toBeGreaterThan(Date.parse(started.stateChangedAt));
    await control.online(started.id, { inverters: 1 });
    const online = await waitForState(started.id, 'online');
    expect(online.onlineAt).toBe(online.stateChangedAt);
    await service.app
      .get(Database)
      .query("UPDATE onboarding_sessions SET state = 'unrecognised' WHERE id = $1", [started.id]);
    expect((await client.session(started.id)).onlineAt).toBe(online.onlineAt);
  });
});

describe('the list of sessions', () => {
  it('filters by createdAt and expiresAt', async () => {
    const gridLocationId = await client.locate();
    for (const brand of ['a', 'b', 'c']) await client.start(gridLocationId, { brand });
    const list = async (query: string) =>
      (
        await client.call<{ items: SessionAnswer[] }>(
          'GET',
          `/onboarding/pv?gridLocationId=${gridLocationId}${query}`,
        )
      ).body.items
        .map(({ brand }) => brand)
        .sort();
    // The first read of a session writes its times, and no later one does.
    await waitFor('all were read', async () => {
      const path = `/onboarding/pv?gridLocationId=${gridLocationId}`;
      const { body } = await client.call<{ items: SessionAnswer[] }>('GET', path);
      return body.items.every(({ expired }) => expired === false);
    });
    await service.app.get(Database).query(
      `UPDATE onboarding_sessions s SET created_at = t.created_at, expires_at = t.created_at + interval '1 day'
         FROM (VALUES ('a', '2026-01-01T00:00:00Z'::timestamptz), ('b', '2026-01-02T00:00:00Z'), ('c', '2026-01-03T00:00:00Z'))
              AS t (brand, created_at)
        WHERE s.grid_location_id = $1 AND s.brand = t.brand`,
      [gridLocationId],
    );
    expect(await list('&createdSince=2026-01-02T00:00:00Z')).toEqual(['b', 'c']);
    expect(await list('&startedBefore=2026-01-02T00:00:00Z')).toEqual(['a']);
    expect(await list('&createdSince=2026-01-02T00:00:00Z&startedBefore=2026-01-03T00:00:00Z')).toEqual([
      'b',
    ]);
    expect(await list('&expiresBefore=2026-01-03T00:00:00Z')).toEqual(['a']);
    expect(await list('&expiresBefore=2026-01-03T01:00:00%2B01:00')).toEqual(['a']);
    expect(await list('&expiresBefore=2026-01-03T00:00:00.001Z')).toEqual(['a', 'b']);
  });
});
