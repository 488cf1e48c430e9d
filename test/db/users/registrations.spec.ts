import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { actAs } from '../../../src/access/acting-caller.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { ErasuresStore } from '../../../src/privacy/erasure/erasures.store.js';
import { CustomersStore } from '../../../src/customers/customers.store.js';
import { insertPending } from '../../../src/campaigns/drain/drain.store.js';
import { PERSON_DECISIONS, type PersonDecision } from '../../../src/decisions/decision.rules.js';
import { type Decided, DecisionsStore } from '../../../src/decisions/decisions.store.js';
import {
  type Claim,
  REGISTRATION_STATUSES,
  type Settlement,
} from '../../../src/users/registration/registration.rules.js';
import {
  type RegistrationRecord,
  RegistrationsStore,
} from '../../../src/users/registration/registrations.store.js';
import {
  confirmReferences,
  findUnknownReferences,
  movePendingToUncertain,
} from '../../../src/cli/restore.store.js';
import type { RemoteUser, RequestedUser } from '../../../src/users/remote/remote-user.rules.js';
import { UsersStore } from '../../../src/users/user/users.store.js';
import { waitForLockWaits } from '../../faults/support/waits.js';
import { RETURN_CLAIM } from '../../../src/users/registration/registrations.sql.js';
import { refuseRows } from '../../setup/database/refuse-rows.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { newEan } from '../../setup/ean.js';
import { insertRow } from '../valid-rows.js';
import { environmentFor } from '../../setup/test-environment.js';

const EANS = ['541448860004178019', '541448860004178026'];
const UNCERTAIN: Settlement = { status: 'uncertain', lastError: 'lost', reason: 'lost' };
const REJECTED: Settlement = { status: 'rejected', lastError: 'refused: EAN unknown', reason: 'refused' };
const NOT_SENT: Settlement = {
  status: 'pending',
  lastError: 'unreachable',
  reason: 'unreachable',
  nextAttemptInMs: 60_000,
};

const testDatabase = useTestDatabase();
const database = testDatabase.open();
const users = new UsersStore(database);
const store = new RegistrationsStore(database);
const decisions = new DecisionsStore(database);

beforeEach(() => database.query('TRUNCATE registrations, users, domain_events, audit_log, restores CASCADE'));

const requestFor = (tenantReference: string = randomUUID()) => ({
  tenantReference,
  eans: EANS,
  metadata: { channel: 'web' },
});

async function claimed(tenantReference?: string): Promise<Claim> {
  const claim = await store.openIntent(requestFor(tenantReference));
  if (claim === null) throw new Error('the reference is taken');
  return claim;
}

const confirmed = ({ tenantReference, eans }: RequestedUser): RemoteUser => ({
  id: randomUUID(),
  tenantReference,
  tenantName: 'Supplier',
  firstName: '',
  lastName: '',
  email: '',
  gridLocations: eans.map((ean) => ({ id: randomUUID(), ean })),
  createdAt: new Date('2026-03-05T10:11:12.123Z'),
  updatedAt: null,
});

const registered = (claim: RequestedUser): Settlement => ({ status: 'registered', user: confirmed(claim) });

async function read(id: string): Promise<RegistrationRecord> {
  const registration = await store.findRegistration(id);
  if (registration === null) throw new Error('there is no such registration');
  return registration;
}

const change = (id: string, assignments: string) =>
  database.query(`UPDATE registrations SET ${assignments} WHERE id = $1`, [id]);
const moveAbandoned = async () => store.moveAbandonedToUncertain(await store.findLeases());
const expireLease = (id: string) => change(id, `lease_until = clock_timestamp() - interval '1 ms'`);
/** Subtracts a millisecond, because the column stores milliseconds and PostgreSQL may round up. */
const makeDue = (id: string) => change(id, `next_attempt_at = clock_timestamp() - interval '1 millisecond'`);
const sentAt = async (id: string) =>
  (
    await database.query<{ at: Date | null }>('SELECT sent_at AS at FROM registrations WHERE id = $1', [id])
  )[0]?.at;
const rowsOf = (...ids: string[]) =>
  database.query<object>('SELECT * FROM registrations WHERE id = ANY ($1) ORDER BY array_position($1, id)', [
    ids,
  ]);
const FREE = { lease_token: null, lease_until: null, updated_at: expect.any(Date) };
const eventsOf = async (subject: string) =>
  (
    await database.query<{ name: string }>(
      'SELECT name FROM domain_events WHERE subject = $1 ORDER BY position',
      [subject],
    )
  ).map(({ name }) => name);
/** Lets the next transaction commit, and its caller lose the response. */
const loseCommit = () => {
  const transaction = database.transaction.bind(database);
  return jest.spyOn(database, 'transaction').mockImplementationOnce(async (...given) => {
    await transaction(...given);
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  });
};
const decide = async (decision: PersonDecision, id: string): Promise<Decided['status']> =>
  (await decisions.decide({ id, actor: 'a person', decision, user: confirmed(await read(id)) })).status;

describe('an intent', () => {
  it.each(REGISTRATION_STATUSES)(
    'prevents a new registration of its reference unless it ended without a user: %s',
    async (status) => {
      const { id } = await claimed('taken');
      await change(id, `status = '${status}', lease_token = NULL, lease_until = NULL`);
      const again = await store.openIntent(requestFor('taken'));
      expect(again === null).toBe(status !== 'rejected' && status !== 'discarded');
    },
  );

  it('is decisive for its reference if it is live, else if it is the newest', async () => {
    const decisive = async () =>
      (await new CustomersStore(database).findRegistrations(['a', 'unknown'])).map(({ id }) => id);
    const unknown = () => findUnknownReferences(database, ['unknown', 'a']);
    const first = await claimed('a');
    await store.settle(first, REJECTED);
    const second = await claimed('a');
    await store.settle(second, REJECTED);
    expect([await decisive(), await unknown()]).toEqual([[second.id], ['a', 'unknown']]);
    await decide('retry', first.id);
    expect([await decisive(), await unknown()]).toEqual([[first.id], ['unknown']]);
  });

  it('is held while the references of any restore are unchecked; a check is of all of them, and keeps the times of earlier ones', async () => {
    const isHeld = async () => (await store.openIntent(requestFor())) === null;
    const insert = (id: number, checkedAt: string | null) =>
      database.query(
        'INSERT INTO restores (id, references_checked_at, last_sequence, first_sequence) VALUES ($1, $2, 0, 1)',
        [id, checkedAt],
      );
    const checks = async () =>
      (
        await database.query<{ at: Date | null }>(
          'SELECT references_checked_at AS at FROM restores ORDER BY id',
        )
      ).map(({ at }) => at);
    const earlier = new Date('2026-01-02T03:04:05Z');
    await insert(3, earlier.toISOString());
    expect(await isHeld()).toBe(false);
    await insert(1, null);
    await insert(2, null);
    expect(await isHeld()).toBe(true);
    const byRevokedKey = new Promise((resolve, reject) =>
      actAs({ id: randomUUID() }, () => void store.openIntent(requestFor()).then(resolve, reject)),
    );
    await expect(byRevokedKey).rejects.toThrow('The API key has been revoked');
    const uncertain = await database.prisma.registration.findMany({ where: { status: 'uncertain' } });
    expect(uncertain).toMatchObject([{ lastError: expect.stringContaining('a backup was restored') }]);
    expect(await eventsOf(uncertain[0]!.id)).toEqual(['user.registration_uncertain']);
    expect(await confirmReferences(database)).toBe(true);
    const checked = await checks();
    expect(checked).toEqual([expect.any(Date), expect.any(Date), earlier]);
    expect(await isHeld()).toBe(false);
    expect(await confirmReferences(database)).toBe(false);
    expect(await checks()).toEqual(checked);
  });
});

describe('a claim', () => {
  it('counts as the next call, and is marked as sent', async () => {
    const first = await claimed();
    await store.settle(first, NOT_SENT);
    expect(await sentAt(first.id)).toBeNull();
    expect(await store.claimOne(first.id)).toBeNull();
    await makeDue(first.id);
    const second = await store.claimOne(first.id);
    expect(second).toMatchObject({ id: first.id, attempts: 2 });
    expect(second?.leaseToken).not.toBe(first.leaseToken);
    expect(await sentAt(first.id)).toBeInstanceOf(Date);
    expect(await store.claimOne(first.id)).toBeNull();
  });

  it('that the database lost is returned, due and unsent, and no other is', async () => {
    const [lost, other] = [await claimed(), await claimed()];
    const [before, ofOther] = await rowsOf(lost.id, other.id);
    await database.query(RETURN_CLAIM, [lost.leaseToken]);
    const last_error = 'the database was lost before it was sent';
    expect(await rowsOf(lost.id, other.id)).toEqual([
      { ...before, ...FREE, last_error, next_attempt_at: expect.any(Date), sent_at: null },
      ofOther,
    ]);
    expect(await store.claimDue(10)).toMatchObject([{ id: lost.id }]);
  });

  it('never takes a registration whose sender died', async () => {
    const claim = await claimed();
    await expireLease(claim.id);
    await makeDue(claim.id);
    expect(await store.claimDue(10)).toEqual([]);
    expect(await store.claimOne(claim.id)).toBeNull();
  });
});

describe('an outcome', () => {
  it('not sent: is announced once for repeated attempts, and again after another status', async () => {
    const first = await claimed();
    await store.settle(first, NOT_SENT);
    const sendAgain = async (outcome: Settlement) => {
      await makeDue(first.id);
      await store.settle((await store.claimOne(first.id))!, outcome);
    };
    await sendAgain(NOT_SENT);
    await decide('retry', first.id);
    await sendAgain(NOT_SENT);
    expect(await eventsOf(first.id)).toEqual(['user.registration_pending']);
    await sendAgain(UNCERTAIN);
    await decide('retry', first.id);
    await sendAgain(NOT_SENT);
    expect(await eventsOf(first.id)).toEqual([
      'user.registration_pending',
      'user.registration_uncertain',
      'user.registration_pending',
    ]);
  });

  it('is stored and announced once if the response to its COMMIT is lost', async () => {
    for (const outcome of [registered, () => UNCERTAIN, () => REJECTED, () => NOT_SENT]) {
      const claim = await claimed();
      const settlement = outcome(claim);
      const lost = loseCommit();
      expect(await store.settle(claim, settlement)).toBe('stored');
      expect(lost).toHaveBeenCalledTimes(2);
      lost.mockRestore();
      const subject = settlement.status === 'registered' ? settlement.user.id : claim.id;
      expect(await eventsOf(subject)).toHaveLength(1);
    }
  });

  it('registered: is stored if its lease is renewed at the same time, but not if a person decides at the same time', async () => {
    for (const [assignments, isStored] of [
      [`lease_until = clock_timestamp() + interval '10 s'`, true],
      [`status = 'discarded', lease_token = NULL, lease_until = NULL`, false],
    ] as const) {
      const claim = await claimed();
      let settled: Promise<unknown> | undefined;
      await database.transaction(async (tx) => {
        await tx.query(`UPDATE registrations SET ${assignments} WHERE id = $1`, [claim.id]);
        settled = store.settle(claim, registered(claim));
        await waitForLockWaits(database);
      });
      const outcome = await settled;
      const { items: found } = await users.listUsers({ limit: 10, tenantReference: claim.tenantReference });
      expect(found.map(({ createdAt, registeredAt }) => registeredAt > createdAt)).toEqual(
        isStored ? [true] : [],
      );
      expect(outcome).toEqual(isStored ? { user: found[0] } : 'stale');
    }
  });
});

describe('a sender whose lease has expired', () => {
  it('leaves its registration uncertain, with an event', async () => {
    const [dead, alive] = [await claimed(), await claimed()];
    await expireLease(dead.id);
    await expireLease(alive.id);
    await change(alive.id, `lease_until = clock_timestamp() + interval '10 s'`);
    const [before, ofAlive] = await rowsOf(dead.id, alive.id);
    expect(await moveAbandoned()).toEqual([dead.id]);
    expect(await moveAbandoned()).toEqual([]);
    expect(await rowsOf(dead.id, alive.id)).toEqual([
      { ...before, ...FREE, status: 'uncertain', last_error: expect.stringContaining('nobody knows') },
      ofAlive,
    ]);
    expect(await eventsOf(dead.id)).toEqual(['user.registration_uncertain']);
  });

  it('is announced for each registration that a death or a restore leaves uncertain', async () => {
    const ids = async () => (await Promise.all([claimed(), claimed()])).map(({ id }) => id);
    const dead = await ids();
    await Promise.all(dead.map(expireLease));
    expect((await moveAbandoned()).sort()).toEqual(dead.sort());
    const pending = await ids();
    expect(await database.transaction(movePendingToUncertain)).toBe(2);
    for (const id of [...dead, ...pending])
      expect(await eventsOf(id)).toEqual(['user.registration_uncertain']);
  });

  it('may still store a certain outcome', async () => {
    const claim = await claimed();
    await expireLease(claim.id);
    await moveAbandoned();
    expect(await store.settle(claim, UNCERTAIN)).toBe('stale');
    expect(await store.settle(claim, registered(claim))).toHaveProperty('user');
    expect(await read(claim.id)).toMatchObject({ status: 'registered' });
  });

  it('changes nothing after a person has discarded the registration', async () => {
    const claim = await claimed();
    await expireLease(claim.id);
    await moveAbandoned();
    await decide('discard', claim.id);
    for (const outcome of [registered(claim), REJECTED, UNCERTAIN, NOT_SENT]) {
      expect(await store.settle(claim, outcome)).toBe('stale');
    }
    expect(await read(claim.id)).toMatchObject({ status: 'discarded' });
  });

  it('prevents a retry that is not sent yet, by a certain outcome', async () => {
    const claim = await claimed();
    await expireLease(claim.id);
    await moveAbandoned();
    await decide('retry', claim.id);
    expect(await store.settle(claim, UNCERTAIN)).toBe('stale');
    expect(await store.settle(claim, registered(claim))).toHaveProperty('user');
    expect(await store.claimDue(10)).toEqual([]);
  });

  it('changes nothing while another call is in flight', async () => {
    const claim = await claimed();
    await expireLease(claim.id);
    await moveAbandoned();
    await decide('retry', claim.id);
    const [second] = await store.claimDue(10);
    for (const outcome of [registered(claim), REJECTED, UNCERTAIN, NOT_SENT]) {
      expect(await store.settle(claim, outcome)).toBe('stale');
    }
    expect(await store.settle(second as Claim, registered(claim))).toHaveProperty('user');
  });
});

describe('a decision of a person', () => {
  const registrationIn = async (status: string): Promise<Claim> => {
    const claim = await claimed();
    const user = confirmed(claim);
    if (status === 'registered') await store.settle(claim, { status, user });
    else await change(claim.id, `status = '${status}', lease_token = NULL, lease_until = NULL`);
    await change(claim.id, `updated_at = clock_timestamp() - interval '1 h'`);
    return claim;
  };
  const undecided = ['pending', 'uncertain', 'rejected'];
  const decidable = { retry: undecided, discard: undecided, resolve: [...undecided, 'discarded'] };
  const cases = PERSON_DECISIONS.flatMap((decision) =>
    REGISTRATION_STATUSES.map((status) => [decision, status] as const),
  );
  it.each(cases)('%s of a registration that is %s', async (decision, status) => {
    const { id } = await registrationIn(status);
    const { updatedAt } = await read(id);
    const after = { retry: 'pending', discard: 'discarded', resolve: 'registered' } as const;
    const isAllowed = decidable[decision].includes(status);
    expect(await decide(decision, id)).toBe(isAllowed ? 'decided' : 'wrong_status');
    expect(await read(id)).toMatchObject({
      status: isAllowed ? after[decision] : status,
      isDue: isAllowed && decision === 'retry',
    });
    expect((await read(id)).updatedAt > updatedAt).toBe(isAllowed);
    const announced = {
      retry: ['user.registration_pending'],
      discard: ['user.registration_discarded'],
      resolve: [],
    };
    expect(await eventsOf(id)).toEqual(isAllowed ? announced[decision] : []);
    const entries = await database.query('SELECT actor, action, target, details FROM audit_log');
    const action = {
      retry: 'registration.retried',
      discard: 'registration.discarded',
      resolve: 'registration.resolved',
    };
    const details = { executionId: expect.any(String), decision, status, attempts: 1 };
    expect(entries).toEqual(
      isAllowed ? [{ actor: 'a person', action: action[decision], target: id, details }] : [],
    );
  });

  it('an erasure waits for a start that has begun, and erases its session', async () => {
    const claim = await claimed();
    await store.settle(claim, registered(claim));
    const [user] = (await users.listUsers({ limit: 1 })).items;
    const start = await testDatabase.connect();
    await start.query('BEGIN');
    await start.query('SELECT FROM users WHERE id = $1 FOR KEY SHARE', [user!.id]);
    const cipher = new Cipher(environmentFor(testDatabase.url));
    const erasing = new ErasuresStore(database, cipher).eraseUser(user!.id, 'a person');
    await waitForLockWaits(database);
    const session = { user_id: user!.id, grid_location_id: user!.gridLocations[0]!.id };
    await insertRow(start, 'onboarding_sessions', session);
    await start.query('COMMIT');
    expect(await erasing).toMatchObject({ erased: { sessions: 1 } });
    expect(await users.findUser(user!.id)).toBeNull();
    expect((await users.listUsers({ limit: 1 })).items).toEqual([]);
  });

  it.each(PERSON_DECISIONS)('%s is made once if the response to its COMMIT is lost', async (decision) => {
    const { id } = await claimed();
    await change(id, `status = 'uncertain', lease_token = NULL, lease_until = NULL`);
    const lost = loseCommit();
    expect(await decide(decision, id)).toBe('decided');
    expect(lost).toHaveBeenCalledTimes(2);
    lost.mockRestore();
    expect(await database.query('SELECT target FROM audit_log')).toEqual([{ target: id }]);
  });

  it('an erasure by reference has the same receipt if the response to its COMMIT is lost', async () => {
    const { id, tenantReference } = await claimed();
    // A dead sender does not keep its registration from being erased.
    await expireLease(id);
    const cipher = new Cipher(environmentFor(testDatabase.url));
    const lost = loseCommit();
    const erasure = await new ErasuresStore(database, cipher).eraseReference(tenantReference, 'a person');
    expect(erasure).toMatchObject({ userId: null, erased: { registrations: 1 } });
    expect(lost).toHaveBeenCalledTimes(2);
    lost.mockRestore();
    expect(await database.query('SELECT action FROM audit_log')).toEqual([{ action: 'user.erased' }]);
  });

  it('is refused for a reference that has been registered anew, and fails if the database refuses it', async () => {
    const { id } = await claimed('a');
    await change(id, `status = 'rejected', lease_token = NULL, lease_until = NULL`);
    await claimed('a');
    expect(await decide('retry', id)).toBe('reference_taken');
    expect(await decide('resolve', id)).toBe('reference_taken');
    const accept = await refuseRows(database, 'audit_log', 'true');
    await expect(decide('discard', id)).rejects.toThrow('permission denied');
    await accept();
    expect(await read(id)).toMatchObject({ status: 'rejected' });
  });

  it.each(PERSON_DECISIONS)('%s is refused while a call is in flight', async (decision) => {
    const { id } = await claimed();
    expect(await decide(decision, id)).toBe('being_sent');
    expect(await read(id)).toMatchObject({ status: 'pending', isBeingSent: true });
  });
});

describe('registrations of campaigns', () => {
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

  it('are inserted in the order of their references, so that two campaigns cannot deadlock', async () => {
    await insert(randomUUID(), 'b', 'c', 'a');
    const inserted = 'SELECT string_agg(tenant_reference, NULL ORDER BY ctid) AS text FROM registrations';
    expect(await database.query(inserted)).toEqual([{ text: 'abc' }]);
  });

  it('are not inserted for a live reference, whose registration is returned', async () => {
    await store.settle((await store.openIntent(request('free')))!, REJECTED);
    await insertRetry('taken');
    const live = await insert(randomUUID(), 'taken', 'free');
    expect(live.map(({ tenantReference }) => tenantReference).sort()).toEqual(['free', 'taken']);
    expect(await insert(randomUUID(), 'free')).toEqual(
      live.filter((each) => each.tenantReference === 'free'),
    );
    expect(await database.query('SELECT FROM registrations')).toHaveLength(3);
  });
});
