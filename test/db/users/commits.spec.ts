import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Database, sqlState } from '../../../src/platform/database/database.js';
import type { Settlement } from '../../../src/users/registration/registration.rules.js';
import { RegistrationsStore } from '../../../src/users/registration/registrations.store.js';
import type { Claim } from '../../../src/users/registration/registration.rules.js';
import type { RemoteUser } from '../../../src/users/remote/remote-user.rules.js';
import { OPEN_INTENT } from '../../../src/users/registration/registrations.sql.js';
import { useTestDatabase } from '../../setup/test-database.js';
import { waitFor } from '../../setup/wait-for.js';

const EAN = '541448860004178019';

const testDatabase = useTestDatabase();
let database: Database;
let store: RegistrationsStore;

beforeAll(() => {
  database = testDatabase.open();
  store = new RegistrationsStore(database);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const open = (tenantReference: string, ean = EAN) =>
  store.openIntent({ tenantReference, eans: [ean], metadata: { of: tenantReference } });

async function claims(count: number): Promise<Claim[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => open(randomUUID())));
  return opened.filter((claim) => claim !== null);
}

const userOf = (claim: Claim, id: string = randomUUID()): RemoteUser => ({
  id,
  tenantReference: claim.tenantReference,
  tenantName: '',
  firstName: '',
  lastName: '',
  email: '',
  gridLocations: [{ id: randomUUID(), ean: EAN }],
  createdAt: null,
  updatedAt: null,
});
const registered = (claim: Claim, id?: string): Settlement => ({
  status: 'registered',
  user: userOf(claim, id),
});

const announced = async (tenantReference: string) =>
  (
    await database.query<{ name: string }>(
      `SELECT name FROM domain_events WHERE data ->> 'tenantReference' = $1`,
      [tenantReference],
    )
  ).map(({ name }) => name);

describe('intents of several requests', () => {
  it('of one reference are opened once', async () => {
    await open('taken');
    const [one, first, taken, second, other] = await Promise.all([
      open('z'),
      open('same'),
      open('taken'),
      open('same'),
      open('a'),
    ]);
    expect(taken).toBeNull();
    expect([first, second].filter((claim) => claim !== null)).toHaveLength(1);
    for (const [claim, tenantReference] of [
      [one, 'z'],
      [first ?? second, 'same'],
      [other, 'a'],
    ] as const) {
      expect(claim).toMatchObject({ tenantReference, attempts: 1 });
      const stored = await store.findRegistration(claim?.id ?? '');
      expect(stored).toMatchObject({ tenantReference, eans: [EAN], metadata: { of: tenantReference } });
    }
  });

  it('fail alone: an intent that the database rejects does not affect the others', async () => {
    const [bad, good] = await Promise.allSettled([open('bad', 'no EAN'), open('good')]);
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: '23514' } });
    expect(good).toMatchObject({ status: 'fulfilled', value: { tenantReference: 'good' } });
  });
});

describe('intents whose commit had no response', () => {
  it.each([
    new Error('Connection terminated unexpectedly'),
    Object.assign(new Error('server closed the connection'), { code: '08P01' }),
    Object.assign(new Error('terminating connection'), { code: '57P01' }),
  ])('are due at once, since nothing was sent for them: %s', async (error) => {
    const query = database.query.bind(database);
    jest.spyOn(database, 'query').mockImplementation(async (statement, values) => {
      const rows = await query(statement, values);
      if (statement === OPEN_INTENT) throw error;
      return rows;
    });
    const references = [randomUUID(), randomUUID()];
    const lost = await Promise.allSettled(references.map((reference) => open(reference)));
    expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    for (const tenantReference of references)
      await waitFor(`${tenantReference} is due`, async () => {
        const live = await store.findLive(tenantReference);
        return live?.status === 'pending' && !live.isBeingSent && live.isDue;
      });
  });
});

describe('outcomes of several calls', () => {
  it('each store their own user and event', async () => {
    const all = await claims(5);
    const users = all.map((claim) => userOf(claim));
    const settled = await Promise.all(
      all.map((claim, index) => store.settle(claim, { status: 'registered', user: users[index]! })),
    );
    expect(settled).toMatchObject(
      users.map(({ id, gridLocations }) => ({ status: 'registered', user: { id, gridLocations } })),
    );
    for (const { tenantReference } of all)
      expect(await announced(tenantReference)).toEqual(['user.registered']);
  });

  it('fail alone: only the one whose user belongs to another registration is not stored', async () => {
    const [first, ...others] = await claims(4);
    const [second] = others;
    const id = randomUUID();
    await store.settle(first!, registered(first!, id));
    const settled = await Promise.all(
      others.map((claim) => store.settle(claim, registered(claim, claim === second ? id : undefined))),
    );
    expect(settled.map((each) => each?.status)).toEqual(['identity_taken', 'registered', 'registered']);
    expect(await announced(second!.tenantReference)).toEqual([]);
  });

  it('are stored once if two calls returned the same user, whichever comes first', async () => {
    const two = await claims(2);
    const id = randomUUID();
    const settled = await Promise.all(two.map((claim) => store.settle(claim, registered(claim, id))));
    expect(settled.map((each) => each?.status).sort()).toEqual(['identity_taken', 'registered']);
  });

  it('do not deadlock if they name the same grid locations in another order', async () => {
    const states = new Set<string | undefined>();
    const watched = new Set<pg.PoolClient>();
    database.pool.on('acquire', (client) => {
      if (watched.has(client)) return;
      watched.add(client);
      const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>;
      const observed = async (...given: unknown[]) => {
        try {
          return await query(...given);
        } catch (error) {
          states.add(sqlState(error));
          throw error;
        }
      };
      Object.assign(client, { query: observed });
    });
    for (let round = 0; round < 10; round++) {
      const all = await claims(8);
      const ids = Array.from({ length: 20 }, () => randomUUID());
      const settled = await Promise.all(
        all.map((claim, index) => {
          const gridLocations = ids.map((id, at) => ({
            id,
            ean: at === 0 ? EAN : String(541448860004180000n + BigInt(100 * round + at)),
          }));
          const user = {
            ...userOf(claim),
            gridLocations: index % 2 === 0 ? gridLocations : gridLocations.toReversed(),
          };
          return store.settle(claim, { status: 'registered', user });
        }),
      );
      expect(settled.filter((each) => each?.status === 'registered')).toHaveLength(1);
    }
    expect(states).toEqual(new Set(['23505']));
  });

  it('change nothing if a newer call was made for their registration, and only then', async () => {
    const [late, good] = await claims(2);
    await database.query('UPDATE registrations SET attempts = 2 WHERE id = $1', [late!.id]);
    const settled = await Promise.all([late!, good!].map((claim) => store.settle(claim, registered(claim))));
    expect(settled).toMatchObject([null, { status: 'registered' }]);
    expect(await announced(late!.tenantReference)).toEqual([]);
  });
});
