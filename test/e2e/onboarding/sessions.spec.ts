import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';

const service = useTestApp();
const client = TestClient.of(service);
let sandbox: SandboxControl;
let database: Database;

beforeAll(() => {
  sandbox = service.sandbox!.control;
  database = service.database;
});

describe('a session that is watched', () => {
  it('goes from its owner to its installation to online, and announces this in order', async () => {
    const { id } = await client.startNew();
    await sandbox.complete(id);
    expect(await client.untilState(id, 'awaiting_installation')).toMatchObject({
      basis: 'inferred',
      inverters: [],
    });
    await sandbox.online(id, { inverters: 2 });
    const online = await client.untilState(id, 'online');
    expect(online).toMatchObject({
      basis: 'observed',
      finished: true,
      active: false,
      expired: false,
      startUrl: null,
    });
    const remote = await sandbox.session(id);
    expect(online.inverters.map((inverter) => inverter.id).sort()).toEqual([...remote.inverters].sort());
    expect(await client.eventsOf(id)).toEqual([
      'session.started',
      'session.awaiting_installation',
      'session.online',
      'inverter.online',
      'inverter.online',
    ]);
  });

  it('lists further inverters, and marks a missing one', async () => {
    const { id, userId } = await client.startNew();
    await sandbox.online(id, { inverters: 1 });
    const [first] = (await client.untilState(id, 'online')).inverters;
    await sandbox.online(id, { inverters: 1 });
    await waitFor('both inverters are there', async () => (await client.session(id)).inverters.length === 2);
    await sandbox.removeInverter(id, first!.id);
    await waitFor('one is missing', async () =>
      (await client.session(id)).inverters.some((i) => i.missingSince !== null),
    );
    expect(await client.eventsOf(id)).toEqual([
      'session.started',
      'session.online',
      'inverter.online',
      'inverter.online',
      'inverter.missing',
    ]);
    const listed = await client.call<{ items: { id: string; missingSince: string | null }[] }>(
      'GET',
      `/inverters?userId=${userId}`,
    );
    expect(listed.body.items.map((inverter) => inverter.missingSince === null)).toEqual([true, false]);
    expect((await client.call('GET', `/inverters/${first!.id}`)).body).toMatchObject({
      id: first!.id,
      sessionId: id,
      userId,
    });
  });

  it('comes online late after it expired', async () => {
    const { id } = await client.startNew();
    await sandbox.expire(id);
    expect(await client.untilState(id, 'expired')).toMatchObject({ startUrl: null, closedAt: null });
    await sandbox.online(id, { inverters: 1 });
    await client.untilState(id, 'online');
    expect(await client.eventsOf(id)).toEqual([
      'session.started',
      'session.expired',
      'session.online',
      'inverter.online',
    ]);
  });

  it('R20: is unrecognised with flags that the interface does not describe, records the response, and recovers', async () => {
    const { id } = await client.startNew();
    await sandbox.fields(id, { set: { finished: true, active: true, surprise: 'recorded' } });
    await client.untilState(id, 'unrecognised');
    const recorded = await database.query<{ body: { surprise?: string } }>(
      'SELECT body FROM session_observations WHERE session_id = $1 ORDER BY id DESC LIMIT 1',
      [id],
    );
    expect(recorded[0]?.body.surprise).toBe('recorded');
    expect((await client.session(id)).startUrl).toBeNull();
    await sandbox.fields(id);
    // The startUrl survives one unrecognised response.
    expect((await client.untilState(id, 'awaiting_installation')).startUrl).not.toBeNull();
  });
});

describe('reading a session', () => {
  it('shows the startUrl only to a key that may start sessions', async () => {
    const { id } = await client.startNew();
    const { app: reader } = await createKey(client, 'onboarding:read');
    expect((await reader.session(id)).startUrl).toBeNull();
    expect((await client.session(id)).startUrl).not.toBeNull();
    expect((await reader.start(randomUUID())).status).toBe(403);
  });

  it('neither shows nor stores a startUrl once the web flow is over', async () => {
    const { id } = await client.startNew();
    const isStored = async () => {
      const [row] = await database.query<{ stored: boolean }>(
        'SELECT start_url_ciphertext IS NOT NULL AS stored FROM onboarding_sessions WHERE id = $1',
        [id],
      );
      return row!.stored;
    };
    expect(await isStored()).toBe(true);
    await sandbox.complete(id, { onlineAfterMs: 0 });
    expect((await client.untilState(id, 'online')).startUrl).toBeNull();
    expect(await isStored()).toBe(false);
  });
});

describe('the times of a session', () => {
  it('say when its state changed and when it came online first', async () => {
    const started = await client.startNew();
    expect(started.onlineAt).toBeNull();
    expect(Date.parse(started.stateChangedAt)).toBeLessThanOrEqual(Date.parse(started.checkedAt));
    await sandbox.complete(started.id);
    const completed = await client.untilState(started.id, 'awaiting_installation');
    expect(completed.onlineAt).toBeNull();
    expect(Date.parse(completed.stateChangedAt)).toBeGreaterThan(Date.parse(started.stateChangedAt));
    await sandbox.online(started.id, { inverters: 1 });
    const online = await client.untilState(started.id, 'online');
    expect(online.onlineAt).toBe(online.stateChangedAt);
    await database.query("UPDATE onboarding_sessions SET state = 'unrecognised' WHERE id = $1", [started.id]);
    expect((await client.session(started.id)).onlineAt).toBe(online.onlineAt);
  });
});

describe('listing sessions', () => {
  it('filters, pages, and finds later changes', async () => {
    const gridLocationId = await client.locate('customer with four');
    for (const brand of ['a', 'b', 'c', 'd']) await client.start(gridLocationId, { brand });
    const list = async (query: string) =>
      (
        await client.call<{ items: SessionAnswer[]; next: string | null }>(
          'GET',
          `/onboarding/pv?gridLocationId=${gridLocationId}${query}`,
        )
      ).body;
    // The first read of a session adds its `expired` flag, and this change moves the session within the list.
    await waitFor('all four were read', async () =>
      (await list('')).items.every(({ expired }) => expired === false),
    );
    const first = await list('&limit=3');
    const second = await list(`&limit=3&cursor=${first.next}`);
    expect([...first.items, ...second.items].map(({ brand }) => brand)).toHaveLength(4);
    expect(new Set([...first.items, ...second.items].map(({ brand }) => brand)).size).toBe(4);
    expect(second.next).toBeNull();
    expect((await list('&brand=c')).items.map(({ brand }) => brand)).toEqual(['c']);
    // A new session may not have this brand, but one of an earlier release may.
    expect((await list('&brand=N/A')).items).toEqual([]);
    expect((await list('&tenantReference=customer%20with%20four&state=awaiting_owner')).items).toHaveLength(
      4,
    );
    expect((await list('&state=online')).items).toEqual([]);
    const since = new Date();
    await sandbox.expire(first.items[0]!.id);
    await client.untilState(first.items[0]!.id, 'expired');
    expect(
      (await list(`&updatedSince=${since.toISOString()}&state=expired`)).items.map(({ id }) => id),
    ).toEqual([first.items[0]!.id]);
  });

  it('filters by all given values of metadata, through an index', async () => {
    const campaign = randomUUID();
    const gridLocationId = await client.locate();
    const start = async (brand: string, metadata: object) =>
      (await client.start(gridLocationId, { brand, metadata: { campaign, ...metadata } })).body.id;
    const autumn = await start('a', { season: 'autumn', size: 5 });
    await start('b', { season: 'spring', size: 5 });
    const found = async (query: string) =>
      (await client.list<SessionAnswer>(`/onboarding/pv?${query}`)).map(({ id }) => id);
    expect(await found(`metadata.campaign=${campaign}&metadata.size=5`)).toHaveLength(2);
    expect(await found(`metadata.campaign=${campaign}&metadata.season=autumn`)).toEqual([autumn]);
    expect(await found(`metadata.campaign=${campaign}&metadata.season=winter`)).toEqual([]);
    const plan = await database.transaction(async (tx) => {
      await tx.query('SET LOCAL enable_seqscan = off');
      return tx.query(`EXPLAIN SELECT FROM onboarding_sessions s WHERE s.metadata @> ANY ($1::jsonb[])`, [
        [JSON.stringify({ campaign })],
      ]);
    });
    expect(JSON.stringify(plan)).toContain('onboarding_sessions_metadata_idx');
  });

  it('filters by createdAt and expiresAt', async () => {
    const gridLocationId = await client.locate();
    for (const brand of ['a', 'b', 'c']) await client.start(gridLocationId, { brand });
    const list = async (query: string) =>
      (await client.list<SessionAnswer>(`/onboarding/pv?gridLocationId=${gridLocationId}${query}`))
        .map(({ brand }) => brand)
        .sort();
    // The first read of a session writes its times, and no later one does.
    await waitFor('all were read', async () => {
      const path = `/onboarding/pv?gridLocationId=${gridLocationId}`;
      const items = await client.list<SessionAnswer>(path);
      return items.every(({ expired }) => expired === false);
    });
    await database.query(
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
