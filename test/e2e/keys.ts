import { randomUUID } from 'node:crypto';
import type { Scope } from '../../src/access/scopes.js';
import { TestClient } from '../setup/client.js';

/** Creates an API key. Returns the key and a client that sends it. */
export async function createKey(admin: TestClient, ...scopes: Scope[]) {
  const input = { name: randomUUID(), scopes };
  const { body } = await admin.call<{ id: string; key: string }>('POST', '/api-keys', input);
  return { ...body, app: new TestClient(admin.url, body.key) };
}
