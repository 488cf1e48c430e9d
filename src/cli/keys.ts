import type { ApiKeyView } from '../api-keys/api-keys.dto.js';
import { ManagedKeysStore } from '../api-keys/managed-keys.store.js';
import type { Scope } from '../access/scopes.js';
import type { Database } from '../platform/database/database.js';
import type { Environment } from '../platform/env/environment.js';
import type { Schemas } from '#client/client.js';
import { pages } from '#client/pages.js';
import { at } from './api/api-command.js';
import type { ServiceApi } from './api/service-api.js';
import { ACTOR, placeOf } from './command-environment.js';

export type Key = ApiKeyView | Schemas['ApiKeyView'];

/** More keys than any deployment has. */
const MORE_THAN_EXIST = 1_000_000;

/** The API keys of a deployment, in its database or through its API. */
export type Keys = ReturnType<typeof keysInDatabase> | ReturnType<typeof keysOfService>;

export function keysInDatabase(database: Database, environment: Environment) {
  const store = new ManagedKeysStore(database);
  return {
    place: placeOf(environment),
    create: (name: string, scopes: Scope[]) =>
      database.transaction((tx) => store.create(tx, name, scopes, ACTOR)),
    list: async (): Promise<readonly Key[]> => (await store.list({ limit: MORE_THAN_EXIST })).items,
    revoke: (id: string) => store.revoke(id, ACTOR),
  };
}

export const keysOfService = (api: ServiceApi) => ({
  place: `At ${api.url}`,
  create: (name: string, scopes: Scope[]) =>
    api.run(async (client) => (await client.POST('/api/v1/api-keys', { body: { name, scopes } })).data),
  list: () =>
    api.run(async (client) => {
      const keys: Key[] = [];
      for await (const page of pages(client, '/api/v1/api-keys', { limit: 200 })) keys.push(...page);
      return keys;
    }),
  revoke: (id: string) => api.run((client) => client.DELETE('/api/v1/api-keys/{id}', at(id))),
});
