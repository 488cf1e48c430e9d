import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { ErasuresStore } from '../../../src/privacy/erasure/erasures.store.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { Database } from '../../../src/platform/database/database.js';
import { EventsStore } from '../../../src/feed/events.store.js';
import { Retention } from '../../../src/privacy/retention/retention.service.js';
import {
  CLEAR_CAMPAIGNS,
  PRUNE_EVENTS,
  PRUNE_REGISTRATIONS,
  PRUNE_SESSIONS,
} from '../../../src/privacy/retention/retention.sql.js';
import { HANDLER, insertRow, type Table } from '../../db/valid-rows.js';
import { useTestDatabases } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { changeStatement } from '../support/changed-statement.js';
import { itAtLength, promise } from '../support/promise.js';
import { waitForLockWaits } from '../support/waits.js';

const DAYS = {
  RETENTION_OBSERVATIONS_DAYS: '10',
  RETENTION_DELIVERIES_DAYS: '10',
  RETENTION_EVENTS_DAYS: '10',
  RETENTION_SESSIONS_DAYS: '100',
  RETENTION_REGISTRATIONS_DAYS: '10',
  RETENTION_STARTS_DAYS: '10',
  RETENTION_AUDIT_DAYS: '10',
  CAMPAIGN_ROWS_DAYS: '10',
};
const NOTHING = {
  sessions: 0,
  observations: 0,
  deliveries: 0,
  bulkActions: 0,
  events: 0,
  registrations: 0,
  starts: 0,
  audit: 0,
  campaignRows: 0,
  forgottenSessions: 0,
};
const THREE_WEEKS = 21;

const testDatabase = useTestDatabases();
let database: Database;
let client: pg.Client;
let userId: string;
let gridLocationId: string;

beforeEach(async () => {
  database = testDatabase.open();
  client = await testDatabase.connect();
  userId = (await insertRow(client, 'users')).id as string;
  gridLocationId = (await insertRow(client, 'grid_locations', { user_id: userId })).id as string;
});

const prune = (batch?: number, days: Partial<typeof DAYS> = {}) =>
  new Retention(database, environmentFor(testDatabase.url, { ...DAYS, ...days })).prune(undefined, batch);

const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
const idsIn = async (table: string, id = 'id'): Promise<string[]> =>
  (await client.query<{ id: string }>(`SELECT ${id}::text AS id FROM ${table} ORDER BY 1`)).rows.map(
    (row) => row.id,
  );

/** Inserts a session with two observations. Returns its id. */
async function insertSession(closedDaysAgo: number | null): Promise<string> {
  const at = daysAgo(closedDaysAgo ?? 500);
  const closed = closedDaysAgo === null ? {} : { closed_at: at, close_reason: 'settled', changed_at: at };
  const { id } = await insertRow(client, 'onboarding_sessions', {
    user_id: userId,
    grid_location_id: gridLocationId,
    superseded_at: at,
    ...closed,
  });
  for (let nth = 0; nth < 2; nth++)
    await insertRow(client, 'session_observations', { session_id: id, observed_at: at });
  return id as string;
}

/** Inserts events whose ages in days are given, the oldest first. Returns their ids. */
async function insertEvents(...days: number[]): Promise<string[]> {
  const ids: string[] = [];
  for (const old of days) {
    const row = {
      id: randomUUID(),
      name: 'remote.recovered',
      subject: 'remote',
      data: {},
      time: daysAgo(old),
    };
    ids.push((await insertRow(client, 'domain_events', row)).id as string);
  }
  await client.query('SELECT sequence_events(true)');
  return ids;
}

/** Inserts a registration that has had its status for this number of days. Returns its id. */
async function insertRegistration(status: string, days: number): Promise<string> {
  const due = status === 'pending' ? { next_attempt_at: 'now' } : {};
  const owner = status === 'registered' ? { user_id: userId } : {};
  const row = { status, created_at: daysAgo(days), updated_at: daysAgo(days), ...due, ...owner };
  return (await insertRow(client, 'registrations', row)).id as string;
}

const insertEndpoint = async (readTo: number, disabledAt: Date | null = null): Promise<string> =>
  (
    await insertRow(client, 'webhook_endpoints', {
      read_to: readTo,
      ...(disabledAt && { disabled_at: disabledAt, disabled_reason: 'failing' }),
    })
  ).id as string;

describe('R59: history ends where it may', () => {
  it('deletes closed sessions and their responses by their age, and nothing of an open one', async () => {
    const open = await insertSession(null);
    const recent = await insertSession(5);
    const ended = await insertSession(50);
    // A session that was recorded again after it had been deleted once.
    await insertRow(client, 'pruned_sessions', { session_id: await insertSession(200) });
    // A session that was open for long without a change, and one that was refreshed long after its end.
    await client.query('UPDATE onboarding_sessions SET changed_at = created_at WHERE id = $1', [open]);
    const refreshed = await insertSession(200);
    await client.query('UPDATE onboarding_sessions SET changed_at = now() WHERE id = $1', [refreshed]);
    expect(await prune()).toMatchObject({ sessions: 1, observations: 2 });
    expect(await idsIn('onboarding_sessions')).toEqual([open, recent, ended, refreshed].sort());
    expect(new Set(await idsIn('session_observations', 'session_id'))).toEqual(
      new Set([open, recent, refreshed]),
    );
    expect(await prune()).toEqual(NOTHING);
  });

  it('leaves no session to an erasure that begins before the deletion is committed', async () => {
    const subject = await insertSession(200);
    const data = { tenantReference: 'canary' };
    await insertRow(client, 'domain_events', { name: 'session.closed', subject, data });
    await client.query('BEGIN');
    await client.query(PRUNE_SESSIONS, [100, 100, '0', 0]);
    const erasing = new ErasuresStore(database, new Cipher(environmentFor(testDatabase.url))).eraseUser(
      userId,
      'test',
    );
    await waitForLockWaits(database);
    await client.query('COMMIT');
    expect(await erasing).toMatchObject({ erased: { sessions: 0, events: 1 } });
    const { rows } = await client.query('DELETE FROM domain_events WHERE subject = $1 RETURNING data', [
      subject,
    ]);
    expect(rows).toEqual([{ data: { tenantReference: null } }]);
  });

  it('deletes deliveries that have ended, and none that is still to be sent', async () => {
    const endpoint = await insertEndpoint(1_000);
    const events = await insertEvents(50, 50, 50, 5);
    const { rows } = await client.query<{ position: string }>(
      'SELECT position FROM domain_events ORDER BY sequence',
    );
    const statuses = ['delivered', 'failed', 'pending', 'delivered'];
    const ids: unknown[] = [];
    for (const [index, status] of statuses.entries()) {
      const row = await insertRow(client, 'webhook_deliveries', {
        endpoint_id: endpoint,
        position: rows[index]!.position,
        subject: 'remote',
        status,
        ...(status !== 'pending' && { next_attempt_at: null, attempts: 1, last_attempt_at: 'now' }),
        created_at: daysAgo([50, 50, 50, 5][index]!),
      });
      ids.push(row.id);
    }
    expect(await prune()).toMatchObject({ deliveries: 2, events: 2 });
    expect(await idsIn('webhook_deliveries')).toEqual([ids[2], ids[3]].sort());
    expect(await idsIn('domain_events')).toEqual([events[2], events[3]].sort());
  });

  /** Inserts five events, of which all readers have read the first two, and prunes. Returns for each event whether it still exists. */
  async function findKept(): Promise<boolean[]> {
    const events = await insertEvents(60, 50, THREE_WEEKS, THREE_WEEKS - 1, 15);
    await insertEndpoint(5);
    await insertEndpoint(2, daysAgo(THREE_WEEKS));
    await prune();
    const kept = await idsIn('domain_events');
    return events.map((id) => kept.includes(id));
  }

  it('deletes no event that a reader has not read, even if the reader is disabled and three weeks behind', async () => {
    const kept = await findKept();
    promise('R59', {
      figure: `${kept.slice(2).filter((each) => !each).length} of 3 events lost that a reader has still to get`,
      bound: '0',
    });
    expect(kept).toEqual([false, false, true, true, true]);
  });

  itAtLength('turns red when events are deleted by their age alone', async () => {
    const readers =
      'sequence <= ALL (SELECT read_to FROM webhook_endpoints UNION ALL SELECT read_to FROM broker_positions)';
    changeStatement(database, PRUNE_EVENTS, readers, 'true');
    expect(await findKept()).toEqual([false, false, false, false, true]);
  });

  it('deletes neither the newest event, whose sequence the next one follows, nor events that the broker or a handler has not received', async () => {
    const [first, , last] = await insertEvents(50, 40, 30);
    const slow = await insertRow<{ id: string }>(client, 'webhook_endpoints', { ...HANDLER, read_to: 9 });
    const { rows } = await client.query<{ position: string }>(
      'SELECT position FROM domain_events ORDER BY sequence LIMIT 1',
    );
    await insertRow(client, 'webhook_deliveries', {
      endpoint_id: slow.id,
      position: rows[0]!.position,
      subject: 'remote',
    });
    expect(await prune()).toMatchObject({ events: 1 });
    expect(await idsIn('domain_events')).toEqual([first, last].sort());
    const [next] = await insertEvents(0);
    const { rows: numbered } = await client.query('SELECT sequence FROM domain_events WHERE id = $1', [next]);
    expect(numbered).toEqual([{ sequence: '4' }]);

    await client.query('DELETE FROM webhook_endpoints');
    await insertRow(client, 'broker_positions', { name: 'nats', read_to: 0 });
    expect(await prune()).toMatchObject({ events: 0 });
  });

  it('tells a reader of the feed who was away for longer that it has missed events, and no other', async () => {
    const [, , owed] = await insertEvents(60, 50, 40, 30, 5);
    const endpoint_id = await insertEndpoint(9);
    const { position } = (await client.query('SELECT position FROM domain_events WHERE id = $1', [owed]))
      .rows[0];
    await insertRow(client, 'webhook_deliveries', { endpoint_id, position, subject: 'remote' });
    expect(await prune()).toMatchObject({ events: 3 });
    const feed = new EventsStore(database);
    expect((await feed.readPage('0', 1)).next).toBe('3');
    const losses = ['0', '1', '2', '3', '4', '5', '6'].map((at) => feed.findLoss(at));
    const loss = { reason: 'deleted', last: '2' };
    expect(await Promise.all(losses)).toEqual([null, loss, null, null, null, null, null]);
  });

  it('deletes registrations that were rejected or discarded, and none that is open or has a user', async () => {
    const kept = [
      await insertRegistration('rejected', 5),
      await insertRegistration('pending', 50),
      await insertRegistration('uncertain', 50),
      await insertRegistration('registered', 50),
    ];
    await insertRegistration('rejected', 50);
    await insertRegistration('discarded', 50);
    expect(await prune()).toEqual({ ...NOTHING, registrations: 2 });
    expect(await idsIn('registrations')).toEqual(kept.sort());
  });

  /** Inserts a discarded registration and its event, both older than any retention. The endpoint `endpoint` has not read the event. */
  async function insertUnread(): Promise<{ id: string; endpoint: string }> {
    const id = await insertRegistration('discarded', 50);
    const event = { name: 'user.registration_discarded', subject: id, time: daysAgo(20) };
    await insertRow(client, 'domain_events', event);
    await insertEvents(0);
    return { id, endpoint: await insertEndpoint(0) };
  }

  it('deletes a registration only after its events, and leaves no request id of it', async () => {
    const { id, endpoint } = await insertUnread();
    await insertRow(client, 'audit_log', {
      action: 'registration.discarded',
      target: id,
      request_id: 'canary',
    });
    expect(await prune()).toEqual(NOTHING);
    await client.query('UPDATE webhook_endpoints SET read_to = 1 WHERE id = $1', [endpoint]);
    expect(await prune()).toEqual({ ...NOTHING, events: 1, registrations: 1 });
    const { rows } = await client.query('SELECT action, request_id FROM audit_log');
    expect(rows).toEqual([{ action: 'registration.discarded', request_id: null }]);
  });

  itAtLength('turns red when registrations are deleted before their events', async () => {
    const afterItsEvents = 'AND NOT EXISTS (SELECT FROM domain_events WHERE subject = registration.id::text)';
    changeStatement(database, PRUNE_REGISTRATIONS, afterItsEvents, '');
    await insertUnread();
    expect(await prune()).toEqual({ ...NOTHING, registrations: 1 });
  });

  it('deletes bulk actions with their results and reasons by their end, and none that has not ended', async () => {
    const insert = async (finishedDaysAgo: number | null): Promise<string> => {
      const ended = finishedDaysAgo === null ? {} : { finished_at: daysAgo(finishedDaysAgo) };
      const { id } = await insertRow(client, 'bulk_actions', { ...ended, created_at: daysAgo(50) });
      await insertRow(client, 'bulk_action_items', { action_id: id });
      const entry = { action: 'bulk_action.created', target: id, request_id: 'canary' };
      await insertRow(client, 'audit_log', { ...entry, details: { ids: 1, reason: 'canary' } });
      return id as string;
    };
    const kept = [await insert(null), await insert(5)];
    const gone = await insert(20);
    expect(await prune()).toEqual({ ...NOTHING, bulkActions: 1 });
    expect(await idsIn('bulk_actions')).toEqual(kept.sort());
    expect(await idsIn('bulk_action_items', 'action_id')).toEqual(kept.sort());
    const { rows } = await client.query(
      `SELECT target FROM audit_log WHERE request_id IS NULL AND details = '{"ids": 1}' UNION ALL
       SELECT target FROM audit_log WHERE request_id IS NOT NULL AND details ? 'reason'`,
    );
    const [cleared, ...others] = rows.map(({ target }) => String(target));
    expect([cleared, others.sort()]).toEqual([gone, kept]);
  });

  it('deletes audit entries, and no proof of an erasure', async () => {
    const insertEntry = async (action: string, days: number) =>
      (await insertRow(client, 'audit_log', { action, at: daysAgo(days) })).id as string;
    await insertEntry('api_key.revoked', 50);
    const erased = await insertEntry('user.erased', 50);
    const recent = await insertEntry('api_key.created', 5);
    await insertRow(client, 'erasures', { user_id: userId, erased_at: daysAgo(50) });
    expect(await prune()).toEqual({ ...NOTHING, audit: 1 });
    expect(await idsIn('audit_log')).toEqual([erased, recent].sort());
    expect(await idsIn('erasures', 'user_id')).toEqual([userId]);
  });

  it('empties the rows of campaigns that have ended, and keeps their counts', async () => {
    const [ended, dryRun, recent, running] = await Promise.all(
      [
        { status: 'finished', finished_at: daysAgo(12) },
        { status: 'checked', finished_at: daysAgo(11) },
        { status: 'finished', finished_at: daysAgo(5) },
        { status: 'running', created_at: daysAgo(50) },
      ].map(async (values) => (await insertRow(client, 'campaigns', values)).id as string),
    );
    const row = {
      status: 'accepted',
      tenant_reference: 'canary',
      ean: '541448860004178019',
      fields: '["canary"]',
    };
    for (const campaign_id of [ended, dryRun, recent, running])
      await insertRow(client, 'campaign_rows', { campaign_id, ...row });
    await client.query(
      `INSERT INTO campaign_rows (campaign_id, line, status, tenant_reference) SELECT $1, n, 'invalid', 'canary' FROM generate_series(3, 1500) AS n`,
      [ended],
    );
    expect(await prune()).toEqual({ ...NOTHING, campaignRows: 1500 });
    expect(await prune()).toEqual(NOTHING);
    const { rows } = await client.query(
      `SELECT campaign_id AS id, count(*)::int, count(tenant_reference)::int AS named, cleared_at IS NOT NULL AS cleared
         FROM campaign_rows JOIN campaigns ON id = campaign_id GROUP BY 1, 4`,
    );
    expect(new Set(rows)).toEqual(
      new Set([
        { id: ended, count: 1499, named: 0, cleared: true },
        { id: dryRun, count: 1, named: 0, cleared: true },
        { id: recent, count: 1, named: 1, cleared: false },
        { id: running, count: 1, named: 1, cleared: false },
      ]),
    );
  });

  it('empties a campaign from its first row, even if another replica has ended the previous one', async () => {
    const { id } = await insertRow(client, 'campaigns', { status: 'finished', finished_at: daysAgo(12) });
    for (const line of [2, 3, 4])
      await insertRow(client, 'campaign_rows', { campaign_id: id, line, tenant_reference: 'canary' });
    await client.query(CLEAR_CAMPAIGNS, [10, 1_000, `${randomUUID()}/3`, 0]);
    const { rows } = await client.query('SELECT line, tenant_reference FROM campaign_rows ORDER BY line');
    expect(rows).toEqual([2, 3, 4].map((line) => ({ line, tenant_reference: null })));
  });

  /** Each inserts an old row of its kind, in the table of that name. */
  const OLD: Readonly<
    Partial<Record<keyof typeof NOTHING, readonly [Table, key: string, () => Promise<unknown>]>>
  > = {
    sessions: ['onboarding_sessions', 'id', () => insertSession(200)],
    observations: ['session_observations', 'session_id', () => insertSession(50)],
    deliveries: [
      'webhook_deliveries',
      'id',
      async () => {
        const [id] = await insertEvents(50);
        const event = await client.query<{ position: string }>(
          'SELECT position FROM domain_events WHERE id = $1',
          [id],
        );
        await insertRow(client, 'webhook_deliveries', {
          endpoint_id: (await idsIn('webhook_endpoints'))[0] ?? (await insertEndpoint(0)),
          position: event.rows[0]!.position,
          status: 'delivered',
          next_attempt_at: null,
          created_at: daysAgo(50),
        });
      },
    ],
    bulkActions: [
      'bulk_actions',
      'id',
      () => insertRow(client, 'bulk_actions', { finished_at: daysAgo(50) }),
    ],
    events: ['domain_events', 'id', () => insertEvents(50)],
    registrations: ['registrations', 'id', () => insertRegistration('rejected', 50)],
    starts: [
      'session_starts',
      'id',
      () =>
        insertRow(client, 'session_starts', {
          grid_location_id: gridLocationId,
          status: 'failed',
          updated_at: daysAgo(50),
        }),
    ],
    audit: ['audit_log', 'id', () => insertRow(client, 'audit_log', { at: daysAgo(50) })],
    forgottenSessions: ['pruned_sessions', 'session_id', () => insertRow(client, 'pruned_sessions')],
  };

  /** Makes PostgreSQL refuse to change or delete the rows. Returns a function that ends this. */
  async function refuse(table: string, key: string, ids: readonly string[]): Promise<() => Promise<unknown>> {
    await client.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON ${table} FOR EACH ROW
        WHEN (old.${key}::text = ANY('{${ids.join()}}')) EXECUTE FUNCTION refuse()`);
    return () => client.query('DROP FUNCTION refuse CASCADE');
  }

  it.each(Object.entries(OLD))(
    'deletes all other %s if PostgreSQL refuses the first and another one',
    async (kind, [table, key, insertOld]) => {
      for (let nth = 0; nth < 7; nth++) await insertOld();
      const ids = [...new Set(await idsIn(table, key))];
      const { rows } = await client.query<{ id: string }>(`SELECT ${key}::text AS id FROM ${table} LIMIT 1`);
      const refused = [rows[0]!.id, ids.findLast((id) => id !== rows[0]!.id)!];
      // The newest event stays, whatever its age.
      await insertEvents(1);
      await refuse(table, key, refused);
      expect(await prune(4)).toMatchObject({ [kind]: kind === 'observations' ? 10 : 5 });
      expect(await idsIn(table, key)).toEqual(expect.arrayContaining(refused));
    },
  );

  it('empties all other rows of campaigns if PostgreSQL refuses some, and ends a campaign with the last of its rows', async () => {
    const campaigns: unknown[] = [];
    for (let nth = 0; nth < 3; nth++) {
      const { id } = await insertRow(client, 'campaigns', {
        status: 'finished',
        finished_at: daysAgo(20 - nth),
      });
      campaigns.push(id);
      for (let line = 2; line < 9; line++)
        await insertRow(client, 'campaign_rows', {
          campaign_id: id,
          line,
          tenant_reference: `${nth}/${line}`,
        });
    }
    const findNamed = () => idsIn('campaign_rows WHERE tenant_reference IS NOT NULL', 'tenant_reference');
    const findOpen = () => idsIn('campaigns WHERE cleared_at IS NULL');
    const allowRows = await refuse('campaign_rows', 'tenant_reference', ['0/2', '0/5', '1/8']);
    expect(await prune(4)).toEqual({ ...NOTHING, campaignRows: 18 });
    expect(await findNamed()).toEqual(['0/2', '0/5', '1/8']);
    expect(await findOpen()).toEqual(campaigns.slice(0, 2).toSorted());
    await allowRows();
    await refuse('campaigns', 'id', [String(campaigns[0])]);
    await prune(4);
    expect(await findNamed()).toEqual([]);
    expect(await findOpen()).toEqual([campaigns[0]]);
  });

  it('ends a kind of which PostgreSQL refuses everything, and no other', async () => {
    for (let nth = 0; nth < 3; nth++) await insertSession(200);
    await insertRegistration('rejected', 50);
    await client.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE DELETE ON onboarding_sessions EXECUTE FUNCTION refuse()`);
    expect(await prune()).toEqual({ ...NOTHING, observations: 6, registrations: 1 });
  });

  it('deletes all old rows of each kind by statements that read two of them, and keeps what is between', async () => {
    await insertEvents(60, 50, 40, 30, 20, 15, 1);
    const { rows } = await client.query<{ position: string }>(
      'SELECT position FROM domain_events ORDER BY sequence',
    );
    const endpoints = [await insertEndpoint(1_000), await insertEndpoint(1_000)];
    const kept = new Map<Table, unknown[]>();
    const keep = async (table: Table, values: Readonly<Record<string, unknown>>) => {
      const row = await insertRow(client, table, values);
      kept.set(table, [...(kept.get(table) ?? []), row.id]);
    };
    const delivered = { status: 'delivered', next_attempt_at: null, created_at: daysAgo(50) };
    await keep('webhook_deliveries', { endpoint_id: endpoints[0], position: rows[2]!.position });
    const failed = { grid_location_id: gridLocationId, status: 'failed', updated_at: daysAgo(50) };
    for (let nth = 0; nth < 5; nth++) {
      await insertSession(200);
      await insertSession(50);
      await insertRegistration('rejected', 50);
      await keep('session_starts', { ...failed, orphans: 1 });
      await insertRow(client, 'session_starts', failed);
      await keep('session_starts', { ...failed, updated_at: daysAgo(5) });
      await keep('audit_log', { action: 'user.erased', at: daysAgo(50) });
      await insertRow(client, 'audit_log', { at: daysAgo(50) });
      await insertRow(client, 'bulk_actions', { finished_at: daysAgo(50) });
      const { position } = rows[nth === 2 ? 5 : nth]!;
      for (const endpoint_id of endpoints)
        await insertRow(client, 'webhook_deliveries', { endpoint_id, position, ...delivered });
    }
    const announced: string[] = [];
    const campaign_id = (
      await insertRow(client, 'campaigns', { status: 'finished', finished_at: daysAgo(50) })
    ).id;
    await insertRow(client, 'campaign_rows', { campaign_id, tenant_reference: 'canary' });
    await keep('session_starts', { ...failed, status: 'sending' });
    for (let nth = 0; nth < 3; nth++) {
      const { session_id } = await insertRow<{ session_id: string }>(client, 'pruned_sessions');
      await insertRow(client, 'domain_events', { subject: session_id });
      announced.push(session_id);
    }
    // Each kind has a setting of its own, which is 0 for "never".
    const never = Object.fromEntries(Object.keys(DAYS).map((name) => [name, '0']));
    expect(await prune(2, never)).toEqual(NOTHING);
    const byName: [keyof typeof DAYS, Partial<typeof NOTHING>][] = [
      ['RETENTION_SESSIONS_DAYS', { sessions: 5 }],
      ['RETENTION_OBSERVATIONS_DAYS', { observations: 10 }],
      ['RETENTION_DELIVERIES_DAYS', { deliveries: 10, bulkActions: 5 }],
      ['RETENTION_EVENTS_DAYS', { events: 5, forgottenSessions: 5 }],
      ['RETENTION_REGISTRATIONS_DAYS', { registrations: 5 }],
      ['RETENTION_STARTS_DAYS', { starts: 5 }],
      ['RETENTION_AUDIT_DAYS', { audit: 5 }],
      ['CAMPAIGN_ROWS_DAYS', { campaignRows: 1 }],
    ];
    for (const [name, pruned] of byName)
      expect(await prune(2, { ...never, [name]: DAYS[name] })).toEqual({ ...NOTHING, ...pruned });
    for (const [table, ids] of kept) expect(await idsIn(table)).toEqual(ids.sort());
    expect(await idsIn('pruned_sessions', 'session_id')).toEqual(announced.sort());
  });
});
