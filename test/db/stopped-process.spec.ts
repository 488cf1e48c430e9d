import { stat } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { OUTCOME } from '../../src/platform/database/connection/patience.js';
import type { Database } from '../../src/platform/database/database.js';
import { useTestDatabase } from '../setup/database/test-database.js';

const testDatabase = useTestDatabase();
const WITHIN_MS = 200;
const SLEEP = `SELECT pg_sleep(0.1)::text AS slept`;

/** Stops this process as a signal does: the timers that expire meanwhile fire before a socket is read. */
const stop = () =>
  stat('.', () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * WITHIN_MS));

it.each<[way: string, (database: Database) => Promise<unknown>]>([
  ['a statement', (database) => database.query(SLEEP)],
  ['the write of an outcome', (database) => database.query(SLEEP, [], OUTCOME)],
  ['a statement in a transaction', (database) => database.transaction((tx) => tx.query(SLEEP))],
  ['a statement of Prisma', (database) => database.prisma.$queryRawUnsafe(SLEEP)],
])('%s succeeds if its response has arrived while the process was stopped', async (_, run) => {
  const database = testDatabase.open();
  database.outcomeResponseWithinMs = database.pool.options.query_timeout = WITHIN_MS;
  await database.query('SELECT 1');
  const ran = run(database);
  await sleep(50);
  stop();
  expect(await ran).toEqual([{ slept: '' }]);
});
