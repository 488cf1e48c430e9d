import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Database } from '../../../src/platform/database/database.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';

interface Status {
  readonly remote: {
    readonly health: string;
    readonly operations: Readonly<Record<string, { readonly health: string }>>;
    readonly deployment: { readonly degraded: readonly unknown[]; readonly contractDrift: number };
  };
  readonly token: { readonly state: string };
  readonly poller: Readonly<Record<string, number>>;
  readonly outbox: {
    readonly unsequenced: number;
    readonly oldestUnsequencedSeconds: number;
    readonly readers: {
      readonly handlers: Readonly<Record<string, number>>;
      readonly webhooks: Readonly<Record<string, number>>;
      readonly streams: Readonly<Record<string, number>>;
      readonly broker: Readonly<Record<string, unknown>> | null;
    };
  };
  readonly registrations: Readonly<Record<string, number>>;
}

describe('GET /status', () => {
  let service: TestApp;
  let database: pg.Client;

  beforeAll(async () => {
    // Only the API: nothing takes away what the test lays out.
    service = await startTestApp({ ROLE: 'api' });
    database = new pg.Client({ connectionString: service.environment.DATABASE_URL });
    await database.connect();
  });

  afterAll(async () => {
    await database.end();
    await service.close();
  });

  async function read(): Promise<Status> {
    const response = await fetch(`${service.url}/api/v1/status`, {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Status;
  }

  const metrics = async () => (await fetch(`${service.url}/metrics`)).text();

  it('shows an idle service: nothing waits, nobody was asked, there is no token', async () => {
    const status = await read();
    expect(status.token.state).toBe('none');
    expect(status.remote.health).toBe('unknown');
    expect(Object.keys(status.remote.operations)).toEqual([
      'token',
      'register_user',
      'start_session',
      'read_session',
    ]);
    expect(status.remote.deployment).toEqual({ degraded: [], contractDrift: 0 });
    const { readers, ...outbox } = status.outbox;
    expect(readers.broker).toBeNull();
    const parts = [readers.handlers, readers.webhooks, readers.streams];
    for (const part of [status.poller, outbox, status.registrations, ...parts]) {
      expect(Object.values(part).every((figure) => figure === 0)).toBe(true);
    }
  });

  it('shows what waits and for how long, in the metrics too', async () => {
    await database.query(`
      INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata, created_at, updated_at)
      VALUES ('10000000-0000-4000-8000-000000000001', 'a', 't', '', '', '', '{}', now(), now());
      INSERT INTO grid_locations (id, user_id, ean)
      VALUES ('20000000-0000-4000-8000-000000000001', '10000000-0000-4000-8000-000000000001', '541448820044186577');
      INSERT INTO onboarding_sessions (id, user_id, grid_location_id, brand, metadata, state, basis, rule, finished, active, created_at,
        updated_at, expires_at, started_updated_at, state_changed_at, last_checked_at)
      SELECT ('30000000-0000-4000-8000-00000000000' || n)::uuid, '10000000-0000-4000-8000-000000000001',
        '20000000-0000-4000-8000-000000000001', 'brand ' || n, '{}', 'awaiting_owner', 'observed', 'start', false, true,
        now(), now(), now() + interval '1 day', now(), now(), now()
      FROM generate_series(1, 4) AS n;
      INSERT INTO poll_batches (id, worker, size, claimed_at, lease_until)
      OVERRIDING SYSTEM VALUE VALUES (1001, 'w1', 1, now(), now() + interval '1 hour');
      INSERT INTO session_polls (session_id, user_id, due_at, batch_id, claimed_at, checked_at, phase, anchor_at)
      SELECT ('30000000-0000-4000-8000-00000000000' || n)::uuid, '10000000-0000-4000-8000-000000000001',
        now() + CASE n WHEN 4 THEN interval '1 hour' ELSE n * interval '-100 seconds' END,
        CASE n WHEN 3 THEN 1001 END, now(), now(), 'awaiting_owner', now()
      FROM generate_series(1, 4) AS n;
      INSERT INTO registrations (tenant_reference, eans, metadata, status, next_attempt_at, created_at)
      VALUES ('p', '{541448820044186577}', '{}', 'pending', now() + interval '1 hour', now() - interval '50 seconds');
      INSERT INTO domain_events (id, name, subject, data, time)
      VALUES (gen_random_uuid(), 'user.registered', 's', '{}', now() - interval '30 seconds');
    `);
    const { poller, outbox, registrations } = await read();
    expect(poller).toMatchObject({ watched: 4, overdue: 2, reading: 1, batches: 1, abandonedBatches: 0 });
    expect(poller['oldestOverdueSeconds']).toBeGreaterThanOrEqual(200);
    expect(poller['oldestOverdueSeconds']).toBeLessThan(260);
    expect(outbox).toMatchObject({ unsequenced: 1, readers: { handlers: { undelivered: 0 } } });
    expect(outbox.oldestUnsequencedSeconds).toBeGreaterThanOrEqual(30);
    expect(registrations).toMatchObject({ pending: 1, uncertain: 0 });
    expect(registrations['oldestPendingSeconds']).toBeGreaterThanOrEqual(50);

    const text = await metrics();
    expect(text).toContain('pv_waiting{what="overdue_sessions"} 2');
    expect(text).toContain('pv_waiting{what="pending_registrations"} 1');
    expect(text).toMatch(/pv_waiting_oldest_seconds\{what="overdue_sessions"\} 2\d\d/);
  });

  it('shows how far behind each reader is, and why', async () => {
    await database.query(`
      INSERT INTO domain_events (id, sequence, name, subject, data, time)
      SELECT gen_random_uuid(), n, 'user.registered', 's', '{}', now() - (60 - n * 10) * interval '1 second' FROM generate_series(1, 5) AS n;
      INSERT INTO webhook_endpoints (url, types, secret_ciphertext, read_to, created_by, failures, failing_since, disabled_at, disabled_reason)
      VALUES ('https://a.example', '{}', '', 2, 'cli', 3, now(), NULL, NULL), ('https://b.example', '{}', '', 0, 'cli', 0, NULL, now(), 'gone'),
        ('https://c.example', '{}', '', 0, 'cli', 0, NULL, now(), 'requested');
      INSERT INTO webhook_deliveries (endpoint_id, position, subject, attempts, created_at)
      SELECT endpoint.id, event.position, 's', event.sequence - 1, now() - interval '20 seconds'
      FROM webhook_endpoints AS endpoint CROSS JOIN domain_events AS event WHERE event.sequence <= 2;
      INSERT INTO event_handlers (name, events) VALUES ('A.on', '{user.registered}');
      INSERT INTO handler_deliveries (handler, position, subject, attempts, created_at)
      SELECT 'A.on', position, 's', event.sequence - 1, now() - event.sequence * interval '45 seconds'
      FROM domain_events AS event WHERE event.sequence <= 2;
      INSERT INTO broker_positions (name, read_to, failing_since, last_error, published_at)
      VALUES ('nats', 1, '2026-11-20T10:00:00Z', 'it cannot be reached (ECONNREFUSED)', '2026-11-20T09:59:00Z')`);
    const { readers } = (await read()).outbox;
    expect(readers.handlers).toMatchObject({ undelivered: 2, failing: 1 });
    expect(readers.handlers['oldestUndeliveredSeconds']).toBeGreaterThanOrEqual(90);
    expect(readers.webhooks).toMatchObject({
      endpoints: 1,
      failingEndpoints: 1,
      disabledEndpoints: 1,
      unread: 3,
      undelivered: 2,
      failing: 1,
    });
    expect(readers.webhooks['oldestUndeliveredSeconds']).toBeGreaterThanOrEqual(20);
    expect(readers.broker).toEqual({
      kind: 'nats',
      isPublishing: false,
      unpublished: 4,
      oldestUnpublishedSeconds: expect.any(Number),
      publishedAt: '2026-11-20T09:59:00.000Z',
      failingSince: '2026-11-20T10:00:00.000Z',
      lastError: 'it cannot be reached (ECONNREFUSED)',
    });
    expect(readers.broker?.['oldestUnpublishedSeconds']).toBeGreaterThanOrEqual(40);

    const text = await metrics();
    expect(text).toContain('pv_waiting{what="webhook_deliveries"} 2');
    expect(text).toContain('pv_waiting{what="broker_events"} 4');
    expect(text).toContain('pv_event_streams 0');
  });

  it('shows what any replica found wrong with the remote service', async () => {
    await database.query(`
      UPDATE remote_operations SET health = 'degraded', since = '2026-11-20T10:00:00Z', reason = 'status 500' WHERE operation = 'start_session';
      INSERT INTO remote_drift (operation, kind, field, found) VALUES ('read_session', 'new_field', 'phase', 'string')`);
    const { remote } = await read();
    expect(remote.deployment).toEqual({
      degraded: [
        {
          operation: 'start_session',
          health: 'degraded',
          since: '2026-11-20T10:00:00.000Z',
          reason: 'status 500',
        },
      ],
      contractDrift: 1,
    });
  });

  it('metrics are answered without the database, and without what they do not know', async () => {
    const pool = service.app.get(Database);
    const query = pool.query.bind(pool);
    pool.query = () => Promise.reject(new Error('the database is away'));
    try {
      const text = await metrics();
      expect(text).toContain('process_cpu_seconds_total');
      expect(text).not.toContain('what="overdue_sessions"');
    } finally {
      pool.query = query;
    }
  });
});
