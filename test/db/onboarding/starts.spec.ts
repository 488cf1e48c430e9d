import { createHash, randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SessionViewsStore } from '../../../src/onboarding/store/session-views.store.js';
import type { StartedSession } from '../../../src/onboarding/remote/session.client.js';
import type { LeasedStart, WantedSession } from '../../../src/onboarding/start/record-session.store.js';
import { LEASES } from '../../../src/onboarding/start/starts.sql.js';
import { StartsStore } from '../../../src/onboarding/start/starts.store.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { Database } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

const testDatabase = useTestDatabase();
let database: Database;
let store: StartsStore;
let views: SessionViewsStore;

beforeAll(() => {
  const environment = environmentFor(testDatabase.url);
  database = testDatabase.open();
  const cipher = new Cipher(environment);
  store = new StartsStore(database, cipher, environment);
  views = new SessionViewsStore(database, cipher);
});
afterEach(() => {
  jest.restoreAllMocks();
});

async function wanted(abandoned?: { attempts: number }): Promise<WantedSession> {
  const { gridLocationId } = await insertCustomer(database.pool);
  if (abandoned)
    await insertRow(database.pool, 'session_starts', { grid_location_id: gridLocationId, ...abandoned });
  return { gridLocationId, brand: null, metadata: {}, reuse: true };
}

async function begin(place: WantedSession): Promise<LeasedStart> {
  const begun = await store.begin(place);
  if (begun.kind !== 'begun') throw new Error(`it is ${begun.kind}`);
  return begun.start;
}

const startsOf = ({ gridLocationId }: WantedSession) =>
  database.query<{ status: string; attempts: number; orphans: number }>(
    'SELECT status, attempts, orphans FROM session_starts WHERE grid_location_id = $1',
    [gridLocationId],
  );

describe('a start whose lease has expired', () => {
  const startOf = async ({ gridLocationId }: WantedSession) => {
    const [start] = await database.query<{ id: string; leaseToken: string; error: string | null }>(
      'SELECT id, lease_token AS "leaseToken", last_error AS error FROM session_starts WHERE grid_location_id = $1',
      [gridLocationId],
    );
    return start!;
  };

  it('is left alone once its lease is renewed', async () => {
    const place = await wanted({ attempts: 1 });
    const { id, leaseToken } = await startOf(place);
    await database.query(LEASES.renew, [id, leaseToken, 10_000]);
    expect(await store.findExpiredLeases()).not.toContain(leaseToken);
    expect(await store.endAbandoned([leaseToken])).toEqual([]);
    expect(await startsOf(place)).toMatchObject([{ status: 'sending', orphans: 0 }]);
  });
});

describe('a started session', () => {
  const started = (sessionId: string): StartedSession => {
    const body = JSON.stringify({ sessionId });
    return {
      sessionId,
      finished: false,
      active: true,
      expired: null,
      inverters: [],
      createdAt: new Date('2026-03-05T10:11:12.120Z'),
      updatedAt: new Date('2026-03-05T10:11:12.123Z'),
      expiresAt: new Date('2099-01-01T00:00:00Z'),
      startUrl: 'https://scs.example/start/1',
      response: {
        httpStatus: 201,
        body,
        hash: createHash('sha1').update(body).digest('hex'),
        factsHash: null,
      },
    };
  };

  it('is not stored when another process has taken over its start', async () => {
    const place = await wanted();
    const late = { ...(await begin(place)), leaseToken: randomUUID() };
    const sessionId = randomUUID();
    expect(await store.record(late, started(sessionId), place)).toEqual({ kind: 'lease_lost' });
    expect(await views.findSession(sessionId)).toBeNull();
  });
});
