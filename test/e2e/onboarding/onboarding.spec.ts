import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { planRederivations } from '../../../src/onboarding/store/rederivation.js';
import { FIND_SESSION_TO_REUSE } from '../../../src/onboarding/store/sessions.sql.js';
import { SessionsStore } from '../../../src/onboarding/store/sessions.store.js';
import { TestClient } from '../../setup/client.js';
import type { SessionAnswer } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox-control.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';

const service = useTestApp();
const client = TestClient.of(service);
let sandbox: SandboxControl;
let database: Database;

beforeAll(() => {
  sandbox = service.sandbox!.control;
  database = service.app.get(Database);
});
afterEach(() => sandbox.clearFaults());

const waitForState = (id: string, state: string): Promise<SessionAnswer> =>
  waitFor(`session ${id} is ${state}`, async () => {
    const session = await client.session(id);
    return session.state === state && session;
  });

const startsOf = async (gridLocationId: string) =>
  (await sandbox.ledger()).sessions.filter((effect) => effect.gridLocationId === gridLocationId);

describe('starting a session', () => {
  it('returns the session with its startUrl, under the remote id', async () => {
    const gridLocationId = await client.locate('customer 1');
    // Holds the first read, because it would show that the session has not expired.
    await sandbox.addFault({ kind: 'hold', operation: 'read_session', times: null });
    const { status, headers, body } = await client.start(gridLocationId, {
      brand: 'acme',
      metadata: { campaign: 7 },
    });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/onboarding/pv/${body.id}`);
    expect(body).toMatchObject({
      gridLocationId,
      tenantReference: 'customer 1',
      brand: 'acme',
      metadata: { campaign: 7 },
      state: 'awaiting_owner',
      basis: 'observed',
      finished: false,
      active: true,
      expired: null,
      inverters: [],
      closedAt: null,
    });
    expect(body.startUrl).toMatch(/\/pv-onboarding\/.+/);
    expect((await startsOf(gridLocationId)).map(({ sessionId }) => sessionId)).toEqual([body.id]);
    expect(await client.eventsOf(body.id)).toEqual(['session.started']);
  });

  it('returns the open session again, except for another brand or without reuse', async () => {
    const first = await client.startNew({ brand: 'acme' });
    const again = await client.start(first.gridLocationId, { brand: 'acme' });
    expect([again.status, again.body.id, again.body.startUrl]).toEqual([200, first.id, first.startUrl]);
    const other = await client.start(first.gridLocationId, { brand: 'other' });
    const without = await client.start(first.gridLocationId);
    const renewed = await client.start(first.gridLocationId, { brand: 'acme', reuse: false });
    expect([other.status, without.status, renewed.status]).toEqual([201, 201, 201]);
    expect(new Set([first.id, other.body.id, without.body.id, renewed.body.id]).size).toBe(4);
    const reused = await client.start(first.gridLocationId, { brand: 'acme' });
    expect(reused.body.id).toBe(renewed.body.id);
  });

  it.each([
    [200, '1 s', '19 s'],
    [201, '11 s', '9 s'],
    [200, '0 s', '-1 day'],
    [201, '1 day', '-1 s'],
  ])('returns %i for a session started %s ago that expires in %s', async (status, startedAgo, expiresIn) => {
    const first = await client.startNew();
    // Waits for the first read, which also writes `expires_at`. Later reads write nothing.
    await waitFor('the first read', async () => (await client.session(first.id)).expired === false);
    await database.query(
      `UPDATE onboarding_sessions SET recorded_at = clock_timestamp() - $2::interval,
         expires_at = clock_timestamp() + $3::interval WHERE id = $1`,
      [first.id, startedAgo, expiresIn],
    );
    expect((await client.start(first.gridLocationId)).status).toBe(status);
  });

  it('starts once more when the response was lost, and counts the orphan', async () => {
    const gridLocationId = await client.locate();
    await sandbox.addFault({ kind: 'reset', operation: 'start_session', effect: true, times: 1 });
    const { status, body } = await client.start(gridLocationId);
    expect([status, body.state]).toEqual([201, 'awaiting_owner']);
    expect(body.startUrl).not.toBeNull();
    expect(await startsOf(gridLocationId)).toHaveLength(2);
    const [start] = await database.query(
      'SELECT status, attempts, orphans FROM session_starts WHERE grid_location_id = $1',
      [gridLocationId],
    );
    expect(start).toEqual({ status: 'started', attempts: 2, orphans: 1 });
  });

  it('leaves no start behind when the database fails between the lease and the call', async () => {
    const gridLocationId = await client.locate();
    const query = database.query.bind(database);
    let runs = 0;
    const failing = jest.spyOn(database, 'query').mockImplementation((statement, values) => {
      if (statement === FIND_SESSION_TO_REUSE && ++runs === 2) return Promise.reject(new Error('cut off'));
      return query(statement, values);
    });
    expect((await client.start(gridLocationId)).status).toBe(500);
    failing.mockRestore();
    expect((await client.start(gridLocationId)).status).toBe(201);
    const starts = await query('SELECT status, orphans FROM session_starts WHERE grid_location_id = $1', [
      gridLocationId,
    ]);
    expect(starts).toEqual([{ status: 'started', orphans: 0 }]);
  });
});

describe('a session that is watched', () => {
  it('goes from its owner to its installation to online, and announces this in order', async () => {
    const { id } = await client.startNew();
    await sandbox.complete(id);
    expect(await waitForState(id, 'awaiting_installation')).toMatchObject({
      basis: 'inferred',
      inverters: [],
    });
    await sandbox.online(id, { inverters: 2 });
    const online = await waitForState(id, 'online');
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
    const [first] = (await waitForState(id, 'online')).inverters;
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
    expect(await waitForState(id, 'expired')).toMatchObject({ startUrl: null, closedAt: null });
    await sandbox.online(id, { inverters: 1 });
    await waitForState(id, 'online');
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
    await waitForState(id, 'unrecognised');
    const recorded = await database.query<{ body: { surprise?: string } }>(
      'SELECT body FROM session_observations WHERE session_id = $1 ORDER BY id DESC LIMIT 1',
      [id],
    );
    expect(recorded[0]?.body.surprise).toBe('recorded');
    expect((await client.session(id)).startUrl).toBeNull();
    await sandbox.fields(id);
    // The startUrl survives one unrecognised response.
    expect((await waitForState(id, 'awaiting_installation')).startUrl).not.toBeNull();
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
    expect((await waitForState(id, 'online')).startUrl).toBeNull();
    expect(await isStored()).toBe(false);
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
    expect((await list('&tenantReference=customer%20with%20four&state=awaiting_owner')).items).toHaveLength(
      4,
    );
    expect((await list('&state=online')).items).toEqual([]);
    const since = new Date();
    await sandbox.expire(first.items[0]!.id);
    await waitForState(first.items[0]!.id, 'expired');
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
      (await client.call<{ items: SessionAnswer[] }>('GET', `/onboarding/pv?${query}`)).body.items.map(
        ({ id }) => id,
      );
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
});

describe('rederiving', () => {
  const rederive = async (id: string) => {
    const changes = [];
    for await (const page of planRederivations(database, id)) changes.push(...page);
    return changes;
  };

  it('shows what the current rules would change, and writes it only when applied', async () => {
    const { id } = await client.startNew();
    await sandbox.fields(id, { set: { expired: true } });
    await waitForState(id, 'expired');
    // Simulates an earlier release without a rule for `expired`.
    await database.query(
      "UPDATE onboarding_sessions SET state = 'unrecognised', rule = 'undescribed_flags' WHERE id = $1",
      [id],
    );
    const sessions = service.app.get(SessionsStore);
    const changes = await rederive(id);
    expect(changes).toEqual([
      {
        id,
        from: 'unrecognised',
        classification: { state: 'expired', basis: 'observed', rule: 'expired_flag' },
      },
    ]);
    expect((await client.session(id)).state).toBe('unrecognised');
    expect(await sessions.applyRederived(changes, 'cli')).toBe(1);
    expect(
      await database.query('SELECT actor, action, details FROM audit_log WHERE target = $1', [id]),
    ).toEqual([
      {
        actor: 'cli',
        action: 'session.rederived',
        details: { from: 'unrecognised', to: 'expired', rule: 'expired_flag' },
      },
    ]);
    expect((await client.session(id)).state).toBe('expired');
    expect(await sessions.applyRederived(changes, 'cli')).toBe(0);
    expect(await client.eventsOf(id)).toEqual(['session.started', 'session.expired', 'session.expired']);
  });
});

// These tests come last, because the wait that the remote service requests may outlast them.
describe('a start that the remote service does not accept', () => {
  it('returns 422 if it is rejected, and 503 while the remote service requests a wait', async () => {
    const gridLocationId = await client.locate();
    await sandbox.addFault({
      kind: 'answer',
      operation: 'start_session',
      status: 422,
      body: '{"error":"no solar here"}',
      times: 1,
    });
    expect(await client.start(gridLocationId)).toMatchObject({
      status: 422,
      body: { code: 'remote_rejected' },
    });
    await sandbox.addFault({
      kind: 'too_many_requests',
      operation: 'start_session',
      retryAfter: '1',
      times: 1,
    });
    const unavailable = await client.start(gridLocationId);
    expect([unavailable.status, unavailable.headers.get('retry-after')]).toEqual([503, '1']);
    await waitFor('starts are sent again', async () => (await client.start(gridLocationId)).status === 201);
  });
});
