import { createHook } from 'node:async_hooks';
import { expect, it } from '@jest/globals';
import { useTestDatabase } from '../setup/database/test-database.js';

const testDatabase = useTestDatabase();

it('connections to the database that are opened at the same time occupy one thread with its name', async () => {
  const database = testDatabase.open();
  const { connectionString = '' } = database.pool.options;
  const { hostname } = new URL(connectionString);
  database.pool.options.connectionString = connectionString.replace(hostname, 'localhost');
  let lookUps = 0;
  const hook = createHook({
    init: (_, type) => void (lookUps += Number(type === 'GETADDRINFOREQWRAP')),
  }).enable();
  try {
    await Promise.all(Array.from({ length: 5 }, () => database.query('SELECT pg_sleep(0.1)')));
  } finally {
    hook.disable();
  }
  expect(database.pool.totalCount).toBe(5);
  expect(lookUps).toBe(1);
});
