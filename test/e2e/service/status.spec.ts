import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { readBuild } from '../../../src/platform/build.js';
import { Database } from '../../../src/platform/database/database.js';
import { DeploymentMetrics } from '../../../src/status/deployment-metrics.js';
import { REASON_CODES, REASONS } from '../../../src/status/reasons.js';
import { StatusStore } from '../../../src/status/status.store.js';
import type { CredentialsProbeView } from '../../../src/status/remote.view.js';
import { StatusView } from '../../../src/status/status.view.js';
import { TestClient } from '../../setup/client.js';
import { fromNow, insertReplica } from '../../setup/replicas.js';
import { databaseTime, shiftClock } from '../../setup/shifted-clock.js';
import { startTestApp, useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';

describe('a remote service that refuses everything with 401', () => {
  const service = useTestApp({ ROLE: 'api' });
  const client = TestClient.of(service);
  let database: Database;
  let id: string;
  beforeAll(async () => {
    database = service.database;
    ({ id } = await client.startNew());
  });
  beforeEach(async () => {
    await service.sandbox!.control.clearFaults();
    await database.query('UPDATE remote_tokens SET next_attempt_at = NULL');
    await waitFor('calls pass', async () => (await refresh()) === 200);
  });

  const status = async () => (await client.call<StatusView>('GET', '/status')).body;
  const refresh = async () => (await client.call('POST', `/onboarding/pv/${id}/refresh`)).status;
  // After a call that was refused alone, the token is not suspected for a second after a call was accepted.
  const untilRejected = () =>
    waitFor('the token is rejected', async () => {
      expect(await refresh()).toBe(503);
      return (await status()).token.state === 'rejected';
    });

  it.each([{ operation: 'read_session' }, {}] as const)('is not healthy: %j', async (refused) => {
    expect((await status()).remote.health).toBe('healthy');
    await service.sandbox!.control.addFault({ kind: 'answer', status: 401, times: null, ...refused });
    await untilRejected();
    const { remote } = await status();
    expect(remote.health).toBe('unavailable');
    expect(remote.operations.read_session).toMatchObject({ health: 'degraded', lastError: 'status 401' });
  });

  it('is tried at once when an administrator probes, and is healthy again after the next call', async () => {
    const { control } = service.sandbox!;
    await control.addFault({ kind: 'answer', status: 401, times: null });
    await untilRejected();
    await database.query(
      `UPDATE remote_tokens SET next_attempt_at = clock_timestamp() + interval '5 minutes'`,
    );
    const probe = () => client.call<CredentialsProbeView>('POST', '/status/credentials/probe');
    const again = () => database.query('UPDATE remote_tokens SET probed_at = NULL');
    const refused = await probe();
    expect([refused.status, refused.body]).toEqual([
      200,
      {
        object: 'credentials_probe',
        outcome: 'refused',
        lastError: expect.stringContaining('no token'),
        nextAttemptAt: expect.any(String),
      },
    ]);
    await control.clearFaults();
    await database.query(`UPDATE remote_tokens SET probed_at = probed_at + interval '1 hour'`);
    expect((await probe()).body.outcome).toBe('too_soon');
    await again();
    expect((await probe()).body).toMatchObject({ outcome: 'token_issued', lastError: null });
    await waitFor('calls pass', async () => (await refresh()) === 200);
    expect((await status()).remote.health).toBe('healthy');
    expect((await probe()).body).toMatchObject({ outcome: 'valid', lastError: null, nextAttemptAt: null });
    const audited = await database.query<{ details: unknown }>(
      `SELECT details FROM audit_log WHERE action = 'credentials.probed' AND target = 'token' ORDER BY id`,
    );
    expect(audited.map(({ details }) => details)).toEqual(
      ['refused', 'too_soon', 'token_issued', 'valid'].map((outcome) => ({ outcome })),
    );
  });

  it('is probed by administrators only', async () => {
    const { app } = await createKey(client, 'onboarding:write');
    expect(await app.call('POST', '/status/credentials/probe')).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
  });
});

describe('calls that are held back', () => {
  const service = useTestApp({ SCS_MAX_REQUESTS_PER_SECOND: 1 });
  const client = TestClient.of(service);

  it('by our ceiling are reported with the ceiling', async () => {
    const registered = Array.from({ length: 5 }, (_, n) =>
      client.call('POST', '/users', {
        tenantReference: `held ${n}`,
        gridLocations: [{ ean: `5414488200441865${10 + n}` }],
      }),
    );
    const { remote, replicas } = await waitFor('calls to wait', async () => {
      const now = (await client.call<StatusView>('GET', '/status')).body;
      return (now.replicas[0]?.pacedSince ?? null) !== null && now.remote.rate?.isHoldingBack && now;
    });
    expect(remote.rate).toEqual({ ceilingPerSecond: 1, isHoldingBack: true });
    expect(remote.operations.register_user.heldBackBy).toBe('ceiling');
    expect(remote.operations.token.heldBackBy).toBeNull();
    expect(replicas).toMatchObject([{ role: 'all', isAlive: true }]);
    await Promise.all(registered);
  });
});

describe('GET /status', () => {
  let database: pg.Client;
  // Ends the connection before the database is dropped.
  afterAll(() => database.end());
  // Starts no worker, because a worker would change the rows of the test.
  const service = useTestApp({ ROLE: 'api' });

  beforeAll(async () => {
    database = new pg.Client({ connectionString: service.environment.DATABASE_URL });
    await database.connect();
  });

  async function read(): Promise<StatusView> {
    const { status, body } = await TestClient.of(service).call<StatusView>('GET', '/status');
    expect(status).toBe(200);
    return body;
  }

  const metrics = async () => (await fetch(`${service.url}/metrics`)).text();

  /**
   * Returns the metrics once they contain the sample. Makes the service read its figures at each scrape instead of reusing them for some
   * seconds.
   */
  const metricsWith = (sample: string) =>
    waitFor(sample, async () => {
      service.app.get(DeploymentMetrics)['readAgainAt'] = 0;
      const text = await metrics();
      return text.includes(`pv_onboarding_deployment_${sample}\n`) && text;
    });

  it('shows an idle service: nothing waits, nothing was called, and there is no token', async () => {
    const status = await read();
    expect(status.token.state).toBe('none');
    expect(status.remote.health).toBe('unknown');
    expect(Object.keys(status.remote.operations)).toEqual([
      'token',
      'register_user',
      'start_session',
      'read_session',
      'pass_through',
    ]);
    expect(status.remote.deployment).toEqual({
      degraded: [],
      calls: Object.keys(status.remote.operations).map((operation) => ({
        operation,
        succeeded: 0,
        failed: 0,
        p50Seconds: null,
        p95Seconds: null,
      })),
      contractDrift: 0,
      newDrift: 0,
    });
    const { readers, ...outbox } = status.outbox;
    expect(readers.broker).toBeNull();
    const parts = [readers.handlers, readers.webhooks, readers.streams];
    const { phases, newestReadSeconds, ...poller } = status.poller!;
    const { areUnchecked, ...registrations } = status.registrations;
    expect([phases, newestReadSeconds, areUnchecked]).toEqual([[], null, false]);
    for (const part of [poller, outbox, registrations, status.starts, ...parts]) {
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
        CASE n WHEN 3 THEN 1001 END, now() - n * interval '1 minute', now() - interval '10 minutes',
        CASE n WHEN 4 THEN 'late' ELSE 'awaiting_owner' END, now()
      FROM generate_series(1, 4) AS n;
      INSERT INTO registrations (tenant_reference, eans, metadata, status, next_attempt_at, created_at)
      VALUES ('p', '{541448820044186577}', '{}', 'pending', now() + interval '1 hour', now() - interval '50 seconds');
      INSERT INTO domain_events (id, name, subject, data, time)
      VALUES (gen_random_uuid(), 'user.registered', 's', '{}', now() - interval '30 seconds');
      INSERT INTO stall_causes (kind, cause, waits_for, urgency, meaning, remedies)
      SELECT kind, cause, 'us', 'soon', '', '{}'
      FROM (VALUES ('invitation', 'never_opened'), ('session', 'flapping'), ('registration', 'uncertain')) AS declared (kind, cause)
      ON CONFLICT DO NOTHING;
      INSERT INTO stalls (kind, subject, cause, since, evidence)
      SELECT kind, gen_random_uuid(), cause, now(), '{}'
      FROM (VALUES ('invitation', 'never_opened'), ('invitation', 'never_opened'), ('session', 'flapping')) AS stalled (kind, cause);
      INSERT INTO session_starts (grid_location_id, brand, status, orphans, lease_token, lease_until, updated_at)
      SELECT '20000000-0000-4000-8000-000000000001', 'brand ' || n, status, orphans, gen_random_uuid(), now() + lease, now() - age
      FROM (VALUES (1, 'sending', 1, interval '-80 seconds', interval '0'), (2, 'sending', 0, interval '1 hour', interval '0'),
                   (3, 'failed', 2, interval '-23 hours', interval '23 hours'), (4, 'failed', 4, interval '-25 hours', interval '25 hours'))
        AS start (n, status, orphans, lease, age);
      INSERT INTO invitations (grid_location_id, token_hash, brands, metadata, opened_at, wished_at, wish_due_at, expires_at, revoked_at)
      SELECT '20000000-0000-4000-8000-000000000001', sha256(n::text::bytea), '{}', '{}', now(), now() - n * interval '50 seconds',
        now() + interval '1 hour', now() + interval '1 day', now()
      FROM generate_series(1, 3) AS n;
    `);
    // The ages count from the time of the database, whatever the clock of the process says.
    shiftClock(10 * 60_000);
    const { poller, outbox, registrations, starts, reasons } = await read();
    jest.useRealTimers();
    const [abandoned] = reasons.filter(({ code }) => code === 'starts_abandoned');
    expect((await databaseTime(service.database)) - Date.parse(String(abandoned!.since))).toBeGreaterThan(
      79_000,
    );
    expect(starts).toMatchObject({ abandoned: 1, orphans: 3 });
    expect(starts.oldestAbandonedSeconds).toBeGreaterThanOrEqual(80);
    expect(poller).toMatchObject({ watched: 4, overdue: 2, reading: 1, batches: 1, abandonedBatches: 0 });
    // The third session is claimed, so its last read is the one before the claim.
    expect(poller!.phases).toEqual([
      {
        phase: 'awaiting_owner',
        oldestReadSeconds: expect.closeTo(630, -2),
        medianReadSeconds: expect.closeTo(150, -2),
      },
      {
        // The session is not due, and its last read succeeded.
        phase: 'late',
        oldestReadSeconds: 0,
        medianReadSeconds: expect.closeTo(270, -2),
      },
    ]);
    // The third session is claimed and was read before; the others have not been claimed. The second has been due for longest.
    expect(poller!.newestReadSeconds).toBeCloseTo(600, -2);
    expect(poller!.longestWaitSeconds).toBeCloseTo(230, -2);
    expect(poller!.oldestOverdueSeconds).toBeGreaterThanOrEqual(200);
    expect(poller!.oldestOverdueSeconds).toBeLessThan(260);
    expect(outbox).toMatchObject({
      unsequenced: 1,
      readers: { handlers: { undelivered: 0 }, webhooks: { unread: 0 } },
    });
    expect(outbox.oldestUnsequencedSeconds).toBeGreaterThanOrEqual(30);
    expect(registrations).toMatchObject({ pending: 1, uncertain: 0 });
    expect(registrations.oldestPendingSeconds).toBeGreaterThanOrEqual(50);

    const text = await metricsWith('overdue_sessions 2');
    expect(text).toContain('pv_onboarding_deployment_watched_sessions 4\n');
    expect(text).toContain('pv_onboarding_deployment_claimed_sessions 1\n');
    expect(text).toMatch(/pv_onboarding_deployment_lateness_seconds 2\d\d/);
    expect(text).toMatch(/pv_onboarding_deployment_oldest_read_age_seconds\{phase="awaiting_owner"\} 6\d\d/);
    expect(text).toMatch(/pv_onboarding_deployment_median_read_age_seconds\{phase="late"\} 2\d\d/);
    expect(text).toContain('pv_onboarding_longest_read_interval_seconds{phase="awaiting_owner"} 1\n');
    expect(text).toContain('pv_onboarding_longest_read_interval_seconds{phase="late"} 8\n');
    expect(text).toContain('pv_onboarding_deployment_registrations{status="pending"} 1\n');
    expect(text).toContain('pv_onboarding_deployment_abandoned_starts 1\n');
    expect(text).toContain('pv_onboarding_deployment_pending_wishes 2\n');
    expect(text).toContain('pv_onboarding_deployment_orphans 3\n');
    expect(text).toContain('pv_onboarding_deployment_stalled{kind="invitation",cause="never_opened"} 2\n');
    expect(text).toContain('pv_onboarding_deployment_stalled{kind="session",cause="flapping"} 1\n');
    expect(text).toContain('pv_onboarding_deployment_stalled{kind="registration",cause="uncertain"} 0\n');
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
      INSERT INTO webhook_endpoints (handler, types, read_to, seen_at, created_by) VALUES ('A.on', '{user.registered}', 1000, now(), 'service');
      INSERT INTO webhook_deliveries (endpoint_id, position, subject, attempts, created_at)
      SELECT endpoint.id, position, 's', event.sequence - 1, now() - event.sequence * interval '45 seconds'
      FROM webhook_endpoints AS endpoint, domain_events AS event WHERE handler = 'A.on' AND event.sequence <= 2;
      INSERT INTO broker_positions (name, read_to, failing_since, last_error, published_at, warnings)
      VALUES ('nats', 1, '2026-11-20T10:00:00Z', 'it cannot be reached (ECONNREFUSED)', '2026-11-20T09:59:00Z', '{one,two}');
      INSERT INTO stall_causes (kind, cause, waits_for, urgency, meaning, remedies)
      SELECT 'endpoint', cause, 'tenant', 'soon', '', '{}' FROM (VALUES ('failing'), ('gone')) AS declared (cause) ON CONFLICT DO NOTHING;
      INSERT INTO stalls (kind, subject, cause, since, evidence)
      SELECT 'endpoint', id, coalesce(disabled_reason, 'failing'), now() - interval '16 minutes', '{}'
      FROM webhook_endpoints WHERE failures > 0 OR disabled_reason = 'gone'`);
    const { readers } = (await read()).outbox;
    expect(readers.handlers).toMatchObject({ undelivered: 2, failing: 1 });
    expect(readers.handlers.oldestUndeliveredSeconds).toBeGreaterThanOrEqual(90);
    expect(readers.webhooks).toMatchObject({
      endpoints: 1,
      failingEndpoints: 1,
      oldestFailingSeconds: expect.closeTo(960, -2),
      disabledEndpoints: 1,
      // Three events with a sequence, and one without.
      unread: 4,
      undelivered: 2,
      failing: 1,
    });
    // This is the age of the oldest event, which has no sequence: no worker delivers it.
    expect(readers.webhooks.oldestUndeliveredSeconds).toBeGreaterThanOrEqual(30);
    expect(readers.broker).toEqual({
      kind: 'nats',
      failingSeconds: expect.any(Number),
      isPublishing: false,
      unpublished: 4,
      oldestUnpublishedSeconds: expect.any(Number),
      publishedAt: '2026-11-20T09:59:00.000Z',
      failingSince: '2026-11-20T10:00:00.000Z',
      lastError: 'it cannot be reached (ECONNREFUSED)',
      warnings: ['one', 'two'],
    });
    expect(readers.broker?.oldestUnpublishedSeconds).toBeGreaterThanOrEqual(40);

    const text = await metricsWith('reader_pending{reader="webhooks"} 6');
    expect(text).toContain('pv_onboarding_deployment_reader_pending{reader="broker"} 4\n');
    const lagOf = (reader: string) =>
      Number(
        new RegExp(`^pv_onboarding_deployment_reader_lag_seconds\\{reader="${reader}"\\} (.+)$`, 'm').exec(
          text,
        )?.[1],
      );
    expect(lagOf('handlers')).toBeGreaterThanOrEqual(90);
    expect(lagOf('handlers')).toBeGreaterThan(lagOf('broker'));
    expect(lagOf('broker')).toBeGreaterThan(lagOf('webhooks'));
    for (const sample of ['state="working"} 0', 'state="failing"} 1', 'state="disabled"} 1'])
      expect(text).toContain(`pv_onboarding_deployment_webhook_endpoints{${sample}\n`);
    expect(text).toContain('pv_onboarding_event_streams 0');
  });

  it('shows what any replica found wrong with the remote service', async () => {
    await database.query(`
      UPDATE remote_operations SET health = 'degraded', since = '2026-11-20T10:00:00Z', reason = 'status 500' WHERE operation = 'start_session';
      INSERT INTO remote_drift (operation, kind, field, found) VALUES ('read_session', 'new_field', 'phase', 'string')`);
    const { remote } = await read();
    expect(remote.deployment).toMatchObject({
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
    const text = await metricsWith('contract_drift 1');
    for (const sample of ['health="healthy"} 0', 'health="degraded"} 1', 'health="credentials_rejected"} 0'])
      expect(text).toContain(`pv_onboarding_deployment_remote_health{operation="start_session",${sample}\n`);
  });

  it('shows which replicas are alive, and that no worker is', async () => {
    const seenAt = new Date('2026-11-20T10:00:00Z');
    await insertReplica(service.database, {
      name: 'dead:1',
      role: 'worker',
      expiresAt: fromNow(-60),
      seenAt,
      readsPerSecond: 5,
    });
    const { health, reasons, replicas, poller } = await read();
    expect(poller).toMatchObject({ readsPerSecond: 0 });
    const alive = { role: 'api', isAlive: true, pacedSince: null, readsPerSecond: 0 };
    expect(replicas).toMatchObject([alive, { name: 'dead:1', role: 'worker', isAlive: false }]);
    expect(health).toBe('degraded');
    const detail =
      'no process with ROLE worker or all is alive; the last sign of life was at 2026-11-20T10:00:00.000Z, by dead:1';
    expect(reasons).toContainEqual(expect.objectContaining({ code: 'no_worker', detail }));
    const text = await metricsWith('replicas{role="api"} 1');
    expect(text).toContain('pv_onboarding_deployment_replicas{role="worker"} 0\n');

    const worker = await startTestApp({ ...service.environment, ROLE: 'worker' });
    try {
      const ofWorker = await waitFor('both to be alive', async () => {
        const { body } = await TestClient.of(worker).call<StatusView>('GET', '/status');
        const living = body.replicas.filter(({ isAlive }) => isAlive).map(({ role }) => role);
        return isDeepStrictEqual(living, ['api', 'worker']) && body;
      });
      expect(ofWorker.reasons.map(({ code }) => code)).not.toContain('no_worker');
      expect((await new TestClient(worker.url, 'none').call('GET', '/status')).status).toBe(401);
      for (const path of ['/users', '/api-keys'])
        expect((await TestClient.of(worker).call('GET', path)).status).toBe(404);
    } finally {
      await worker.close();
    }
    const left = await waitFor('the worker to be gone', async () => {
      const living = (await read()).replicas.filter(({ isAlive }) => isAlive);
      return living.length === 1 && living;
    });
    expect(left).toMatchObject([alive]);
  });

  it('names the release of each process', async () => {
    const build = await readBuild();
    const other = { version: '0.0.9', commit: null, newestMigration: '20261120000000_tables' };
    await insertReplica(service.database, { name: 'other:1', role: 'worker', expiresAt: fromNow(60) }, other);
    const status = await read();
    expect(status.build).toEqual(build);
    expect(status.replicas.filter(({ isAlive }) => isAlive)).toMatchObject([
      build,
      { name: 'other:1', ...other },
    ]);
    await database.query(`DELETE FROM remote_replicas WHERE name = 'other:1'`);
  });

  const unavailable = {
    code: 'database_unavailable',
    detail: expect.stringContaining('onboarding_sessions is locked by process'),
  };
  it.each([
    // The other figures can be read.
    { table: 'session_polls', up: 1, answer: { status: 200, body: { poller: null } } },
    { table: 'onboarding_sessions', up: 0, answer: { status: 503, body: unavailable } },
  ])('names the lock while $table is locked, and exposes no figure that it cannot read', async (given) => {
    const { table, up } = given;
    await metricsWith('reason{code="tables_locked",severity="critical"} 0');
    const log = jest.spyOn(service.app.get(DeploymentMetrics)['logger'], 'debug');
    await database.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    try {
      const [text, answer] = await Promise.all([
        metricsWith('reason{code="tables_locked",severity="critical"} 1'),
        TestClient.of(service).call('GET', '/status'),
      ]);
      expect(answer).toMatchObject(given.answer);
      expect(text).toContain('process_cpu_seconds_total');
      expect(text).toContain(`pv_onboarding_deployment_collector_up ${up}\n`);
      expect(text).not.toContain('\npv_onboarding_deployment_watched_sessions');
      const named = new Set([...text.matchAll(/^pv_onboarding_deployment_(\w+)/gm)].map(([, name]) => name));
      if (up === 0) {
        expect([...named]).toEqual(['collector_up', 'reason']);
        expect(text.match(/^pv_onboarding_deployment_reason/gm)).toHaveLength(1);
        expect(log).toHaveBeenCalledWith(expect.stringContaining(`${table} is locked`));
      } else
        expect([...named]).toEqual(expect.arrayContaining(['contract_drift', 'replicas', 'read_stretch']));
    } finally {
      log.mockRestore();
      await database.query('ROLLBACK');
    }
    await metricsWith('collector_up 1');
  });

  it('exposes each reason of the catalogue by its code, as 1 while the status has it', async () => {
    const { reasons } = await read();
    const text = await metricsWith('collector_up 1');
    const exposed = [
      ...text.matchAll(/^pv_onboarding_deployment_reason\{code="(\w+)",severity="(\w+)"\} ([01])$/gm),
    ];
    expect(exposed.map(([, code, severity]) => [code, severity])).toEqual(
      REASON_CODES.map((code) => [code, REASONS[code].severity]),
    );
    expect(exposed.filter(([, , , value]) => value === '1').map(([, code]) => code)).toEqual([
      ...new Set(reasons.map(({ code }) => code)),
    ]);
    expect(reasons).toContainEqual({
      code: 'no_worker',
      severity: 'critical',
      title: 'No worker runs: no session is read, no event is delivered',
      waitsFor: 'us',
      runbook: 'docs/operations.md#no-process-runs',
      followsFrom: null,
      remedies: [],
      detail: expect.any(String),
      since: null,
    });
  });

  /** Returns the number of reads for scrapes. Those for the samples of the status have no timeout of their own. */
  const scrapesOf = ({ mock }: { mock: { calls: readonly unknown[][] } }) =>
    mock.calls.filter(([timeoutMs]) => timeoutMs !== undefined).length;

  it('logs that a read takes too long, and uses its figures in the next scrape', async () => {
    await metricsWith('collector_up 1');
    const store = service.app.get(StatusStore);
    const figures = await store.readFacts();
    let respond = () => {};
    const late = new Promise<typeof figures>((resolve) => (respond = () => resolve(figures)));
    const read = jest.spyOn(store, 'readFacts').mockReturnValueOnce(late);
    const log = jest.spyOn(service.app.get(DeploymentMetrics)['logger'], 'debug');
    service.app.get(DeploymentMetrics)['readAgainAt'] = 0;
    expect(await metrics()).toContain('pv_onboarding_deployment_collector_up 0\n');
    expect(log).toHaveBeenCalledWith(expect.stringContaining('no response within'));
    respond();
    await waitFor('the figures', async () =>
      (await metrics()).includes('pv_onboarding_deployment_collector_up 1\n'),
    );
    expect(scrapesOf(read)).toBe(1);
    log.mockRestore();
    read.mockRestore();
  });

  it('reads the database once for all scrapes within some seconds', async () => {
    await metricsWith('collector_up 1');
    const read = jest.spyOn(service.app.get(StatusStore), 'readFacts');
    for (let scrape = 0; scrape < 3; scrape++) await metrics();
    expect(scrapesOf(read)).toBe(0);
    // Simulates that 5 s have passed.
    service.app.get(DeploymentMetrics)['readAgainAt'] -= 5_000;
    await metrics();
    expect(scrapesOf(read)).toBe(1);
    read.mockRestore();
  });
});
