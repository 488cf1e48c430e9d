import { beforeAll, expect, it } from '@jest/globals';
import { ApiKeysStore, hashOf, newApiKey } from '../../src/access/api-keys.store.js';
import type { Database } from '../../src/platform/database/database.js';
import { useTestDatabase } from '../setup/database/test-database.js';

const testDatabase = useTestDatabase();
let database: Database;
beforeAll(() => {
  database = testDatabase.open();
});

// Prisma Client joins look-ups of the same tick into one query and distributes its rows.
it('finds each of the keys that are looked up at once, but none that is revoked or unknown', async () => {
  const store = new ApiKeysStore(database);
  const keys = [];
  for (const name of ['a', 'b', 'c'])
    keys.push(await database.transaction((tx) => store.create(tx, name, ['users:read'], 'test')));
  await store.revoke(keys[1]!.id, 'test');
  const hashes = [...keys.map(({ key }) => hashOf(key)), hashOf(newApiKey())];
  const found = await Promise.all(hashes.map((hash) => store.findByHash(hash)));
  expect(found.map((principal) => principal?.name)).toEqual(['a', undefined, 'c', undefined]);
  expect(found[2]).toEqual({ id: keys[2]!.id, name: 'c', scopes: ['users:read'] });
});
