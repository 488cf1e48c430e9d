import type { ApiKeyView, CreatedApiKeyView } from '../access/api-keys.dto.js';
import { ApiKeysStore } from '../access/api-keys.store.js';
import type { Scope } from '../access/scopes.js';
import type { Database } from '../platform/database/database.js';
import type { Environment } from '../platform/env/environment.js';
import type { Page } from '../platform/http/page.js';
import type { ServiceApi, Wire } from './api/service-api.js';
import { ACTOR, placeOf } from './command-environment.js';

export type Key = ApiKeyView | Wire<ApiKeyView>;

/** The API keys of a deployment, in its database or through its API. */
export interface Keys {
  readonly place: string;
  create(name: string, scopes: Scope[]): Promise<CreatedApiKeyView | Wire<CreatedApiKeyView>>;
  /** Returns all keys, newest first. */
  list(): Promise<Key[]>;
  revoke(id: string): Promise<unknown>;
}

export function keysInDatabase(database: Database, environment: Environment): Keys {
  const store = new ApiKeysStore(database);
  return {
    place: placeOf(environment),
    create: (name, scopes) => database.transaction((tx) => store.create(tx, name, scopes, ACTOR)),
    list: () => store.list(),
    revoke: (id) => store.revoke(id, ACTOR),
  };
}

export const keysOfService = (api: ServiceApi): Keys => ({
  place: api.place,
  create: (name, scopes) => api.call('POST', '/api-keys', { body: { name, scopes } }),
  list: async () => {
    const keys: Key[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query = { limit: '200', cursor };
      const page: Page<Wire<ApiKeyView>> = await api.call('GET', '/api-keys', { query });
      keys.push(...page.items);
      cursor = page.next;
    }
    return keys;
  },
  revoke: (id) => api.call('DELETE', `/api-keys/${id}`),
});
