import { afterEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Database } from '../../../src/platform/database/database.js';
import { LEASE_MS, RegistrationsStore } from '../../../src/users/registration/registrations.store.js';
import type { Claim } from '../../../src/users/registration/registration.rules.js';
import { TestClient } from '../../setup/client.js';
import { useSandbox } from '../../setup/sandbox/sandbox-client.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { startTestApp } from '../../setup/test-app.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY } from '../../setup/test-environment.js';
import { isLong, itAtLength, promise } from '../support/promise.js';

const CLICKS = isLong ? 50 : 20;
const LATENCIES_MS = isLong ? [0, 20, 300] : [20];
const ROUNDS = isLong ? 5 : 1;
const EAN = '376104250021234569';

const sandbox = useSandbox();
let database: TestDatabase;
const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(cleanUps.splice(0).map((cleanUp) => cleanUp()));
  await database.drop();
});

interface Clicked {
  readonly effects: number;
  readonly statuses: Record<number, number>;
  /** The distinct response bodies, without the request id. */
  readonly bodies: readonly unknown[];
}

async function click(urls: readonly string[]): Promise<Clicked> {
  const reference = randomUUID();
  const responses = await Promise.all(
    Array.from({ length: CLICKS }, async (_, index) => {
      const user = { tenantReference: reference, gridLocations: [{ ean: EAN }] };
      const client = new TestClient(urls[index % urls.length]!, ADMIN_KEY);
      const { status, body } = await client.call('POST', '/users', user);
      const { requestId: _requestId, ...rest } = body;
      return { status, body: JSON.stringify(rest) };
    }),
  );
  const statuses: Record<number, number> = {};
  for (const { status } of responses) statuses[status] = (statuses[status] ?? 0) + 1;
  const { users } = await sandbox.control.ledger();
  return {
    effects: users.filter(({ tenantReference }) => tenantReference === reference).length,
    statuses,
    bodies: [...new Set(responses.map(({ body }) => body))].map((body) => JSON.parse(body) as unknown),
  };
}

describe('R18: double clicks are one', () => {
  it(`${CLICKS} parallel registrations of one reference over 2 replicas have one effect and one response`, async () => {
    database = await createTestDatabase();
    const replicas = await Promise.all(
      // The timeout is long, because a call that times out gets other responses.
      [1, 2].map(() =>
        startServiceProcess({
          ...sandbox.environment,
          DATABASE_URL: database.url,
          SCS_TIMEOUT_MS: '30000',
        }),
      ),
    );
    cleanUps.push(...replicas.map((replica) => () => replica.stop()));
    const urls = replicas.map(({ url }) => url);
    let [most, rounds] = [0, 0];
    for (const latencyMs of LATENCIES_MS) {
      await sandbox.control.change({ latencyMs });
      for (let round = 0; round < ROUNDS; round++) {
        const { effects, statuses, bodies } = await click(urls);
        most = Math.max(most, effects, bodies.length);
        rounds++;
        expect({ effects, statuses }).toEqual({ effects: 1, statuses: { 201: 1, 200: CLICKS - 1 } });
        expect(bodies).toEqual([
          expect.objectContaining({ gridLocations: [expect.objectContaining({ ean: EAN })] }),
        ]);
      }
    }

    promise('R18', {
      figure: `${most} user and response at most for ${CLICKS} parallel registrations, ${rounds} times`,
      bound: '1',
    });

    // Only one request is sent to the remote service. All other callers wait for its outcome and receive it, even if it is a rejection.
    await sandbox.control.change({ latencyMs: 0 });
    await sandbox.control.addFault({
      kind: 'answer',
      operation: 'register_user',
      status: 422,
      delayMs: 3_000,
    });
    const refused = await click(urls);
    expect(refused).toMatchObject({
      effects: 0,
      statuses: { 422: CLICKS },
      bodies: [{ code: 'remote_rejected' }],
    });
    await sandbox.control.addFault({ kind: 'reset', operation: 'register_user', effect: true, delayMs: 300 });
    const lost = await click(urls);
    expect(lost).toMatchObject({ effects: 1, statuses: { 202: CLICKS }, bodies: [{ status: 'uncertain' }] });
  });

  itAtLength('is red if the store checks first and inserts then', async () => {
    database = await createTestDatabase();
    const two = untilTwo();
    const replicas = await Promise.all(
      [1, 2].map(() =>
        startTestApp(
          { ...sandbox.environment, DATABASE_URL: database.url, LOG_LEVEL: 'error' },
          { prepare: (app) => checkThenInsert(app.get(RegistrationsStore), app.get(Database), two) },
        ),
      ),
    );
    cleanUps.push(...replicas.map((replica) => () => replica.close()));
    // The mutant relies on its `if` instead of this index.
    await replicas[0]?.database.query('DROP INDEX registrations_one_per_reference');
    await sandbox.control.change({ latencyMs: 20 });
    const { effects, bodies } = await click(replicas.map(({ url }) => url));
    expect(effects).toBeGreaterThan(1);
    expect(bodies.length).toBeGreaterThan(1);
  });
});

/** Returns a barrier that opens at the second call, so that two requests check before either inserts. */
function untilTwo(): () => Promise<void> {
  let arrived = 0;
  let release = (): void => {};
  const second = new Promise<void>((resolve) => (release = resolve));
  return () => {
    arrived += 1;
    if (arrived === 2) release();
    return second;
  };
}

function checkThenInsert(store: RegistrationsStore, database: Database, two: () => Promise<void>): void {
  store.openIntent = async ({ tenantReference, eans, metadata }) => {
    if ((await store.findLive(tenantReference)) !== null) return null;
    await two();
    const [claim] = await database.query<Claim>(
      `INSERT INTO registrations (tenant_reference, eans, metadata, attempts, lease_token, lease_until, sent_at)
       VALUES ($1, $2, $3, 1, gen_random_uuid(), clock_timestamp() + $4 * interval '1 ms', clock_timestamp())
       RETURNING id, tenant_reference AS "tenantReference", eans, metadata, attempts, lease_token AS "leaseToken"`,
      [tenantReference, eans, JSON.stringify(metadata), LEASE_MS],
    );
    return claim ?? null;
  };
}
