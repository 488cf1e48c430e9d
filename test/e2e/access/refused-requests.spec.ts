import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ApiKeysStore, newApiKey } from '../../../src/access/api-keys.store.js';
import type { ApiKeyView, CreatedApiKeyView } from '../../../src/access/api-keys.dto.js';
import { RefusedRequests } from '../../../src/access/refused-requests.service.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { startReplica } from '../replica.js';

const BURST = 20;

let service: TestApp;
let other: TestApp;
let admin: TestClient;
let writes: jest.SpiedFunction<ApiKeysStore['addRefusals']>;
let warned: jest.SpiedFunction<Logger['warn']>;

beforeAll(async () => {
  service = await startTestApp({ API_MAX_REQUESTS_PER_SECOND: BURST / 10 });
  other = await startReplica(service, { ROLE: 'api' });
  admin = TestClient.of(other);
  writes = jest.spyOn(service.app.get(ApiKeysStore), 'addRefusals');
  warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await other.close();
  await service.close();
});

async function createKey(name: string, scopes = ['users:read']) {
  const { body } = await admin.call<CreatedApiKeyView>('POST', '/api-keys', { name, scopes });
  return { id: body.id, app: new TestClient(service.url, body.key) };
}

/** Writes what was counted, and returns the key as listed. */
async function counted(id: string): Promise<ApiKeyView> {
  await service.app.get(RefusedRequests).write();
  const { body } = await admin.call<{ items: ApiKeyView[] }>('GET', '/api-keys');
  return body.items.find((each) => each.id === id)!;
}

const send = (app: TestClient, times: number, path = '/users') =>
  Promise.all(Array.from({ length: times }, () => app.call('GET', path)));

const linesOf = (keyId: string | undefined) =>
  warned.mock.calls
    .map(([line]) => Object(line) as Record<string, unknown>)
    .filter((line) => 'refused401' in line && line.keyId === keyId);

it('counts the refused requests of a key by status, without a statement for each', async () => {
  const { id, app } = await createKey('crm');
  await send(app, 3, '/events');
  await send(app, 2 * BURST);
  const key = await counted(id);
  expect(key).toMatchObject({ refused401: 0, refused403: 3, refused429: expect.any(Number) });
  // Another request is allowed every half second, so fewer than BURST requests may be refused.
  expect(key.refused429).toBeGreaterThanOrEqual(4);
  expect(writes).toHaveBeenCalledTimes(1);
});

it('logs the refusals of a key by its name and id, a line for all that are written at once', async () => {
  const { id, app } = await createKey('a looping app');
  await send(app, 2, '/events');
  await send(app, 4, '/events');
  const refused = service.app.get(RefusedRequests);
  await refused.write();
  await refused.write();
  expect(linesOf(id)).toEqual([
    {
      message: 'requests with the key a looping app are refused',
      keyId: id,
      refused401: 0,
      refused403: 6,
      refused429: 0,
    },
  ]);
});

it('logs the refusals of unknown keys together', async () => {
  for (const key of [newApiKey(), newApiKey(), 'nonsense']) await send(new TestClient(service.url, key), 1);
  await service.app.get(RefusedRequests).write();
  expect(linesOf(undefined)).toEqual([
    {
      message: 'requests with an unknown key are refused',
      refused401: 3,
      refused403: 0,
      refused429: 0,
    },
  ]);
});

it('loses no count while the database fails', async () => {
  const { id, app } = await createKey('patient');
  writes.mockRejectedValueOnce(new Error('away'));
  await send(app, 2, '/events');
  await service.app.get(RefusedRequests).write();
  await send(app, 1, '/events');
  expect(await counted(id)).toMatchObject({ refused403: 3 });
});
