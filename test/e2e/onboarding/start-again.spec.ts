import { beforeAll, describe, expect, it } from '@jest/globals';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox-control.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const service = useTestApp();
const client = TestClient.of(service);
let sandbox: SandboxControl;

beforeAll(() => {
  sandbox = service.sandbox!.control;
});

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
});
