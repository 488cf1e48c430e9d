import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Sampler } from '../../../src/status/history/sampler.service.js';
import type { StatusHistoryView } from '../../../src/status/history/history.view.js';
import { FIND_OLDEST_TRANSACTION } from '../../../src/status/status.sql.js';
import { StatusStore } from '../../../src/status/status.store.js';
import type { StatusView } from '../../../src/status/status.view.js';
import { Database } from '../../../src/platform/database/database.js';
import { findTableLocks } from '../../../src/platform/database/table-locks.js';
import { HANDLER, insertCustomer, insertRow, type Table } from '../../db/valid-rows.js';
import { TestClient } from '../../setup/client.js';
import { emptyTables } from '../../setup/database/test-database.js';
import { fromNow, insertReplica } from '../../setup/replicas.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';

/** The type of a value after JSON.stringify and JSON.parse. */
type Json<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Json<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Json<T[Key]> }
      : T;
type History = Json<StatusHistoryView>;
type Status = Json<StatusView>;

const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);
let database: Database;
beforeAll(() => {
  database = service.database;
});

/** Matches a duration that began so many seconds before the rows were inserted, however slow the machine is. */
const about = (seconds: number): unknown => ({
  asymmetricMatch: (actual: unknown) => Number(actual) >= seconds - 1 && Number(actual) < seconds + 90,
});

const status = async () => (await client.call<Status>('GET', '/status')).body;

describe('the facts', () => {
  const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1_000);
  const HOUR = 3_600;
  const DAY = 24 * HOUR;
  const insert = (...given: Parameters<typeof insertRow> extends [unknown, ...infer Rest] ? Rest : never) =>
    insertRow<{ id: string; position: string }>(database.pool, ...given);
  /** Inserts one row for each of `values`. */
  const insertAll = async (table: Table, values: readonly Readonly<Record<string, unknown>>[]) => {
    for (const each of values) await insert(table, each);
  };
  const ofLocation = async () => ({ grid_location_id: (await insertCustomer(database.pool)).gridLocationId });
  const DISABLED = { disabled_at: ago(9), disabled_reason: 'failing' };

  const clear = () =>
    emptyTables(
      database,
      `users, grid_locations, registrations, domain_events, webhook_endpoints, broker_positions, poll_batches, remote_drift, stalls,
         stall_causes, status_samples`,
    );
  beforeEach(clear);
  afterAll(clear);

  /** What is inserted, and what the facts then say. Each has a row that counts and one that just does not. */
  const FACTS: [what: string, insert: () => Promise<unknown>, facts: object][] = [
    [
      'registrations that are pending, or were rejected within a day',
      () =>
        insertAll('registrations', [
          { status: 'pending', created_at: ago(500) },
          { status: 'pending', created_at: ago(100) },
          {
            status: 'uncertain',
            next_attempt_at: null,
            attempts: 1,
            sent_at: ago(300),
            created_at: ago(900),
          },
          {
            status: 'uncertain',
            next_attempt_at: null,
            attempts: 1,
            sent_at: ago(200),
            created_at: ago(800),
          },
          { status: 'rejected', next_attempt_at: null, attempts: 1, updated_at: ago(DAY - 600) },
          { status: 'rejected', next_attempt_at: null, attempts: 1, updated_at: ago(DAY + 60) },
          { status: 'discarded', next_attempt_at: null, attempts: 1 },
        ]),
      {
        shared: {
          registrations: { pending: 2, oldestPendingSeconds: about(500), rejected: 1 },
        },
      },
    ],
    [
      'starts whose lease is over, and orphans of a day and of an hour',
      async () => {
        for (const values of [
          { status: 'sending', lease_until: ago(200) },
          { status: 'sending', lease_until: ago(100) },
          { status: 'sending', lease_until: ago(-100) },
          { status: 'failed', lease_until: ago(200), orphans: 2, updated_at: ago(HOUR - 600) },
          { status: 'failed', lease_until: ago(200), orphans: 1, updated_at: ago(HOUR + 60) },
          { status: 'failed', lease_until: ago(200), orphans: 4, updated_at: ago(DAY + 60) },
        ])
          await insert('session_starts', { ...(await ofLocation()), ...values });
      },
      { shared: { starts: { abandoned: 2, oldestAbandonedSeconds: about(200), orphans: 3, newOrphans: 2 } } },
    ],
    [
      'endpoints of webhooks that are enabled, without handlers',
      () =>
        insertAll('webhook_endpoints', [
          {},
          { failures: 2, failing_since: ago(300) },
          { failures: 1, failing_since: ago(100) },
          { ...DISABLED, failures: 9, failing_since: ago(900) },
          { ...DISABLED, disabled_reason: 'requested' },
          { ...HANDLER, failures: 3, failing_since: ago(900) },
        ]),
      {
        outbox: {
          readers: {
            webhooks: { endpoints: 3 },
          },
        },
      },
    ],
    [
      'deliveries that are pending, of enabled endpoints and of handlers',
      async () => {
        const endpoints = [{ read_to: 9 }, { read_to: 9, ...DISABLED }, { ...HANDLER, read_to: 9 }];
        for (const values of endpoints) {
          const { id: endpoint_id } = await insert('webhook_endpoints', values);
          for (const [nth, delivery] of [
            { created_at: ago(300) },
            { created_at: ago(200), attempts: 2 },
            { created_at: ago(100), attempts: 1 },
            { created_at: ago(900), attempts: 1, status: 'delivered', next_attempt_at: null },
          ].entries()) {
            const { position } = await insert('domain_events', {
              sequence: endpoints.indexOf(values) * 4 + nth - 3,
            });
            await insert('webhook_deliveries', { endpoint_id, position, ...delivery });
          }
        }
      },
      {
        outbox: {
          readers: {
            webhooks: { undelivered: 3, failing: 2, unread: 0, oldestUndeliveredSeconds: about(300) },
            handlers: {
              undelivered: 3,
              failing: 2,
              oldestFailingSeconds: about(200),
              oldestUndeliveredSeconds: about(300),
            },
          },
        },
      },
    ],
    [
      'events that readers have not read, each by what it reads',
      async () => {
        for (const [sequence, name] of [
          [1, 'session.online'],
          [2, 'session.online'],
          [3, 'session.lost'],
          [4, 'session.online'],
        ] as const)
          await insert('domain_events', { sequence, name, time: ago(500 - 100 * sequence) });
        await insertAll('webhook_endpoints', [
          { read_to: 2 },
          { read_to: 3 },
          { read_to: 0, ...DISABLED },
          { ...HANDLER, read_to: 1 },
        ]);
        await insert('broker_positions', { read_to: 1, lease_token: randomUUID(), lease_until: ago(1) });
      },
      {
        outbox: {
          unsequenced: 0,
          oldestUnsequencedSeconds: 0,
          readers: {
            webhooks: { unread: 2, undelivered: 0, oldestUndeliveredSeconds: about(200) },
            handlers: { undelivered: 2, failing: 0, oldestUndeliveredSeconds: about(300) },
            broker: { unpublished: 3, oldestUnpublishedSeconds: about(300), isPublishing: false },
          },
        },
      },
    ],
    [
      'differences from the interface, of an hour and in all',
      () =>
        insertAll('remote_drift', [
          { field: 'a', first_seen_at: ago(HOUR - 600) },
          { field: 'b', first_seen_at: ago(HOUR + 60) },
        ]),
      { deployment: { contractDrift: 2, newDrift: 1 } },
    ],
    [
      'clicks of owners that have waited for a minute',
      async () => {
        for (const seconds of [70, 10]) {
          const wish = { opened_at: ago(90), wished_at: ago(seconds), wish_due_at: ago(seconds) };
          await insert('invitations', { ...(await ofLocation()), ...wish });
        }
        await insert('invitations', { ...(await ofLocation()), opened_at: ago(90) });
      },
      { pendingWishes: 1 },
    ],
    [
      'what is stalled, by its cause',
      async () => {
        const stalls = [
          { cause: 'unrecognised' },
          { cause: 'too_many_inverters' },
          { cause: 'lost', evidence: { isClosed: false } },
          { cause: 'lost', evidence: { isClosed: true } },
          { cause: 'all_inverters_missing' },
          { cause: 'some_inverters_missing' },
          { kind: 'inverter', cause: 'shared' },
          { kind: 'inverter', cause: 'lost', evidence: { isClosed: false } },
        ];
        await insertAll(
          'stall_causes',
          stalls.filter(({ evidence }) => !evidence?.isClosed).map(({ evidence: _, ...each }) => each),
        );
        await insertAll('stalls', [...stalls, { cause: 'some_inverters_missing' }]);
      },
      {
        shared: {
          sessions: {
            unrecognised: 2,
            lost: 1,
            allInvertersMissing: 1,
            someInvertersMissing: 2,
            sharedInverters: 1,
          },
        },
      },
    ],
    [
      'sessions that are due, and those in a batch',
      async () => {
        const batch = async (lease_until: Date, size: number) => ({
          batch_id: (await insert('poll_batches', { lease_until, size })).id,
        });
        for (const values of [
          { due_at: ago(300) },
          { due_at: ago(200), phase: 'late' },
          { due_at: ago(-300) },
          { due_at: ago(400), ...(await batch(ago(-60), 2)) },
          { due_at: ago(-400), ...(await batch(ago(60), 3)) },
        ]) {
          const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(database.pool);
          const { id: session_id } = await insert('onboarding_sessions', { user_id, grid_location_id });
          await insert('session_polls', { session_id, user_id, ...values });
        }
      },
      {
        shared: {
          poller: {
            watched: 5,
            overdue: 2,
            oldestOverdueSeconds: about(300),
            reading: 5,
            batches: 2,
            abandonedBatches: 1,
          },
          budget: {
            late: [
              { phase: 'awaiting_owner', overdue: 1 },
              { phase: 'late', overdue: 1 },
            ],
          },
        },
      },
    ],
    [
      'sessions that are not due, by their last reads, and the longest interval of the last hours',
      async () => {
        for (const values of [
          { claimed_at: ago(900) },
          { claimed_at: ago(700), failures: 1 },
          { claimed_at: ago(600), last_error: 'status 500', phase: 'late' },
          { claimed_at: ago(400), failures: 1, failing_since: ago(200) },
          { claimed_at: ago(400), failures: 1, failing_since: ago(300), not_found: 1 },
        ]) {
          const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(database.pool);
          const { id: session_id } = await insert('onboarding_sessions', { user_id, grid_location_id });
          const polled = { session_id, user_id, due_at: ago(-300), checked_at: values.claimed_at, ...values };
          await insert('session_polls', polled);
        }
        for (const [hours, maxIntervalSeconds] of [
          [3, 90_000],
          [5, 99_000],
        ] as const)
          await insert('status_samples', { at: ago(hours * HOUR), figures: { maxIntervalSeconds } });
        const dead = { name: 'dead:1', role: 'worker', expiresAt: fromNow(-1) } as const;
        await insertReplica(database, dead);
        await database.query(`UPDATE remote_replicas SET reads_per_second = 7 WHERE name = 'dead:1'`);
      },
      {
        shared: {
          poller: {
            watched: 5,
            overdue: 0,
            readsPerSecond: 0,
            newestReadSeconds: null,
            longestWaitSeconds: about(200),
            phases: [
              { phase: 'awaiting_owner', oldestReadSeconds: about(700), medianReadSeconds: about(550) },
              { phase: 'late', oldestReadSeconds: about(600), medianReadSeconds: about(600) },
            ],
          },
          budget: { recentMaxIntervalSeconds: 90_000 },
        },
      },
    ],
  ];

  it.each(FACTS)('count %s', async (_what, insertRows, facts) => {
    await insertRows();
    expect(await service.app.get(StatusStore).readFacts()).toMatchObject(facts);
  });
});

describe('the activity', () => {
  const store = () => service.app.get(StatusStore);
  const activity = async () => (await store().readFacts()).shared.activity;

  /** Inserts a change of one session: `[to_state, from_state]` at so many days, hours and minutes before now. */
  async function change(
    to_state: string,
    from_state: string | null,
    days: number,
    minutes: number,
    times = 1,
  ) {
    const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(database.pool);
    const { id: session_id } = await insertRow<{ id: string }>(database.pool, 'onboarding_sessions', {
      user_id,
      grid_location_id,
    });
    const at = new Date(Date.now() - days * 86_400_000 - minutes * 60_000);
    for (let nth = 0; nth < times; nth++)
      await insertRow(database.pool, 'session_transitions', { session_id, to_state, from_state, at });
  }
  const start = (days: number, minutes: number, times = 1) =>
    change('awaiting_owner', null, days, minutes, times);

  beforeEach(() => database.query('TRUNCATE session_transitions'));

  it('counts the starts of an hour, and knows none that is usual before three days', async () => {
    for (const day of [0, 1, 2]) await start(day, 30, 2);
    // Does not count as a start of any of these hours.
    await start(3, 61);
    expect(await activity()).toMatchObject({ startsPerHour: 2, usualStartsPerHour: null });
  });

  it('knows the starts that are usual after exactly three days, the fewest of them', async () => {
    for (const [day, times] of [0, 3, 2, 4].entries()) await start(day, 30, times);
    await start(4, 1);
    expect(await activity()).toMatchObject({ startsPerHour: 0, usualStartsPerHour: 2 });
  });

  it('knows the changes that are usual once nothing has changed for 15 minutes', async () => {
    for (const day of [1, 2, 3]) await change('online', 'awaiting_installation', day, 5, day + 1);
    await start(4, 1_439);
    await change('online', 'awaiting_installation', 0, 16);
    // An adopted session has not changed.
    await change('online', null, 0, 1);
    const { usualChanges, unchangedSeconds } = await activity();
    expect(usualChanges).toBe(2);
    expect(unchangedSeconds).toBeGreaterThanOrEqual(960);
    await change('online', 'awaiting_installation', 0, 0);
    expect((await activity()).usualChanges).toBeNull();
  });
});

it('the oldest transaction is that of a client, never a process of PostgreSQL itself', async () => {
  // Simulates the rows of pg_stat_activity: an autovacuum may have worked for hours.
  const rows = `(VALUES (1, current_database(), now() - interval '5 hours', 'autovacuum worker', '', NULL, 'active'),
    (2, current_database(), now() - interval '4 hours', 'walsender', 'standby', 'alice', 'active'),
    (3, 'another', now() - interval '3 hours', 'client backend', 'psql', 'alice', 'active'),
    (4, current_database(), now() - interval '2 hours', 'client backend', 'pg_dump', 'alice', 'active'),
    (5, current_database(), now() - interval '1 hour', 'client backend', 'psql', 'alice', 'active'),
    (pg_backend_pid(), current_database(), now() - interval '9 hours', 'client backend', 'psql', 'alice', 'active')
  ) AS a (pid, datname, xact_start, backend_type, application_name, usename, state)`;
  const [oldest] = await database.query<{ process: string; seconds: number }>(
    FIND_OLDEST_TRANSACTION.replace('FROM pg_stat_activity', `FROM ${rows}`),
  );
  expect(oldest).toEqual({ process: 'process 5 (alice, psql, active)', seconds: expect.any(Number) });
  expect(Math.round(oldest!.seconds / 3_600)).toBe(1);
});

describe('GET /status/history', () => {
  beforeAll(async () => {
    // Stops the sampler, so that only the test writes samples. Waits for a sample that is being written.
    await Promise.all(service.app.get(Sampler)['loops'].map((loop) => loop.stop()));
    await waitFor('a sign of life', async () => (await status()).replicas.some(({ isAlive }) => isAlive));
    await startedAgo(10);
  });
  const startedAgo = (minutes: number) =>
    database.query(`UPDATE remote_replicas SET joined_at = now() - $1 * interval '1 minute'`, [minutes]);

  const history = async (hours: number) =>
    (await client.call<History>('GET', `/status/history?hours=${hours}`)).body;
  const count = async () =>
    Number((await database.query<{ count: string }>('SELECT count(*) FROM status_samples'))[0]!.count);
  const empty = () => database.query('TRUNCATE status_samples');
  const age = (minutes: number) =>
    database.query(`UPDATE status_samples SET at = at - $1 * interval '1 minute'`, [minutes]);
  const sample = () => service.app.get(Sampler).sampleIfDue();
  const plant = () =>
    database.query(
      `INSERT INTO stall_causes (kind, cause, waits_for, urgency, meaning, remedies)
       VALUES ('registration', 'uncertain', 'tenant', 'now', '', '{}') ON CONFLICT DO NOTHING;
       INSERT INTO stalls (kind, subject, cause, since, evidence)
       VALUES ('registration', gen_random_uuid(), 'uncertain', now() - interval '1 hour', '{}')`,
    );
  const since = async (of = 'no_worker') => (await status()).reasons.find(({ code }) => code === of)!.since;

  it('summarises a step by its worst sample, rates by their mean, and leaves out steps without one', async () => {
    await empty();
    // A history of 24 h has steps of 5 minutes. Here, the first step has 5 samples, the next has none, and the last has 1.
    await database.query(`
      INSERT INTO status_samples (at, reasons, figures)
      SELECT date_bin('5 minutes', now(), 'epoch') - interval '1 hour' + minute * interval '1 minute',
        CASE WHEN minute = 3 THEN '{"no_worker": "2026-01-01T00:00:00Z", "not_known": "2026-01-01T00:00:00Z"}'
             WHEN minute = 4 THEN '{"disk_full": "2026-01-01T00:00:00Z", "no_worker": "2026-01-01T00:00:00Z"}' ELSE '{}' END::jsonb,
        jsonb_build_object('latenessSeconds', minute, 'readsPerSecond', minute, 'liveReplicas', minute,
          'read_session.p95Seconds', 1.5 * minute, 'read_session.successShare', 1 - minute / 10.0, 'overdue', NULL)
      FROM unnest(ARRAY[0, 1, 2, 3, 4, 10]) AS minute`);
    const { stepSeconds, points } = await history(24);
    expect(stepSeconds).toBe(300);
    expect(points).toHaveLength(2);
    const [first, last] = points;
    expect(Date.parse(last!.at) - Date.parse(first!.at)).toBe(600_000);
    expect(first).toMatchObject({
      reasons: ['disk_full', 'no_worker'],
      lasted: [
        { code: 'disk_full', seconds: 60, until: new Date(Date.parse(first!.at) + 300_000).toISOString() },
        { code: 'no_worker', seconds: 120, until: new Date(Date.parse(first!.at) + 300_000).toISOString() },
      ],
      latenessSeconds: 4,
      readsPerSecond: 2,
      liveReplicas: 0,
      overdue: null,
      stretch: null,
    });
    expect(first!.operations.find(({ operation }) => operation === 'read_session')).toEqual({
      operation: 'read_session',
      calls: null,
      successShare: 0.6,
      p95Seconds: 6,
    });
    expect(last).toMatchObject({ reasons: [], latenessSeconds: 10 });
  });

  it('has at most some 300 points, whatever the hours', async () => {
    await empty();
    await database.query(`
      INSERT INTO status_samples (at, reasons, figures)
      SELECT date_trunc('minute', now()) - minute * interval '1 minute', '{}', '{}' FROM generate_series(0, 9999) AS minute`);
    for (const hours of [1, 6, 24, 168]) {
      const { points } = await history(hours);
      expect(points.length).toBeLessThanOrEqual(302);
      expect(points.length).toBeGreaterThan(Math.min(50, 59 * hours));
    }
  });

  it('has one sample of a minute, by whichever process, and none older than 8 days', async () => {
    await empty();
    await sample();
    await age(10);
    await sample();
    await age(8 * 24 * 60 - 5);
    await Promise.all([sample(), sample(), sample()]);
    expect(
      await database.query(`SELECT FROM status_samples WHERE at < now() - interval '1 hour'`),
    ).toHaveLength(1);
    // The new samples may fall into two minutes.
    expect([2, 3]).toContain(await count());
    const { points } = await history(1);
    expect(points.at(-1)).toMatchObject({ liveReplicas: 1, latenessSeconds: 0, stretch: 1, uncertain: 0 });
  });

  it('begins with the deployment: a worker that has not started yet is no trouble', async () => {
    await empty();
    await startedAgo(1);
    await sample();
    expect(await count()).toBe(0);
    await insertReplica(database, { name: 'worker:1', role: 'worker', expiresAt: fromNow(3_600) });
    await sample();
    expect((await history(1)).points).toMatchObject([{ reasons: [] }]);
    await database.query(`DELETE FROM remote_replicas WHERE name = 'worker:1'`);
    await empty();
    await startedAgo(10);
    await sample();
    expect((await history(1)).points).toMatchObject([{ reasons: ['no_worker'] }]);
  });

  it('has the time in which the status could not be read, but not a single failed attempt', async () => {
    await empty();
    const sampler = service.app.get(Sampler);
    const away = async (attempts: number, ms: number) => {
      const read = jest.spyOn(sampler['status'], 'read').mockRejectedValue(new Error('no connection'));
      for (let attempt = 0; attempt < attempts; attempt++) await sample().catch(() => undefined);
      read.mockRestore();
      sampler['unread'].since -= ms;
      await sample();
      return (await history(1)).points.filter(({ reasons }) => reasons.includes('database_unavailable'));
    };
    expect(await away(1, 180_000)).toEqual([]);
    const points = await waitFor('the attempts and the sample in one minute', async () => {
      await empty();
      const minute = () => Math.floor(Date.now() / 60_000);
      const began = minute();
      const found = await away(3, 180_000);
      return minute() === began && found;
    });
    expect(points).toHaveLength(4);
    expect(points[0]).toMatchObject({ liveReplicas: null });
    // The current reasons stay: the status was read after the outage.
    expect(points.at(-1)).toMatchObject({ reasons: ['database_unavailable', 'no_worker'], liveReplicas: 1 });
  });

  it('has the locks for which its figures wait', async () => {
    await empty();
    const read = jest.spyOn(service.app.get(Sampler)['status'], 'read').mockRejectedValue(new Error('waits'));
    const other = new pg.Client(service.environment.DATABASE_URL);
    await other.connect();
    await other.query('BEGIN');
    await other.query('LOCK TABLE onboarding_sessions IN ACCESS EXCLUSIVE MODE');
    const waiting = new pg.Client(service.environment.DATABASE_URL);
    await waiting.connect();
    const waited = waiting.query('BEGIN; LOCK TABLE onboarding_sessions IN ACCESS EXCLUSIVE MODE');
    try {
      await waitFor('the locks in the history', async () => {
        await sample().catch(() => undefined);
        return (
          (await database.query(`SELECT FROM status_samples WHERE reasons ? 'tables_locked'`)).length > 0
        );
      });
      const old = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE '%LOCK TABLE%' AND now() - xact_start > interval '5.1 s'`;
      await waitFor('both are shown if they may be', async () => (await database.query(old)).length === 2);
      // Only the one that has the lock is named.
      expect(await findTableLocks(database)).toEqual([
        expect.stringMatching(/^onboarding_sessions is locked/),
      ]);
    } finally {
      read.mockRestore();
      service.app.get(Sampler)['unread'].attempts = 0;
      await other.end();
      await waited;
      await waiting.end();
    }
  });

  it('says since when a reason has been true, through an absence of 5 minutes, but not of 7', async () => {
    await empty();
    expect(await since()).toBeNull();
    const before = Date.now();
    await sample();
    const first = (await since())!;
    expect(Math.abs(Date.parse(first) - before)).toBeLessThan(60_000);
    // Adds a sample without the reason. After that, some minutes have no sample.
    await age(4);
    await database.query(
      `INSERT INTO status_samples SELECT at + interval '1 minute', '{}', '{}' FROM status_samples`,
    );
    await sample();
    await database.query(`DELETE FROM status_samples WHERE at < now() - interval '2 minutes'`);
    expect(await since()).toBe(first);
    await age(7);
    expect(await since()).toBeNull();
    await sample();
    expect(Date.parse((await since())!)).toBeGreaterThan(Date.parse(first));
  });

  it('says since when the cause of a reason lasts, if no sample has it from the beginning', async () => {
    await empty();
    await plant();
    const createdAt = Date.now() - 3_600_000;
    const expectSinceThen = async () =>
      expect(Math.abs(Date.parse((await since('registrations_uncertain'))!) - createdAt)).toBeLessThan(
        60_000,
      );
    await expectSinceThen();
    await sample();
    // Ends the earlier cause of the reason. The samples keep the beginning of the reason.
    await database.query('UPDATE stalls SET since = now()');
    await expectSinceThen();
  });

  it('refuses other hours, and a key without the scope', async () => {
    for (const hours of ['0', '169', '1.5', 'day', ''])
      expect(await client.call('GET', `/status/history?hours=${hours}`)).toMatchObject({
        status: 400,
        body: { errors: [{ field: 'hours' }] },
      });
    const { app } = await createKey(client, 'users:read');
    expect(await app.call('GET', '/status/history')).toMatchObject({ status: 403 });
  });
});

describe('the calls of all replicas', () => {
  it('are counted with their failures and percentiles', async () => {
    const { id } = await client.startNew();
    const { control } = service.sandbox!;
    await control.addFault({ kind: 'answer', status: 500, operation: 'read_session', times: 1 });
    await client.call('POST', `/onboarding/pv/${id}/refresh`);
    // A live process with slow calls, and a dead one.
    const recentCalls = { read_session: { failed: 7, durations: { 24: 99 } } };
    for (const expiresAt of [fromNow(3_600), fromNow(-3_600)])
      await insertReplica(database, { name: 'other:1', role: 'worker', expiresAt }, { recentCalls });
    const calls = await waitFor('the calls', async () => {
      const found = (await status()).remote.deployment.calls;
      return found.some(({ operation, failed }) => operation === 'read_session' && failed === 8) && found;
    });
    await database.query(`DELETE FROM remote_replicas WHERE name = 'other:1'`);
    expect(calls.map(({ operation }) => operation)).toEqual([
      'token',
      'register_user',
      'start_session',
      'read_session',
      'pass_through',
    ]);
    expect(calls[2]).toMatchObject({ succeeded: 1, failed: 0, p95Seconds: expect.any(Number) });
    expect(calls[3]!.succeeded).toBeGreaterThanOrEqual(99);
    // The class 24 contains durations from 1.1^23 to 1.1^24 s.
    expect(calls[3]!.p95Seconds).toBeCloseTo(9.38, 1);
  });
});
