import { describe, expect, it } from '@jest/globals';
import { TestClient, type UserAnswer } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
const EAN = '871687400000000017';

describe('erasing', () => {
  const service = useTestApp({ LOG_LEVEL: 'error' });
  const client = TestClient.of(service);

  const register = (tenantReference: string) =>
    client.call<UserAnswer>('POST', '/users', { tenantReference, gridLocations: [{ ean: EAN }] });

  it('removes the user and its location, and anonymises the session', async () => {
    const { id: userId, gridLocations } = (await register('to-erase')).body;
    const gridLocationId = gridLocations[0]!.id;
    const { id } = (await client.start(gridLocationId, { brand: 'acme', metadata: { note: 'private' } }))
      .body;
    await service.sandbox!.control.online(id, { inverters: 1 });
    await waitFor('online', async () => (await client.session(id)).state === 'online');
    const erased = await client.call('DELETE', `/users/${userId.toUpperCase()}`);
    expect(erased).toMatchObject({ status: 200, body: { userId, erased: { sessions: 1, inverters: 1 } } });

    expect(await client.session(id)).toMatchObject({
      userId,
      tenantReference: null,
      brand: 'acme',
      metadata: {},
      state: 'online',
      startUrl: null,
      inverters: [],
      nextCheckAt: null,
      closedAt: erased.body.erasedAt,
    });
    expect((await client.call('GET', `/users/${userId}/pv/onboarding-sessions/${id}`)).status).toBe(200);
    expect((await client.call('GET', `/users/${userId}`)).status).toBe(404);
    expect((await client.start(gridLocationId)).status).toBe(404);
    expect((await client.call('POST', `/onboarding/pv/${id}/refresh`)).body).toMatchObject({
      code: 'session_closed',
      sessionId: id,
    });
    for (const path of ['/users', '/registrations', '/inverters'])
      expect((await client.call('GET', path)).body.items).toEqual([]);
  });
});
