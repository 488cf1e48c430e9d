import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eraseCommand } from '../../../src/cli/erase.command.js';
import { Database } from '../../../src/platform/database/database.js';
import type { StatusView } from '../../../src/observability/status/status.view.js';
import { TestClient, type UserAnswer } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const EAN = '871687400000000017';

describe('erasing', () => {
  let service: TestApp;
  let client: TestClient;

  beforeAll(async () => {
    service = await startTestApp({ LOG_LEVEL: 'error' });
    client = TestClient.of(service);
  });
  afterAll(() => service.close());

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

  it('does not change the time of an orphan, so that an old one does not count as new', async () => {
    const { id, gridLocations } = (await register('with-an-orphan')).body;
    await client.start(gridLocations[0]!.id);
    const database = service.app.get(Database);
    await database.query(
      `UPDATE session_starts SET orphans = 1, updated_at = now() - interval '30 days' WHERE grid_location_id = $1`,
      [gridLocations[0]!.id],
    );
    await client.call('DELETE', `/users/${id}`);
    const { body } = await client.call<StatusView>('GET', '/status');
    expect(body.starts.orphans).toBe(0);
  });

  it('returns 404 for an unknown user, and 403 without the scope', async () => {
    expect(await client.call('DELETE', `/users/${UNKNOWN}`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const { body } = await client.call<{ readonly key: string }>('POST', '/api-keys', {
      name: 'reader',
      scopes: ['users:read'],
    });
    const reader = new TestClient(service.url, body.key);
    expect((await reader.call('DELETE', `/users/${UNKNOWN}`)).status).toBe(403);
  });

  describe('by its reference, on the command line', () => {
    async function run(reference: string): Promise<string> {
      const output: string[] = [];
      const spy = jest.spyOn(console, 'log').mockImplementation((line) => void output.push(String(line)));
      try {
        await eraseCommand(() => service.environment).parseAsync([reference, '--yes'], { from: 'user' });
        return output.join('\n');
      } finally {
        spy.mockRestore();
      }
    }

    it('also finds a registration that never became a user', async () => {
      await service.sandbox!.control.addFault({
        kind: 'reset',
        operation: 'register_user',
        effect: true,
        times: 1,
      });
      const { id } = (await register('never-known')).body;
      const output = await run('never-known');
      expect(JSON.parse(output)).toMatchObject({ userId: null, erased: { registrations: 1, events: 1 } });
      expect((await client.call('GET', `/registrations/${id}`)).status).toBe(404);
      const { id: erasureId } = JSON.parse(output) as { id: string };
      expect((await client.events()).at(-1)).toMatchObject({
        type: 'pv.user.erased.v1',
        subject: erasureId,
        data: { userId: null, registrationIds: [id] },
      });
    });

    it('fails if nobody has it', async () => {
      await expect(run('never-known')).rejects.toThrow(
        'not_found: There is no user and no registration with this tenantReference',
      );
    });
  });
});
