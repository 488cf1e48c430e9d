import { afterEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { UsersStore } from '../../src/users/user/users.store.js';
import { createTestDatabase, withDatabase, type TestDatabase } from '../setup/test-database.js';
import { withClient } from '../setup/with-client.js';
import { insertRow } from './valid-rows.js';

const TIMES = [
  '0001-01-01T00:00:00.000Z',
  '1890-07-01T12:00:00.000Z',
  '2026-07-01T12:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
];

let database: TestDatabase;
afterEach(() => database.drop());

async function openIn(zone: string): Promise<string[]> {
  database = await createTestDatabase();
  return withClient(database.url, async (client) => {
    const name = new URL(database.url).pathname.slice(1);
    await client.query(`ALTER DATABASE ${client.escapeIdentifier(name)} SET timezone = '${zone}'`);
    const ids = TIMES.map(() => randomUUID());
    for (const [index, time] of TIMES.entries())
      await insertRow(client, 'users', { id: ids[index], created_at: time, registered_at: time });
    return ids;
  });
}

describe('the time zone of the database', () => {
  it.each(['Europe/Amsterdam', 'America/New_York', 'Asia/Kathmandu'])(
    'does not affect what is read, listed and paged: %s',
    async (zone) => {
      const ids = await openIn(zone);
      await withDatabase(database.url, async (service) => {
        const users = new UsersStore(service);
        const read = await Promise.all(ids.map((id) => users.findUser(id)));
        expect(read.map((user) => user?.createdAt.toISOString())).toEqual(TIMES);
        const rows = await service.query<{ at: Date }>('SELECT created_at AS at FROM users ORDER BY at');
        expect(rows.map(({ at }) => at.toISOString())).toEqual(TIMES);

        const paged = [];
        for (let [user] = await users.listUsers({}, undefined, 1); user !== undefined;) {
          paged.push(user.id);
          [user] = await users.listUsers({}, { at: user.registeredAt, id: user.id }, 1);
        }
        expect(paged).toEqual(ids.toReversed());
      });
    },
  );
});
