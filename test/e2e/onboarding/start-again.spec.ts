import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox-control.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

let service: TestApp;
let client: TestClient;
let sandbox: SandboxControl;
let database: Database;

beforeAll(async () => {
  service = await startTestApp();
  client = TestClient.of(service);
  sandbox = service.sandbox!.control;
  database = service.app.get(Database);
});
afterAll(() => service.close());

const waitForState = (id: string, state: string): Promise<SessionAnswer> =>
  waitFor(`session ${id} is ${state}`, async () => {
    const session = await client.session(id);
    return session.state === state && session;
  });

async function bringOnline({ id }: Pick<SessionAnswer, 'id'>): Promise<SessionAnswer> {
  await sandbox.online(id, { inverters: 1 });
  return waitForState(id, 'online');
}

const BRAND = { brand: 'acme' };

async function startOnline(): Promise<SessionAnswer> {
  return bringOnline(await client.startNew(BRAND));
}

const countRemote = async ({ gridLocationId }: SessionAnswer) =>
  (await sandbox.ledger()).sessions.filter((session) => session.gridLocationId === gridLocationId).length;

describe('a start for a location that is online', () => {
  it('returns the session that is online, without a startUrl and without a call, however often it is repeated', async () => {
    const online = await startOnline();
    const { id, gridLocationId } = online;
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => client.start(gridLocationId, { ...BRAND, metadata: { mail: 2 } })),
    );
    for (const { status, headers, body } of responses) {
      expect([status, headers.get('location')]).toEqual([200, `/api/v1/onboarding/pv/${id}`]);
      expect(body).toMatchObject({ id, state: 'online', startUrl: null, metadata: {} });
      expect(body.inverters).toHaveLength(1);
    }
    expect(await countRemote(online)).toBe(1);
  });

  it('returns it also once it is settled and no longer watched', async () => {
    const { id, gridLocationId } = await startOnline();
    await database.query(
      "UPDATE onboarding_sessions SET closed_at = clock_timestamp(), close_reason = 'settled' WHERE id = $1",
      [id],
    );
    await database.query('DELETE FROM session_polls WHERE session_id = $1', [id]);
    const { status, body } = await client.start(gridLocationId, BRAND);
    expect([status, body.id, body.state]).toEqual([200, id, 'online']);
    expect(body.closedAt).not.toBeNull();
  });

  it('starts another for another brand, and without reuse', async () => {
    const online = await startOnline();
    const { gridLocationId } = online;
    const without = await client.start(gridLocationId);
    const other = await client.start(gridLocationId, { brand: 'Acme' });
    const further = await client.start(gridLocationId, { ...BRAND, reuse: false });
    expect([without.status, other.status, further.status]).toEqual([201, 201, 201]);
    expect(further.body.startUrl).not.toBeNull();
    expect(await countRemote(online)).toBe(4);
  });

  it('returns the open session that was started on purpose, and again the online one once that is over', async () => {
    const online = await startOnline();
    const { gridLocationId } = online;
    const further = (await client.start(gridLocationId, { ...BRAND, reuse: false })).body;
    const again = await client.start(gridLocationId, BRAND);
    expect([again.status, again.body.id, again.body.startUrl]).toEqual([200, further.id, further.startUrl]);
    await sandbox.expire(further.id);
    await waitForState(further.id, 'expired');
    const last = await client.start(gridLocationId, BRAND);
    expect([last.status, last.body.id]).toEqual([200, online.id]);
  });

  it('returns the session that came online late, not the open one that was started before', async () => {
    const late = await client.startNew(BRAND);
    await sandbox.expire(late.id);
    await waitForState(late.id, 'expired');
    const second = await client.start(late.gridLocationId, BRAND);
    expect([second.status, second.body.state]).toEqual([201, 'awaiting_owner']);
    await bringOnline(late);
    const third = await client.start(late.gridLocationId, BRAND);
    expect([third.status, third.body.id, third.body.state]).toEqual([200, late.id, 'online']);
  });

  it('starts another if the one that was online is lost', async () => {
    const { id, gridLocationId } = await startOnline();
    await database.query("UPDATE onboarding_sessions SET state = 'lost' WHERE id = $1", [id]);
    expect((await client.start(gridLocationId, BRAND)).status).toBe(201);
  });

  it('is 404 once the user has been erased', async () => {
    const { userId, gridLocationId } = await startOnline();
    expect((await client.call('DELETE', `/users/${userId}`)).status).toBe(200);
    expect((await client.start(gridLocationId, BRAND)).status).toBe(404);
  });
});
