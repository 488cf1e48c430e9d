import { expect, it } from '@jest/globals';
import type { CallResult, Exchanged } from '../outcome.rules.js';
import { OperationGate } from './operation-gate.js';

const response = (status: number, result: CallResult): Exchanged => ({
  sent: { kind: 'response', response: { status, body: '' } },
  result,
});

it('a foreign response of a familiar form counts as a success, but a refusal remains an error', () => {
  const gate = new OperationGate(1_000);
  for (const each of [response(404, 'foreign'), response(403, 'foreign'), response(200, 'succeeded')])
    expect(gate.recognise(each)).toBe(each);
  const familiar = (status: number) => ({
    kind: 'response',
    response: { status, body: '', isFamiliar: true },
  });
  const [missing, refused] = [404, 403].map((status) => gate.recognise(response(status, 'foreign')));
  expect(missing).toEqual({ sent: familiar(404), result: 'succeeded' });
  expect(refused).toEqual({ sent: familiar(403), result: 'succeeded', fault: 'status 403' });
});

it('shows a failure, a success after it, and a wait that the service requests', () => {
  const gate = new OperationGate(1_000);
  const none = { heldBackBy: null, retryAfterMs: null, requestedWaitMs: null, lastSuccessAt: null };
  const unknown = { health: 'unknown', breaker: 'closed', ...none, lastErrorAt: null, lastError: null };
  expect(gate.status()).toEqual(unknown);
  gate.record({ ...response(500, 'failed'), fault: 'status 500' }, false);
  const failed = { ...unknown, health: 'degraded', lastErrorAt: expect.any(Date), lastError: 'status 500' };
  expect(gate.status()).toEqual(failed);
  gate.record(response(200, 'succeeded'), false);
  const healthy = { ...failed, health: 'healthy', lastSuccessAt: expect.any(Date) };
  expect(gate.status()).toEqual(healthy);
  gate.record({ ...response(503, 'unavailable'), fault: 'status 503', quietMs: 59_999.6 }, false);
  const wait = { heldBackBy: 'remote_service', retryAfterMs: expect.any(Number), requestedWaitMs: 60_000 };
  expect(gate.status()).toEqual({ ...healthy, ...wait, health: 'unavailable', lastError: 'status 503' });
});

it('has ten retries at first and at most, and earns about one by ten calls', () => {
  const gate = new OperationGate(1_000);
  const retriesAfter = (calls: number) => {
    for (let nth = 0; nth < calls; nth++) gate.earnRetry();
    return Array.from({ length: 20 }, () => gate.takeRetry()).filter(Boolean).length;
  };
  expect([0, 9, 6, 200].map(retriesAfter)).toEqual([10, 0, 1, 10]);
});
