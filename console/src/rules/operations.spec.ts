import { expect, it } from '@jest/globals';
import { operationRows } from './operations.js';
import { healthyStatus } from './status.example.js';

it('shows the calls of all replicas, and that one of them finds an operation slow', () => {
  const status = healthyStatus();
  status.remote.deployment.calls = [
    { operation: 'read_session', succeeded: 30, failed: 10, p50Seconds: 1.1, p95Seconds: 4.2 },
  ];
  const [replica] = status.replicas;
  status.replicas = [replica!, { ...replica!, slow: ['read_session'] }];
  const [token, , , read] = operationRows(status);
  expect(read).toMatchObject({ calls: 40, successShare: 0.75, p95Seconds: 4.2, health: 'slow' });
  expect(token).toMatchObject({ calls: 0, successShare: null, p95Seconds: null, health: 'healthy' });
});

it('shows trouble that another replica has announced', () => {
  const status = healthyStatus();
  const trouble = {
    operation: 'start_session' as const,
    health: 'degraded' as const,
    since: '2026-11-26T11:00:00Z',
    reason: '5 of 10 calls failed',
  };
  status.remote.deployment.degraded = [trouble];
  const own = { lastError: 'its own', lastErrorAt: '2026-11-26T10:00:00Z' };
  Object.assign(status.remote.operations.start_session, own);
  Object.assign(status.remote.operations.token, own);
  expect(operationRows(status)[2]).toMatchObject({
    health: 'degraded',
    lastError: '5 of 10 calls failed',
    lastErrorAt: '2026-11-26T11:00:00Z',
  });
  expect(operationRows(status)[0]).toMatchObject({ health: 'healthy', ...own });
});

it.each([
  ['remote_service', 'The remote service asked to wait 30 s; 12 s left', 'blocked'],
  ['breaker', 'Our breaker is open, because calls failed; 12 s left', 'blocked'],
] as const)('says who holds calls back: %s', (heldBackBy, text, health) => {
  const status = healthyStatus();
  Object.assign(status.remote.operations.read_session, {
    health: 'unavailable',
    heldBackBy,
    retryAfterMs: 12_000,
    requestedWaitMs: 30_000,
  });
  expect(operationRows(status)[3]).toMatchObject({ heldBack: text, health });
});

it.each([
  [{ heldBackBy: 'remote_service' }, 'The remote service asked to wait'],
  [{ heldBackBy: 'breaker' }, 'Our breaker is open, because calls failed'],
  [{ heldBackBy: 'ceiling' }, 'Our limit SCS_MAX_REQUESTS_PER_SECOND'],
  [{ heldBackBy: null, retryAfterMs: 5 }, null],
])('says no more than it knows: %j', (change, text) => {
  const status = healthyStatus();
  Object.assign(status.remote.operations.token, { retryAfterMs: null, requestedWaitMs: null, ...change });
  expect(operationRows(status)[0]).toHaveProperty('heldBack', text);
});

it('counts trouble before slowness, and slowness of live replicas only', () => {
  const status = healthyStatus();
  const [replica] = status.replicas;
  const healthOf = (health: string, isAlive: boolean) => {
    status.replicas = [replica!, { ...replica!, isAlive, slow: ['token'] }];
    Object.assign(status.remote.operations.token, { health });
    return operationRows(status)[0]!.health;
  };
  expect([healthOf('healthy', false), healthOf('healthy', true), healthOf('degraded', true)]).toEqual([
    'healthy',
    'slow',
    'degraded',
  ]);
});
