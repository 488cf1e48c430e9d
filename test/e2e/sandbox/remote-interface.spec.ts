import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RawClient } from '../../contract/raw-client.js';
import { authorisedClientOf, startRemoteSession } from '../../setup/sandbox-client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';

describe('the remote interface of the sandbox, where its document is silent', () => {
  let sandbox: TestSandbox;
  let client: RawClient;
  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(async () => void (await sandbox.stop()));
  beforeEach(async () => {
    await sandbox.control.reset();
    client = await authorisedClientOf(sandbox);
  });

  const requestToken = (form: Record<string, string>) => {
    const { SCS_CLIENT_ID, SCS_CLIENT_SECRET, SCS_API_KEY } = sandbox.environment;
    const body = new URLSearchParams({
      client_id: SCS_CLIENT_ID,
      client_secret: SCS_CLIENT_SECRET,
      grant_type: 'client_credentials',
      scope: 'pvcurtailment',
      ...form,
    });
    return client.request('POST', '/oauth/token', { headers: { ApiKey: SCS_API_KEY }, body });
  };

  it.each([
    [401, { client_id: 'another' }],
    [401, { client_secret: 'another' }],
    [400, { grant_type: 'password' }],
    [400, { scope: 'everything' }],
  ])('returns %i for a token request with %j', async (status, form) => {
    expect(await requestToken(form)).toMatchObject({ status });
    expect((await sandbox.control.ledger()).tokens).toHaveLength(1);
  });

  it('returns 401 without the ApiKey or the bearer token, or with a wrong one', async () => {
    const { sessionId } = await startRemoteSession(client);
    const { ApiKey = '', authorization = '' } = client.authorised;
    const incomplete: Record<string, string>[] = [
      { authorization },
      { ApiKey },
      { ApiKey: 'another', authorization },
      { ApiKey, authorization: 'Bearer another' },
      { ApiKey, authorization: authorization.replace('Bearer', 'pvcurtailment') },
    ];
    for (const headers of incomplete) {
      const response = await client.request('GET', `/onboarding/pv/${sessionId}`, { headers });
      expect(response).toMatchObject({
        status: 401,
        contentType: expect.stringContaining('application/json'),
      });
    }
    expect(await client.request('GET', '')).toMatchObject({ status: 401 });
  });

  it.each([
    ['seconds', '"expires_in":1209600,'],
    [{ value: 'P14D' }, '"expires_in":"P14D",'],
    [{ value: null }, '"expires_in":null,'],
    [{ value: { in: [14] } }, '"expires_in":{"in":[14]},'],
    [{}, '"token_type"'],
  ] as const)('returns expires_in in the form %j', async (tokenForm, expected) => {
    await sandbox.control.change({ tokenForm });
    expect((await client.requestToken()).text).toContain(expected);
  });

  it('creates a second user of the same tenantReference, so that a duplicate request is visible', async () => {
    await client.register('A-1', ['541448860000000013']);
    await client.register('A-1', ['541448860000000013']);
    const { users } = await sandbox.control.ledger();
    expect(users.map(({ tenantReference }) => tenantReference)).toEqual(['A-1', 'A-1']);
    expect(users[0]?.body).toBe('{"tenantReference":"A-1","gridLocations":[{"ean":541448860000000013}]}');
  });

  it('serves only the configured path', async () => {
    const { userId, sessionId } = await startRemoteSession(client);
    await sandbox.control.change({ sessionPath: 'user' });
    expect(await client.read(sessionId)).toMatchObject({ status: 404 });
    expect(await client.readOfUser(userId, sessionId)).toMatchObject({ status: 200 });
    await sandbox.control.change({ sessionPath: 'onboarding' });
    expect(await client.read(sessionId)).toMatchObject({ status: 200 });
    expect(await client.readOfUser(userId, sessionId)).toMatchObject({ status: 404 });
  });
});
