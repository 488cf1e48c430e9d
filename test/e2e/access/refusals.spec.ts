import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ApiKeysStore } from '../../../src/access/api-keys.store.js';
import type { ApiKeyView, CreatedApiKeyView } from '../../../src/access/api-keys.dto.js';
import { Refusals } from '../../../src/access/refusals.service.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const BURST = 20;

let service: TestApp;
let other: TestApp;
let admin: TestClient;
let writes: jest.SpiedFunction<ApiKeysStore['addRefusals']>;
let warned: jest.SpiedFunction<Logger['warn']>;

beforeAll(async () => {
  service = await startTestApp({ API_MAX_REQUESTS_PER_SECOND: BURST / 10 });
  const { DATABASE_URL, SCS_BASE_URL } = service.environment;
  other = await startTestApp({ DATABASE_URL, SCS_BASE_URL, ROLE: 'api' });
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

/** Returns the key as listed, once its refusals are counted. */
const counted = (id: string) =>
  waitFor('the refusals', async () => {
    const { body } = await admin.call<{ items: ApiKeyView[] }>('GET', '/api-keys');
    const key = body.items.find((each) => each.id === id)!;
    return key.lastRefusedAt !== null && key;
  });

const send = (app: TestClient, times: number, path = '/users') =>
  Promise.all(Array.from({ length: times }, () => app.call('GET', path)));

const linesOf = (keyId: string | undefined) =>
  warned.mock.calls
    .map(([line]) => line as unknown as Record<string, unknown>)
    .filter((line) => 'refused401' in line && line.keyId === keyId);

it('counts the refused requests of a key by status, without a statement for each', async () => {
  const { id, app } = await createKey('crm');
  await send(app, 3, '/events');
  await send(app, BURST + 4);
  const key = await counted(id);
  expect(key).toMatchObject({ refused401: 0, refused403: 3, refused429: expect.any(Number) });
  // A request more is allowed each half second.
  expect(key.refused429).toBeGreaterThanOrEqual(4);
  expect(writes.mock.calls.length).toBeLessThan(4);
});

it('logs the refusals of a key once a minute, by its name and id', async () => {
  const { id, app } = await createKey('a looping app');
  const refusals = service.app.get(Refusals);
  const now = performance.now();
  for (const at of [now, now + 1_000, now + 59_000]) {
    await send(app, 2, '/events');
    await refusals.write(at);
  }
  expect(linesOf(id)).toEqual([
    {
      message: 'requests with the key a looping app are refused',
      keyId: id,
      refused401: 0,
      refused403: 2,
      refused429: 0,
    },
  ]);
  await refusals.write(now + 60_000);
  expect(linesOf(id)[1]).toMatchObject({ refused403: 4 });
});

it('loses no count while the database fails', async () => {
  const { id, app } = await createKey('patient');
  writes.mockRejectedValueOnce(new Error('away'));
  await send(app, 2, '/events');
  await service.app.get(Refusals).write();
  await send(app, 1, '/events');
  await service.app.get(Refusals).write();
  expect(await counted(id)).toMatchObject({ refused403: 3 });
});
