import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { readBuild } from '../../../src/platform/build.js';
import { Database } from '../../../src/platform/database/database.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { MetricsServer } from '../../../src/platform/metrics/metrics-server.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { waitUntilHeld } from '../../faults/support/waits.js';
import { TestClient } from '../../setup/client.js';
import { useTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';
import { startReplica } from '../replica.js';

const PREFIX = 'pv_onboarding_';

const production = { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: 0 } as const;
let api: TestApp;
// Closes the replica before the database is dropped.
afterAll(() => api.close());
const service = useTestApp({ ...production, ROLE: 'worker', METRICS_PORT: 0 });

beforeAll(async () => {
  api = await startReplica(service, { ...production, ROLE: 'api' });
});

const atMetricsPort = (path = '/metrics', init?: RequestInit) =>
  fetch(`http://127.0.0.1:${service.app.get(MetricsServer).port}${path}`, init);
const metricsOfApi = (key?: string) =>
  fetch(`${api.url}/metrics?from=prometheus`, {
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
  });

describe('the metrics', () => {
  it('are served only on METRICS_PORT, which serves nothing else', async () => {
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    const ofAdmin = { headers: { authorization: `Bearer ${service.adminKey}` } };
    expect((await fetch(`${service.url}/metrics`, ofAdmin)).status).toBe(404);
    const head = await atMetricsPort('/metrics', { method: 'HEAD' });
    expect(head.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect((await atMetricsPort('/metrics', { method: 'POST' })).status).toBe(404);
    for (const path of ['/', '/health/live', '/api/v1/status'])
      expect((await atMetricsPort(path)).status).toBe(404);
    const text = await (await atMetricsPort()).text();
    expect(text).toMatch(/^pv_onboarding_build_info\{version="[\d.]+",commit="[\da-f]*",role="worker"\} 1$/m);
  });

  it('are a 500 at METRICS_PORT when they cannot be collected, and are served again afterwards', async () => {
    jest.spyOn(service.app.get(Metrics), 'read').mockRejectedValueOnce(new Error('no figures'));
    expect((await atMetricsPort()).status).toBe(500);
    expect((await atMetricsPort()).status).toBe(200);
  });

  it('need a key on PORT in production, with whatever scope, and none on METRICS_PORT', async () => {
    const { key } = await createKey(TestClient.of(api), 'events:read');
    for (const each of [key, api.adminKey]) {
      const { status, headers } = await metricsOfApi(each);
      expect([status, headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/plain; version=0.0.4'),
      ]);
    }
    expect((await metricsOfApi(`${key}x`)).status).toBe(401);
    expect((await metricsOfApi()).status).toBe(401);
    expect((await fetch(`${api.url}/health/ready`)).status).toBe(200);
    expect((await atMetricsPort()).status).toBe(200);
  });

  it('count registrations, starts, reads, claims, remote calls and statements', async () => {
    const client = TestClient.of(api);
    const { body: user } = await client.call<{ gridLocations: { id: string }[] }>('POST', '/users', {
      tenantReference: 'metrics',
      gridLocations: [{ ean: '871685900000000011' }],
    });
    const path = `/onboarding/pv/${user.gridLocations[0]!.id}`;
    await client.call('POST', path);
    const { body: session } = await client.call<{ id: string }>('POST', path);
    const ofApi = await (await metricsOfApi(api.adminKey)).text();
    const { version, commit } = await readBuild();
    for (const sample of [
      'registration_calls_total{outcome="registered"} 1',
      'session_starts_total{outcome="started"} 1',
      'session_starts_total{outcome="reused"} 1',
      'remote_calls_total{operation="token",outcome="done"} 1',
      'remote_calls_total{operation="register_user",outcome="done"} 1',
      'remote_call_duration_seconds_count{operation="start_session",outcome="done"} 1',
      'remote_breaker_state{operation="start_session",state="closed"} 1',
      'http_requests_total{method="POST",route="/api/v1/onboarding/pv/:gridLocationId",status="201"} 1',
      `build_info{version="${version}",commit="${commit ?? ''}",role="api"} 1`,
    ])
      expect(ofApi).toContain(`${PREFIX}${sample}\n`);
    expect(ofApi).toMatch(/database_statement_duration_seconds_count [1-9]\d/);
    expect(ofApi).toMatch(/database_statement_duration_seconds_bucket\{le="0.0001"\} \d/);
    const ofWorker = await waitFor('a read of the session', async () => {
      const now = await (await atMetricsPort()).text();
      return /session_reads_total\{outcome="unchanged"\} [1-9]/.test(now) && now;
    });
    expect(ofWorker).toMatch(/session_claims_total [1-9]/);
    expect(ofWorker).toMatch(/remote_calls_total\{operation="read_session",outcome="done"\} [1-9]/);
    expect(ofWorker).toMatch(/remote_last_success_timestamp_seconds\{operation="read_session"\} 1\d{9}/);
    expect(ofWorker).not.toContain('871685900000000011');
    await service.sandbox!.control.online(session.id);
    await waitFor('the change of the session', async () =>
      (await (await atMetricsPort()).text()).includes(
        `${PREFIX}session_transitions_total{state="online"} 1\n`,
      ),
    );
  });

  it('say what waits, and who holds it back', async () => {
    const [remote, database] = [service.app.get(Remote), service.app.get(Database)];
    const { operations, ...status } = remote.status();
    jest.spyOn(remote, 'status').mockReturnValue({
      ...status,
      ...{ inFlight: 3, limit: { ...status.limit, current: 5, ceiling: 7 } },
      queued: { foreground: 2, background: 1 },
      operations: {
        ...operations,
        read_session: { ...operations.read_session, breaker: 'half_open', heldBackBy: 'ceiling' },
      },
    });
    jest.spyOn(database, 'hasNoSpace').mockReturnValue(true);
    for (const [name, count] of [
      ['totalCount', 9],
      ['idleCount', 5],
      ['waitingCount', 6],
    ] as const)
      jest.spyOn(database.pool, name, 'get').mockReturnValue(count);
    const text = await service.app.get(Metrics).read();
    jest.restoreAllMocks();
    for (const sample of [
      'remote_calls_in_flight 3',
      'remote_calls_limit 5',
      'remote_calls_limit_ceiling 7',
      'remote_calls_queued{priority="foreground"} 2',
      'remote_calls_queued{priority="background"} 1',
      'remote_breaker_state{operation="read_session",state="closed"} 0',
      'remote_breaker_state{operation="read_session",state="open"} 0',
      'remote_breaker_state{operation="read_session",state="half_open"} 1',
      'remote_held_back{operation="read_session",by="remote_service"} 0',
      'remote_held_back{operation="read_session",by="breaker"} 0',
      'remote_held_back{operation="read_session",by="ceiling"} 1',
      'database_pool_connections{state="in_use"} 4',
      'database_pool_connections{state="idle"} 5',
      `database_pool_limit ${database.pool.options.max}`,
      'database_pool_waiting 6',
      'database_no_space 1',
    ])
      expect(text).toContain(`${PREFIX}${sample}\n`);
    expect(await service.app.get(Metrics).read()).toContain(`${PREFIX}database_no_space 0\n`);
  });

  it('count a response as stale if a person has discarded the registration meanwhile', async () => {
    const { control } = service.sandbox!;
    const { id } = await control.addFault({ kind: 'hold', operation: 'register_user', times: 1 });
    const registering = TestClient.of(api).call('POST', '/users', {
      tenantReference: 'stale',
      gridLocations: [{ ean: '871685900000000028' }],
    });
    await waitUntilHeld(control, 1, id);
    const [row] = await service.database.query<{ id: string }>(
      `UPDATE registrations SET status = 'discarded', next_attempt_at = NULL, lease_token = NULL, lease_until = NULL
        WHERE tenant_reference = 'stale' RETURNING id`,
    );
    const warn = jest.spyOn(Logger.prototype, 'warn');
    await control.release(id);
    await registering;
    const message =
      'a registration is registered after call 1; not stored, since a newer call or a decision came first';
    expect(warn.mock.calls).toContainEqual([{ message, registrationId: row!.id }]);
    warn.mockRestore();
    const text = await (await metricsOfApi(api.adminKey)).text();
    expect(text).toContain(`${PREFIX}registration_calls_total{outcome="stale"} 1\n`);
  });
});
