import { expect, it } from '@jest/globals';
import { operationRows } from './operations.js';
import { healthyStatus } from './status.example.js';

it('adds up the latest calls of the live replicas', () => {
  const status = healthyStatus();
  const [replica] = status.replicas;
  const latestCalls = [{ operation: 'read_session' as const, calls: 20, slow: 3 }];
  const replicas = [
    { ...replica!, latestCalls },
    { ...replica!, latestCalls, slow: ['read_session' as const] },
    { ...replica!, latestCalls, isAlive: false },
  ];
  const [token, , , read] = operationRows({ ...status, replicas });
  expect(read).toMatchObject({ calls: 40, slow: 6, health: 'slow', heldBack: null });
  expect(token).toMatchObject({ calls: 0, slow: 0, health: 'healthy' });
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
  expect(operationRows(status)[2]).toMatchObject({
    health: 'degraded',
    lastError: '5 of 10 calls failed',
    lastErrorAt: '2026-11-26T11:00:00Z',
  });
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
