import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eraseCommand } from '../../../src/cli/erase.command.js';
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

  it('makes the user and its location unknown, and leaves the session without a name', async () => {
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

  it('answers 404 for a user that never was, and 403 without the scope', async () => {
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
    async function run(reference: string) {
      const said: string[] = [];
      const write = (line: string) => void said.push(line);
      const spies = [
        jest.spyOn(console, 'log').mockImplementation(write),
        jest.spyOn(console, 'error').mockImplementation(write),
      ];
      const before = process.exitCode;
      try {
        await eraseCommand(() => service.environment).parseAsync([reference, '--yes'], { from: 'user' });
        return { said: said.join('\n'), exitCode: process.exitCode };
      } finally {
        process.exitCode = before;
        for (const spy of spies) spy.mockRestore();
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
      const { said } = await run('never-known');
      expect(JSON.parse(said)).toMatchObject({ userId: null, erased: { registrations: 1, events: 1 } });
      expect((await client.call('GET', `/registrations/${id}`)).status).toBe(404);
      const { id: erasureId } = JSON.parse(said) as { id: string };
      expect((await client.events()).at(-1)).toMatchObject({
        type: 'pv.user.erased.v1',
        subject: erasureId,
        data: { userId: null, registrationIds: [id] },
      });
    });

    it('says so when nobody has it', async () => {
      expect(await run('never-known')).toEqual({
        said: 'not_found: There is no user and no registration with this tenantReference',
        exitCode: 1,
      });
    });
  });
});
