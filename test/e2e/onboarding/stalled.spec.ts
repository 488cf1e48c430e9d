import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { StallUpkeep } from '../../../src/onboarding/stalled/stall-upkeep.service.js';
import { ReadHabits } from '../../../src/onboarding/poll/habits.service.js';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient, type EventAnswer, type SessionAnswer } from '../../setup/client.js';
import { useTestApp, type TestApp } from '../../setup/test-app.js';
import { startReplica } from '../replica.js';

// Starts no worker, so that only the tests read sessions and search for stalled ones.
const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);
let other: TestApp;

beforeAll(async () => {
  other = await startReplica(service, { ROLE: 'api' });
});
afterAll(() => other.close());

const query = (text: string, values: readonly unknown[]) => service.app.get(Database).query(text, values);
/** Searches with two replicas, three times with each, all at once. */
const search = () =>
  Promise.all(
    [service, other, service, other, service, other].map(({ app }) => app.get(StallUpkeep).search()),
  );
/** Moves all times of a session into the past. */
const age = (id: string, hours: number) =>
  query(
    `UPDATE onboarding_sessions SET recorded_at = recorded_at - $2 * interval '1 hour', expires_at = expires_at - $2 * interval '1 hour',
            state_changed_at = state_changed_at - $2 * interval '1 hour' WHERE id = $1`,
    [id, hours],
  );
const list = async (filter: string) =>
  (await client.call<{ items: SessionAnswer[]; next: string | null }>('GET', `/onboarding/pv?${filter}`))
    .body;
const refresh = (id: string) => client.call('POST', `/onboarding/pv/${id}/refresh`);
const eventsOf = async (id: string): Promise<(readonly [string, EventAnswer['data']])[]> =>
  (await client.events())
    .filter(({ subject, type }) => subject === id && /stalled|resumed/.test(type))
    .map(({ type, data }) => [type.replace(/^pv\.session\.|\.v1$/g, ''), data] as const);
/** Returns the announcements of a session, each as its name, cause and state. */
const told = async (id: string) =>
  (await eventsOf(id)).map(([name, { cause, state }]) => [name, cause, state].join(' '));

const causes: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  started_not_completed: (id) => age(id, 5),
  expiring_soon: (id) => age(id, 23),
  completed_not_online: async (id) => {
    await service.sandbox!.control.complete(id, { onlineAfterMs: null });
    await refresh(id);
    await age(id, 73);
  },
  unrecognised: async (id) => {
    await service.sandbox!.control.fields(id, { set: { finished: true, active: true } });
    await refresh(id);
    await age(id, 1);
  },
  remote_unreachable: (id) =>
    query(
      `UPDATE session_polls SET failures = 3, last_error = 'rejected with 500: oops', checked_at = now() - interval '2 hours',
              claimed_at = now() - interval '2 hours' WHERE session_id = $1`,
      [id],
    ),
};

describe('a stalled session', () => {
  it.each(Object.entries(causes))('for %s is announced once, shown and listed', async (cause, make) => {
    const { id, tenantReference } = await client.startNew({ metadata: { order: 'A 17' } });
    await search();
    expect((await client.session(id)).stalled).toBeNull();
    await make(id);
    await search();
    await search();
    const { state, stalled } = await client.session(id);
    expect(stalled).toMatchObject({ cause, since: expect.any(String) });
    expect(await told(id)).toEqual([`stalled ${cause} ${state}`]);
    expect((await eventsOf(id))[0]![1]).toMatchObject({ ...stalled, sessionId: id, tenantReference });
    for (const other of [...Object.keys(causes), 'any']) {
      const ids = (await list(`stalled=${other}&gridLocationId=${(await client.session(id)).gridLocationId}`))
        .items;
      expect([other, ids.length]).toEqual([other, other === cause || other === 'any' ? 1 : 0]);
    }
    const rows = await query('SELECT cause, state, evidence FROM admin.stalled WHERE session_id = $1', [id]);
    expect(rows).toEqual([{ cause, state, evidence: stalled!.evidence }]);
    expect(JSON.stringify([stalled, await eventsOf(id)])).not.toMatch(/oops|startUrl/);
  });

  it('is announced again when the cause changes, without having resumed', async () => {
    const { id } = await client.startNew();
    await age(id, 5);
    await search();
    await age(id, 18);
    await search();
    expect(await told(id)).toEqual([
      'stalled started_not_completed awaiting_owner',
      'stalled expiring_soon awaiting_owner',
    ]);
  });

  it.each<[string, string, (session: SessionAnswer) => Promise<unknown>]>([
    [
      'comes online',
      'online',
      async ({ id }) => {
        await service.sandbox!.control.online(id);
        await refresh(id);
      },
    ],
    [
      'expires',
      'expired',
      async ({ id }) => {
        await service.sandbox!.control.expire(id);
        await refresh(id);
      },
    ],
    [
      'is superseded',
      'awaiting_owner',
      ({ gridLocationId }) => client.start(gridLocationId, { reuse: false }),
    ],
    [
      'is closed',
      'awaiting_owner',
      ({ id }) =>
        query(
          `UPDATE onboarding_sessions SET closed_at = now(), close_reason = 'late_window_over', start_url_ciphertext = NULL WHERE id = $1`,
          [id],
        ),
    ],
    ['waits no longer than can be expected', 'awaiting_owner', ({ id }) => age(id, -5)],
  ])('resumes when it %s', async (_, state, end) => {
    const session = await client.startNew();
    await age(session.id, 5);
    await search();
    await end(session);
    await search();
    expect(await told(session.id)).toEqual([
      'stalled started_not_completed awaiting_owner',
      `resumed started_not_completed ${state}`,
    ]);
    expect((await client.session(session.id)).stalled).toBeNull();
    expect(await query('SELECT FROM session_stalls WHERE session_id = $1', [session.id])).toEqual([]);
  });

  it('is shown and listed as stalled only while somebody waits for it, even before the next search', async () => {
    const { id } = await client.startNew();
    await age(id, 5);
    await search();
    await service.sandbox!.control.online(id);
    await refresh(id);
    expect((await client.session(id)).stalled).toBeNull();
    expect((await list('stalled=any&limit=200')).items.map((item) => item.id)).not.toContain(id);
    expect(await query('SELECT FROM admin.stalled WHERE session_id = $1', [id])).toEqual([]);
  });

  it('leaves nothing when its user is erased but an announcement without personal data', async () => {
    const { id, userId, gridLocationId, tenantReference } = await client.startNew({
      metadata: { label: 'Kerkstraat 12' },
    });
    const others = await Promise.all(
      ['a', 'b'].map((brand) =>
        client.start(gridLocationId, { brand, metadata: { label: 'Kerkstraat 12' } }),
      ),
    );
    const ids = [id, ...others.map(({ body }) => body.id)];
    for (const each of ids) await age(each, 5);
    await search();
    await client.call('DELETE', `/users/${userId}`);
    await search();
    expect(await query('SELECT FROM session_stalls WHERE session_id = ANY ($1)', [ids])).toEqual([]);
    for (const each of ids) {
      expect(await told(each)).toEqual([
        'stalled started_not_completed awaiting_owner',
        'resumed started_not_completed awaiting_owner',
      ]);
      const text = JSON.stringify(await eventsOf(each));
      expect(text).not.toContain('Kerkstraat');
      expect(text).not.toContain(tenantReference);
    }
  });

  it('is found on pages', async () => {
    const ids = await Promise.all(
      Array.from({ length: 3 }, async () => (await client.startNew({ brand: 'pages' })).id),
    );
    for (const id of ids) await age(id, 5);
    await search();
    const found: string[] = [];
    for (let cursor = ''; ;) {
      const page = await list(`stalled=any&brand=pages&limit=2${cursor}`);
      found.push(...page.items.map(({ id }) => id));
      if (page.next === null) break;
      cursor = `&cursor=${page.next}`;
    }
    expect(found.sort()).toEqual(ids.sort());
  });

  it('waits for as long as its brand needs, once that is known', async () => {
    const { id } = await client.startNew({ brand: 'quick' });
    await service.sandbox!.control.complete(id, { onlineAfterMs: null });
    await refresh(id);
    await age(id, 1);
    await search();
    expect((await client.session(id)).stalled).toBeNull();
    await query(`INSERT INTO brand_waits VALUES ('quick', 60, 1800, 20)`, []);
    for (const { app } of [service, other]) await app.get(ReadHabits).reload();
    await search();
    expect((await client.session(id)).stalled).toMatchObject({
      cause: 'completed_not_online',
      evidence: { thresholdSeconds: 1_800, thresholdFrom: 'brand_p95', known: 20 },
    });
  });
});
