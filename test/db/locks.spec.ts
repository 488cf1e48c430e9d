import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ApiKeysStore } from '../../src/access/api-keys.store.js';
import { ADD_REFUSALS, LOCK_KEY, ManagedKeysStore } from '../../src/api-keys/managed-keys.store.js';
import * as bulk from '../../src/bulk/bulk-actions.sql.js';
import { LOCK_ROW } from '../../src/campaigns/adoption/adoption.sql.js';
import * as drain from '../../src/campaigns/drain/drain.sql.js';
import { LOCK_ROWS } from '../../src/campaigns/erase-rows.sql.js';
import { LOCK_ANY_SESSIONS } from '../../src/cli/rederived.store.js';
import { LOCK_REGISTRATION } from '../../src/decisions/decisions.store.js';
import { LOCK_SUBJECTS, MAKE_RETRIES_DUE, SETTLE } from '../../src/delivery/queue.sql.js';
import { TAKE } from '../../src/delivery/take.sql.js';
import { LOCK_OPERATION } from '../../src/drift/drift.store.js';
import { ERASE_EVENTS } from '../../src/events/erase-events.sql.js';
import * as invitations from '../../src/invitations/invitations.sql.js';
import * as reminders from '../../src/invitations/reminders/reminders.store.js';
import * as polls from '../../src/onboarding/poll/polls.sql.js';
import * as starts from '../../src/onboarding/start/starts.sql.js';
import { LOCK_SESSIONS, LOCK_SESSIONS_OF_USER } from '../../src/onboarding/store/sessions.sql.js';
import type { Statement, Transaction } from '../../src/platform/database/database.js';
import { LOCK_REGISTRATIONS, LOCK_USER } from '../../src/privacy/erasure/erasures.store.js';
import * as retention from '../../src/privacy/retention/retention.sql.js';
import { acceptCredentials, rejectCredentials } from '../../src/remote/shared/operations.store.js';
import { LOCK_STALL } from '../../src/stalled/stalled.sql.js';
import * as stalls from '../../src/stalls/stalls.sql.js';
import * as registrations from '../../src/users/registration/registrations.sql.js';
import { lockEndpoint } from '../../src/webhooks/endpoint.sql.js';
import { LOCK_CREATION } from '../../src/webhooks/endpoints/endpoints.store.js';
import { waitForLockWaits } from '../faults/support/waits.js';
import { useTestDatabase } from '../setup/database/test-database.js';
import { insertCustomer, insertRow, type Table, tomorrow } from './valid-rows.js';

const testDatabase = useTestDatabase();
const database = testDatabase.open();

type Locking = string | Statement | ((tx: Transaction) => Promise<readonly unknown[]>);
type Row = readonly [name: string, locking: Locking, values: () => readonly unknown[], locks?: string];

const [leaseToken, reference, subject, nobody] = Array.from({ length: 4 }, () => randomUUID());
const lease = { lease_token: leaseToken, lease_until: 'yesterday' };
/** The ids of the rows. */
const id: Record<string, string> = {};

/** Returns the key of the row, also as `id[name]`. */
const insert = async (table: Table, values: object = {}, name: string = table) => {
  const row = await insertRow(database.pool, table, values as Record<string, unknown>);
  return (id[name] = String(row[table === 'domain_events' ? 'position' : 'id']));
};

beforeAll(async () => {
  const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(
    database.pool,
    reference,
  );
  Object.assign(id, { user: user_id, place: grid_location_id });
  const place = { grid_location_id };
  const session_id = await insert('onboarding_sessions', { ...place, user_id }, 'session');
  await insert('session_polls', {
    session_id,
    user_id,
    due_at: new Date(Date.now() - 1),
    claimed_at: 'yesterday',
  });
  const closed = { closed_at: 'yesterday', close_reason: 'settled', changed_at: 'yesterday' };
  const watched = await insert('onboarding_sessions', { ...place, user_id, ...closed, superseded_at: 'now' });
  await insert('session_polls', { session_id: watched, user_id, due_at: 'yesterday', phase: 'watching' });
  await insert('session_observations', { session_id: watched });
  await insert('session_starts', { ...place, ...lease }, 'start');
  await insert('session_starts', { ...place, ...lease, brand: 'acme', attempts: 2 });
  await insert('session_starts', { ...place, ...lease, status: 'failed', updated_at: 'yesterday' });
  const registration = { tenant_reference: reference, next_attempt_at: 'yesterday' };
  await insert('registrations', registration, 'registration');
  await insert('registrations', { ...lease, next_attempt_at: null }, 'leased');
  await insert('registrations', { status: 'rejected', updated_at: 'yesterday' });
  const wish = { wish_brand: 'acme', wished_at: 'yesterday', wish_due_at: 'yesterday' };
  const opened = { opened_at: 'yesterday', reminder_due_at: 'yesterday' };
  await insert('invitations', { ...place, ...wish, ...opened }, 'invitation');
  const { userId, gridLocationId } = await insertCustomer(database.pool);
  const elsewhere = { grid_location_id: gridLocationId };
  await insert('invitations', { ...elsewhere, expires_at: 'yesterday' });
  id.unwatchedUser = userId;
  await insert('onboarding_sessions', { ...elsewhere, user_id: userId }, 'unwatched');
  await insert('api_keys', { last_used_at: 'yesterday' }, 'key');
  await insert('stalls', { subject });
  const campaign_id = await insert('campaigns', { ...lease, status: 'running' }, 'campaign');
  await insert('campaign_rows', { campaign_id, status: 'accepted', tenant_reference: reference });
  await insert('registrations', { campaign_id, next_attempt_at: 'yesterday' }, 'unsent');
  const old = { status: 'checked', finished_at: 'yesterday' };
  await insert('campaign_rows', { campaign_id: await insert('campaigns', old) });
  const action_id = await insert('bulk_actions', lease, 'action');
  await insert('bulk_action_items', { action_id });
  await insert('bulk_actions', { finished_at: 'yesterday' });
  await insert('pruned_sessions');
  await insert('audit_log', { at: 'yesterday' });
  const endpoint_id = await insert('webhook_endpoints', { ...lease, read_to: 1 }, 'endpoint');
  const past = await insert('domain_events', { sequence: 1, time: 'yesterday' });
  const position = await insert('domain_events', { subject, sequence: 2 }, 'event');
  const delivered = { status: 'delivered', next_attempt_at: null, created_at: 'yesterday' };
  await insert('webhook_deliveries', { endpoint_id, position: past, ...delivered });
  await insert('webhook_deliveries', { endpoint_id, position, subject, attempts: 1 });
  await insert('webhook_subjects', { endpoint_id, subject, due_at: tomorrow() });
});

/** The modes of a lock on a row. The nth conflicts with the last n. */
const MODES = ['KEY SHARE', 'SHARE', 'NO KEY UPDATE', 'UPDATE'];
const TABLES = `SELECT format('%I', relname) AS table FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`;
const ADVISORY_LOCKS = `SELECT mode FROM pg_locks JOIN pg_database ON pg_database.oid = database WHERE locktype = 'advisory' AND datname = current_database()`;

/** Returns the tables with a row that another transaction has locked, each with the mode, and the modes of its advisory locks. */
async function findLocks(): Promise<string[]> {
  const found: string[] = [];
  for (const { table } of await database.query<{ table: string }>(TABLES)) {
    const all = await database.query(`SELECT FROM ${table}`);
    let conflicts = 0;
    for (const mode of MODES) {
      const free = await database.query(`SELECT FROM ${table} FOR ${mode} SKIP LOCKED`);
      if (free.length < all.length) conflicts += 1;
    }
    if (conflicts > 0) found.push(`${table} ${MODES[conflicts - 1]!}`);
  }
  const advisory = await database.query<{ mode: string }>(ADVISORY_LOCKS);
  return [...found, ...advisory.map(({ mode }) => mode)];
}

const rolledBack = new Error('rolled back');
/** Runs the statement, then `work`, in a transaction that is rolled back. */
const whileLocked = async ([, locking, values]: Row, work: (rows: readonly unknown[]) => Promise<void>) =>
  expect(
    database.transaction(async (tx) => {
      // A wait for a lock is an error.
      await tx.query(`SET LOCAL lock_timeout = '1 s'`);
      const rows = await (typeof locking === 'function' ? locking(tx) : tx.query(locking, values()));
      await work(rows);
      throw rolledBack;
    }),
  ).rejects.toBe(rolledBack);

it.each<Row>([
  [
    'LOCK_START',
    starts.LOCK_START,
    () => [id.place, id.start, leaseToken, null],
    'session_starts UPDATE, users KEY SHARE',
  ],
  [
    'RELEASE_START',
    starts.RELEASE_START,
    () => [id.place, null, leaseToken],
    'session_starts UPDATE, stall_looks NO KEY UPDATE',
  ],
  ['LOCK_PLACE', starts.LOCK_PLACE, () => [id.place, id.user, null], 'users KEY SHARE'],
  [
    'LOCK_CURRENT_AND_KNOWN',
    starts.LOCK_CURRENT_AND_KNOWN,
    () => [id.place, null, nobody],
    'onboarding_sessions UPDATE',
  ],
  [
    'LOCK_CURRENT_AND_KNOWN (known)',
    starts.LOCK_CURRENT_AND_KNOWN,
    () => [nobody, null, id.session],
    'onboarding_sessions UPDATE',
  ],
  ['LOCK_SESSIONS_OF_USER', LOCK_SESSIONS_OF_USER, () => [id.unwatchedUser], 'onboarding_sessions UPDATE'],
  ['LOCK_SESSIONS', LOCK_SESSIONS, () => [[id.session]], 'onboarding_sessions UPDATE, session_polls UPDATE'],
  ['LOCK_ANY_SESSIONS', LOCK_ANY_SESSIONS, () => [[id.unwatched]], 'onboarding_sessions UPDATE'],
  ['SELECT_ONE', polls.SELECT_ONE, () => [id.session], 'session_polls UPDATE'],
  [
    'WATCH_CLOSED',
    polls.WATCH_CLOSED,
    () => [id.session, 'late', id.key],
    'api_keys SHARE, onboarding_sessions UPDATE, ShareLock',
  ],
  ['LOCK_REGISTRATION', LOCK_REGISTRATION, () => [id.registration], 'registrations UPDATE'],
  [
    'LOCK_FOR_OUTCOME',
    registrations.LOCK_FOR_OUTCOME,
    () => [id.registration, 0, nobody],
    'registrations UPDATE',
  ],
  ['LOCK_REGISTRATIONS', LOCK_REGISTRATIONS, () => [reference], 'registrations UPDATE'],
  ['LOCK_USER (erasure)', LOCK_USER, () => [reference], 'users UPDATE'],
  [
    'FIND_LOCATIONS',
    invitations.FIND_LOCATIONS,
    () => [id.place, null, id.key],
    'api_keys SHARE, users KEY SHARE, ShareLock',
  ],
  ['LOCK_USER', invitations.LOCK_USER, () => [id.invitation], 'users UPDATE'],
  ['LOCK_INVITATION', invitations.LOCK_INVITATION, () => [id.invitation], 'invitations UPDATE'],
  ['LOCK_INVITATION (reminder)', reminders.LOCK_INVITATION, () => [id.invitation], 'invitations UPDATE'],
  ['LOCK_CONSENTED', invitations.LOCK_CONSENTED, () => [id.invitation], 'invitations UPDATE'],
  ['LOCK_LINK_READER', invitations.LOCK_LINK_READER, () => ['caller'], 'ExclusiveLock'],
  ['LOCK_ROWS', LOCK_ROWS, () => [reference], 'campaign_rows UPDATE'],
  ['LOCK_LEASED', drain.LOCK_LEASED, () => [id.campaign, leaseToken], 'campaigns NO KEY UPDATE'],
  ['TAKE_NEXT', drain.TAKE_NEXT, () => [id.campaign, 1], 'campaign_rows UPDATE'],
  ['FIND_LIVE_OF', drain.FIND_LIVE_OF, () => [[reference]], 'registrations KEY SHARE'],
  ['LOCK_ROW', LOCK_ROW, () => [id.campaign, leaseToken, 2], 'campaign_rows UPDATE'],
  ['LOCK_NEXT_ITEMS', bulk.LOCK_NEXT_ITEMS, () => [id.action, leaseToken, 1, []], 'bulk_action_items UPDATE'],
  ['LOCK_SUBJECTS', LOCK_SUBJECTS, () => [id.endpoint, [subject]], 'webhook_subjects UPDATE'],
  ['SETTLE', SETTLE, () => [id.endpoint, JSON.stringify([{ position: id.event }])], 'domain_events SHARE'],
  [
    'lockEndpoint',
    async (tx) => [await lockEndpoint(tx, id.endpoint!)],
    () => [],
    'webhook_endpoints NO KEY UPDATE',
  ],
  ['LOCK_CREATION', LOCK_CREATION, () => [], 'ExclusiveLock'],
  ['LOCK_KEY', LOCK_KEY, () => [id.key], 'ExclusiveLock'],
  ['LOCK_OPERATION', LOCK_OPERATION, () => ['token'], 'remote_operations UPDATE'],
  ['LOCK_SUBJECT', stalls.LOCK_SUBJECT, () => ['session', id.session], 'stall_looks UPDATE'],
  ['LOCK_STALL', LOCK_STALL, () => ['session', subject], 'stalls UPDATE'],
  ['LOCK_START (another lease)', starts.LOCK_START, () => [id.place, id.start, nobody, null], ''],
  ['REPEAT_START (another lease)', starts.REPEAT_START, () => [id.start, nobody, 'lost', 1, 1], ''],
  ['FAIL_START (another lease)', starts.FAIL_START, () => [id.start, nobody, 1, 'lost', 'lost'], ''],
  ['RELEASE_START (another lease)', starts.RELEASE_START, () => [id.place, null, nobody], ''],
  ['RELEASE_START (another lease, repeated)', starts.RELEASE_START, () => [id.place, 'acme', nobody], ''],
  ['END_ABANDONED_STARTS (another lease)', starts.END_ABANDONED_STARTS, () => [[nobody]], ''],
  ['RETURN_CLAIM (another lease)', registrations.RETURN_CLAIM, () => [nobody], ''],
  ['LOCK_ABANDONED (another lease)', registrations.LOCK_ABANDONED, () => [[nobody]], ''],
  ['LOCK_LEASED (another lease)', drain.LOCK_LEASED, () => [id.campaign, nobody], ''],
  ['FINISH (another lease)', drain.FINISH, () => [id.campaign, nobody], ''],
  ['LOCK_ROW (another lease)', LOCK_ROW, () => [id.campaign, nobody, 2], ''],
  ['LOCK_NEXT_ITEMS (another lease)', bulk.LOCK_NEXT_ITEMS, () => [id.action, nobody, 1, []], ''],
  ['SETTLE_ITEM (another lease)', bulk.SETTLE_ITEM, () => [id.action, nobody, 1, 'done', null, null], ''],
  ['FINISH (bulk, another lease)', bulk.FINISH, () => [id.action, nobody, [1]], ''],
  ['TAKE (another lease)', TAKE, () => [id.endpoint, nobody, [], 9], ''],
  [
    'RECORD_FAILURES (another batch)',
    polls.RECORD_FAILURES,
    () => [JSON.stringify([{ sessionId: id.session, batchId: 0, notFound: 0, retryMs: 1, dueAt: 'now' }])],
    '',
  ],
])('%s locks', async (...row) => {
  await whileLocked(row, async () => expect((await findLocks()).join(', ')).toBe(row[3]));
});

/** The days, the limit, the cursor, and the rows to leave out. */
const PRUNED = [0.1, 9, '0', 0];

it.each<Row>([
  ['SELECT_DUE (fresh)', polls.SELECT_DUE, () => [9, 9]],
  ['SELECT_DUE', polls.SELECT_DUE, () => [0, 9]],
  ['SELECT_SETTLED', polls.SELECT_SETTLED, () => [9]],
  ['STOP_SETTLED', polls.STOP_SETTLED, () => [9]],
  ['END_ABANDONED_STARTS', starts.END_ABANDONED_STARTS, () => [[leaseToken]]],
  ['CLAIM_DUE', registrations.CLAIM_DUE, () => [1, nobody, 9]],
  ['LOCK_DUE (registrations)', registrations.LOCK_DUE, () => [9]],
  ['LOCK_ABANDONED', registrations.LOCK_ABANDONED, () => [[leaseToken]]],
  ['LOCK_UNSENT', drain.LOCK_UNSENT, () => [id.campaign, [id.unsent]]],
  ['LOCK_OVERDUE', invitations.LOCK_OVERDUE, () => [null, 9]],
  ['LOCK_WISHES', invitations.LOCK_WISHES, () => [9]],
  ['LOCK_DUE (reminders)', reminders.LOCK_DUE, () => [9]],
  ['LOCK_DUE (stalls)', stalls.LOCK_DUE, () => [['session'], 9]],
  ['MERGE_COUNTS', stalls.MERGE_COUNTS, () => [0]],
  ['MAKE_RETRIES_DUE', MAKE_RETRIES_DUE, () => [id.endpoint, null]],
  ...Object.entries(retention).map(([name, prune]): Row => [name, prune, () => PRUNED]),
])('%s skips what another transaction has locked', async (...row) => {
  await whileLocked(row, async () => {
    expect(await findLocks()).not.toEqual([]);
    await whileLocked(row, async (rows) =>
      expect(rows.filter((each) => (each as { pruned?: number }).pruned !== 0)).toEqual([]),
    );
  });
});

/** Makes PostgreSQL read rows in the order of the table, unless the statement has an order. */
const readTables = async (tx: Transaction) => {
  for (const way of ['indexscan', 'indexonlyscan', 'bitmapscan', 'mergejoin', 'hashjoin'])
    await tx.query(`SET LOCAL enable_${way} = off`);
};

it.each(Object.entries(retention))('%s prunes at most as many rows as are asked for', async (name, prune) => {
  const pruned: boolean[] = [];
  for (const limit of [9, 0])
    await whileLocked([name, prune, () => [0.1, limit, '0', 0]], async ([row]) => {
      pruned.push((row as { pruned: number }).pruned > 0);
    });
  expect(pruned).toEqual([true, false]);
});

const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name);

it('a use of a key is not noted, and does not wait, while a transaction acts with the key', async () => {
  const findLocations: Row = ['', invitations.FIND_LOCATIONS, () => [id.place, null, id.key]];
  const used = () => database.query('SELECT FROM api_keys WHERE last_used_at > created_at');
  await whileLocked(findLocations, async () => {
    await new ApiKeysStore(database).noteUse(id.key!);
    expect(await used()).toEqual([]);
  });
  await new ApiKeysStore(database).noteUse(id.key!);
  expect(await used()).toHaveLength(1);
});

/** Runs `second` in a transaction while `first` has not been committed, and returns its rows. */
const runBehind = async <T>(
  first: (tx: Transaction) => Promise<unknown>,
  second: (tx: Transaction) => Promise<T>,
  meanwhile?: () => Promise<unknown>,
) => {
  let waiting!: Promise<T>;
  await database.transaction(async (tx) => {
    await first(tx);
    waiting = database.transaction(second);
    await waitForLockWaits(database);
    await meanwhile?.();
  });
  return waiting;
};

describe('a statement that waits for another transaction', () => {
  it('tells a recovery once', async () => {
    await database.transaction((tx) => rejectCredentials(tx, 'refused'));
    await runBehind(acceptCredentials, acceptCredentials);
    const text = `SELECT name FROM domain_events WHERE subject = 'token' ORDER BY position`;
    expect(names(await database.query(text))).toEqual(['remote.credentials_rejected', 'remote.recovered']);
  });

  it('delivers no event that the endpoint was just moved past', async () => {
    const taken = await runBehind(
      (tx) => tx.query('UPDATE webhook_endpoints SET read_to = 1000'),
      (tx) => tx.query(TAKE, [id.endpoint, leaseToken, [subject], 9]),
    );
    expect(taken).toMatchObject([{ deliveryId: null }]);
  });

  // The rows are inserted in the opposite order, so that an unsorted statement locks them in that order.
  const [low, high] = ['00000000-0000-4000-8000-000000000000', 'ffffffff-ffff-4fff-bfff-ffffffffffff'];
  const both = [low, high];
  const hash = (key: string) => Buffer.alloc(32, key[0]);

  beforeAll(async () => {
    const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(
      database.pool,
      'twice',
    );
    Object.assign(id, { other: user_id, otherPlace: grid_location_id });
    for (const key of both.toReversed()) {
      const session = { id: key, user_id, grid_location_id, superseded_at: key === high ? 'now' : null };
      await insert('onboarding_sessions', session);
      await insert('session_polls', { session_id: key, user_id });
      await insert('registrations', { id: key, tenant_reference: 'twice', status: 'rejected' });
      const invitation_id = await insert('invitations', { id: key, grid_location_id, revoked_at: 'now' });
      await insert('consent_texts', { hash: key });
      await insert('consents', { invitation_id, text_hash: key });
      const line = key === low ? 8 : 9;
      await insert('campaign_rows', { campaign_id: id.campaign, line, tenant_reference: 'twice' });
      await insert('webhook_subjects', { endpoint_id: id.endpoint, subject: key });
      await insert('bulk_action_items', {
        action_id: await insert('bulk_actions', { id: key }),
        target: key,
      });
      await insert('api_keys', { id: key, key_hash: hash(key) });
      await insert('domain_events', { position: line, subject: key, sequence: 100 - line });
    }
  });

  const refused = { refused401: 1, refused403: 0, refused429: 0 };
  const refusals = () => [
    JSON.stringify(both.map((key) => ({ hash: hash(key).toString('hex'), ...refused }))),
  ];
  it.each<[...Row, column?: string]>([
    [
      'LOCK_CURRENT_AND_KNOWN',
      starts.LOCK_CURRENT_AND_KNOWN,
      () => [id.otherPlace, null, high],
      'onboarding_sessions',
    ],
    ['LOCK_SESSIONS', LOCK_SESSIONS, () => [both], 'onboarding_sessions'],
    ['LOCK_SESSIONS_OF_USER', LOCK_SESSIONS_OF_USER, () => [id.other], 'onboarding_sessions'],
    ['LOCK_ANY_SESSIONS', LOCK_ANY_SESSIONS, () => [both], 'onboarding_sessions'],
    ['LOCK_REGISTRATIONS', LOCK_REGISTRATIONS, () => ['twice'], 'registrations'],
    ['LOCK_CONSENTED', invitations.LOCK_CONSENTED, () => [high], 'invitations'],
    ['LOCK_ROWS', LOCK_ROWS, () => ['twice'], 'campaign_rows', 'line'],
    ['LOCK_SUBJECTS', LOCK_SUBJECTS, () => [id.endpoint, both], 'webhook_subjects', 'subject'],
    [
      'SETTLE',
      SETTLE,
      () => [id.endpoint, JSON.stringify([{ position: 8 }, { position: 9 }])],
      'domain_events',
      'position',
    ],
    ['ERASE_EVENTS', ERASE_EVENTS, () => [[], both, '{}'], 'domain_events', 'position'],
    ['ERASE_ACTIONS', bulk.ERASE_ACTIONS, () => [both], 'bulk_actions'],
    ['ADD_REFUSALS', ADD_REFUSALS, refusals, 'api_keys'],
  ])('%s locks in order', async (name, locking, values, table, column = 'id') => {
    const key = `CASE ${column}::text WHEN '8' THEN '${low}' WHEN '9' THEN '${high}' ELSE ${column}::text END`;
    let free: unknown[] = [];
    await runBehind(
      (tx) => tx.query(`SELECT FROM ${table} WHERE ${key} = '${low}' FOR UPDATE`),
      async (tx) => {
        await readTables(tx);
        await tx.query(locking as string, values());
      },
      async () =>
        (free = await database.query(`SELECT FROM ${table} WHERE ${key} = '${high}' FOR UPDATE SKIP LOCKED`)),
    );
    expect([name, free]).toEqual([name, [{}]]);
  });
});

describe('of two rows, the later of which was due earlier', () => {
  const early = randomUUID();
  const owner = { lease_token: randomUUID(), lease_until: 'yesterday' };

  beforeAll(async () => {
    const campaign_id = await insert('campaigns', { status: 'running', due_at: tomorrow() }, 'ordered');
    const action_id = await insert('bulk_actions', { ...owner, due_at: tomorrow() }, 'orderedAction');
    const endpoint_id = await insert('webhook_endpoints', { ...owner, read_to: 99 }, 'orderedEndpoint');
    for (const [key, due, line] of [
      [randomUUID(), '2001-01-02', 9],
      [early, '2001-01-01', 8],
    ] as const) {
      const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(database.pool);
      const closed = { closed_at: 'yesterday', close_reason: 'settled' };
      await insert('onboarding_sessions', { id: key, user_id, grid_location_id, ...closed });
      await insert('session_polls', { session_id: key, user_id, due_at: due, phase: 'watching' });
      await database.query('UPDATE stall_looks SET look_at = $2 WHERE subject = $1', [key, due]);
      await insert('registrations', { id: key, next_attempt_at: due });
      const wish = { wish_brand: 'acme', wished_at: due, wish_due_at: due };
      const opened = { opened_at: due, reminder_due_at: due };
      await insert('invitations', { id: key, grid_location_id, expires_at: due, ...wish, ...opened });
      await insert('campaigns', { id: key, status: 'running', due_at: due });
      await insert('campaign_rows', { campaign_id, line, status: 'accepted', tenant_reference: key });
      await insert('bulk_actions', { id: key, due_at: due });
      await insert('bulk_action_items', { action_id, ordinal: line });
      const position = await insert('domain_events', { subject: key });
      await insert('webhook_deliveries', { endpoint_id, position, subject: key });
      await insert('webhook_subjects', { endpoint_id, subject: key, due_at: due });
    }
  });

  it.each<[...Row, taken?: unknown]>([
    ['SELECT_SETTLED', polls.SELECT_SETTLED, () => [1]],
    ['STOP_SETTLED', polls.STOP_SETTLED, () => [1]],
    ['LOCK_DUE (registrations)', registrations.LOCK_DUE, () => [1]],
    ['LOCK_OVERDUE', invitations.LOCK_OVERDUE, () => [null, 1]],
    ['LOCK_WISHES', invitations.LOCK_WISHES, () => [1]],
    ['LOCK_DUE (reminders)', reminders.LOCK_DUE, () => [1]],
    ['LOCK_DUE (stalls)', stalls.LOCK_DUE, () => [['session'], 1]],
    ['FIND_DUE (campaigns)', drain.FIND_DUE, () => []],
    ['FIND_DUE (bulk)', bulk.FIND_DUE, () => []],
    ['TAKE_NEXT', drain.TAKE_NEXT, () => [id.ordered, 1]],
    [
      'LOCK_NEXT_ITEMS',
      bulk.LOCK_NEXT_ITEMS,
      () => [id.orderedAction, owner.lease_token, 1, []],
      undefined,
      8,
    ],
    ['TAKE', TAKE, () => [id.orderedEndpoint, owner.lease_token, [], 1]],
  ])('%s takes it first', async (...[name, statement, values, , taken = early]) => {
    const inOrder = async (tx: Transaction) => {
      await readTables(tx);
      return tx.query(statement as string, values());
    };
    await whileLocked([name, inOrder, () => []], async ([row]) =>
      expect(Object.values(row as object)).toContain(taken),
    );
  });
});

it('two revocations that wait while a transaction acts with the key are one', async () => {
  const act = (tx: Transaction) => tx.query(invitations.FIND_LOCATIONS, [id.place, null, id.key]);
  const revoke = () => new ManagedKeysStore(database).revoke(id.key!, 'anna');
  await runBehind(act, () => Promise.all([revoke(), revoke()]));
  const text = `SELECT FROM audit_log WHERE action = 'api_key.revoked' AND target = $1`;
  expect(await database.query(text, [id.key])).toHaveLength(1);
});
