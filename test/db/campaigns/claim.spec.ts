import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { insertPending } from '../../../src/users/registration/campaign-registrations.store.js';
import { RegistrationsStore } from '../../../src/users/registration/registrations.store.js';
import { newEan } from '../../setup/ean.js';
import { useTestDatabase } from '../../setup/database/test-database.js';

const testDatabase = useTestDatabase();
let database: Database;
let store: RegistrationsStore;

beforeAll(() => {
  database = testDatabase.open();
  store = new RegistrationsStore(database);
});
beforeEach(() => database.query('TRUNCATE registrations, restores CASCADE'));

const request = (tenantReference: string) => ({ tenantReference, eans: [newEan()], metadata: {} });

const insert = (campaignId: string, ...references: string[]) =>
  database.transaction((tx) => insertPending(tx, references.map(request), campaignId));

/** Inserts a registration of an app that waits to be sent again, due now. */
async function insertRetry(reference: string): Promise<void> {
  const claim = await store.openIntent(request(reference));
  await store.settle(claim!, {
    status: 'pending',
    lastError: 'unreachable',
    reason: 'unreachable',
    nextAttemptInMs: 0,
  });
}

const claim = async (limit: number) =>
  (await store.claimDue(limit)).map(({ tenantReference }) => tenantReference).sort();

describe('registrations of campaigns', () => {
  it('are claimed after all that apps wait for, however long they have been due', async () => {
    await insert(randomUUID(), ...Array.from({ length: 64 }, (_, nth) => `campaign-${nth}`));
    await insertRetry('app-1');
    await insertRetry('app-2');
    expect(await claim(2)).toEqual(['app-1', 'app-2']);
    await insertRetry('app-3');
    expect(await claim(4)).toEqual([
      'app-3',
      ...Array.from({ length: 3 }, () => expect.stringMatching(/^campaign/)),
    ]);
    expect(await claim(100)).toHaveLength(61);
  });

  it('are not inserted for a live reference, whose registration is returned', async () => {
    await insertRetry('taken');
    const live = await insert(randomUUID(), 'taken', 'free');
    expect(live.map(({ tenantReference }) => tenantReference).sort()).toEqual(['free', 'taken']);
    expect(await insert(randomUUID(), 'free')).toEqual(
      live.filter((each) => each.tenantReference === 'free'),
    );
    expect(await database.query('SELECT FROM registrations')).toHaveLength(2);
  });
});
