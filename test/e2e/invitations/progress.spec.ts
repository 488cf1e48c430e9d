import { afterEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const service = useTestApp({ POLL_MIN_INTERVAL_MS: 50, POLL_TICK_MS: 50 });
const client = TestClient.of(service);

interface Invitation {
  readonly id: string;
  readonly url: string;
  readonly state: string;
  readonly gridLocationId: string;
}

afterEach(() => service.sandbox!.control.clearFaults());

const invite = (gridLocationId: string) =>
  client.call<Invitation>('POST', '/invitations', { gridLocationId });
const stateOf = async (id: string) => (await client.call<Invitation>('GET', `/invitations/${id}`)).body.state;
const isIn = (id: string, state: string) =>
  waitFor(`the invitation is ${state}`, async () => (await stateOf(id)) === state);
const pageOf = async (url: string) => (await fetch(url, { headers: { 'accept-language': 'en' } })).text();
const click = (url: string) => fetch(url, { method: 'POST', redirect: 'manual' });
const pass = (id: string) =>
  service.app.get(Database).query('UPDATE invitations SET expires_at = now() WHERE id = $1', [id]);

/** Invites an owner and starts the session as the owner does. Returns the invitation with the id of the session. */
async function begin() {
  const { body } = await invite(await client.locate());
  await click(body.url);
  const path = `/onboarding/pv?gridLocationId=${body.gridLocationId}`;
  const sessions = await client.call<{ items: { id: string }[] }>('GET', path);
  return { ...body, sessionId: sessions.body.items[0]!.id };
}

describe('an owner who is done', () => {
  it('waits for the installation after the session and the date, and sees it come online', async () => {
    const { id, url, sessionId } = await begin();
    const { control } = service.sandbox!;
    await control.complete(sessionId, { onlineAfterMs: null });
    await isIn(id, 'owner_done');
    await control.expire(sessionId);
    await waitFor(
      'the session is expired',
      async () => (await client.session(sessionId)).state === 'expired',
    );
    await pass(id);
    const page = await pageOf(url);
    expect(page).toContain('Connect again');
    expect(await stateOf(id)).toBe('owner_done');
    await control.online(sessionId);
    await isIn(id, 'online');
  });

  it('gets the same invitation again', async () => {
    const { id, gridLocationId, sessionId } = await begin();
    await service.sandbox!.control.online(sessionId);
    await isIn(id, 'online');
    expect(await invite(gridLocationId)).toMatchObject({ status: 200, body: { id, state: 'online' } });
  });
});

describe('an invitation past its date', () => {
  it('is expired at once, and another one can be made, although the tenant has started a session', async () => {
    const gridLocationId = await client.locate();
    const { body } = await invite(gridLocationId);
    await client.start(gridLocationId);
    await pass(body.id);
    expect(await stateOf(body.id)).toBe('expired');
    expect(await pageOf(body.url)).toContain('This invitation has expired');
    expect((await invite(gridLocationId)).status).toBe(201);
  });

  it('lets an owner who has begun finish, but not begin again', async () => {
    const { id, url, sessionId } = await begin();
    await pass(id);
    expect(await stateOf(id)).toBe('started');
    await service.sandbox!.control.expire(sessionId);
    await isIn(id, 'expired');
    expect(await pageOf(url)).toContain('This invitation has expired');
  });
});

describe('a start that the remote service refuses', () => {
  it('is on the page and in the invitation until the owner tries again', async () => {
    const { body } = await invite(await client.locate());
    const refusal = { operation: 'start_session', kind: 'answer', status: 422, times: 1 } as const;
    await service.sandbox!.control.addFault(refusal);
    const clicked = await click(body.url);
    expect([clicked.status, await clicked.text()]).toEqual([422, expect.stringContaining('Connect now')]);
    expect(await pageOf(body.url)).toContain('This did not work');
    const { stalled } = (await client.call('GET', `/invitations/${body.id}`)).body;
    expect(stalled).toMatchObject({ cause: 'remote_unreachable', evidence: { isGivenUp: true } });
    const listed = await client.call<{ items: Invitation[] }>('GET', '/invitations?stalled=any');
    expect(listed.body.items.map(({ id }) => id)).toEqual([body.id]);
    expect((await click(body.url)).headers.get('location')).toContain('pv-onboarding');
    expect(await pageOf(body.url)).toContain('You are almost there');
  });
});
