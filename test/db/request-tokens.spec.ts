import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ReplicasStore } from '../../src/remote/shared/replicas.store.js';
import { createTestDatabase, type TestDatabase } from '../setup/database/test-database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const store = () => new ReplicasStore(database.open());

it('gives no two replicas tokens of the same time', async () => {
  const replicas = [store(), store(), store()];
  const beganAt = performance.now();
  const draws = await Promise.all(
    replicas.flatMap((replica) => Array.from({ length: 4 }, () => replica.drawTokens(1_000))),
  );
  const tookMs = performance.now() - beganAt;
  const inMs = draws.toSorted((a, b) => a - b);
  for (const [nth, ms] of inMs.entries()) {
    // At the start, the bucket still has the tokens of the last 100 ms.
    expect(ms).toBeGreaterThan(nth * 1_000 - 100 - tookMs - 1);
    expect(ms).toBeLessThan(nth * 1_000 + 1);
  }
});

it('gives tokens within a minute after the clock was set back', async () => {
  await database.open().query(`UPDATE request_tokens SET drawn_until = clock_timestamp() + interval '1 day'`);
  expect(await store().drawTokens(10)).toBeLessThanOrEqual(60_000);
});
