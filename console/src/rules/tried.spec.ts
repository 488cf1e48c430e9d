import { describe, expect, it } from '@jest/globals';
import { healthyStatus } from './status.example.js';
import { actsOn, triedByService, triesOf } from './tried.js';

const OLD = '2026-11-26T18:00:00Z';

describe('what the service has tried', () => {
  it('are calls of the operations in trouble, with the last that worked', () => {
    const status = healthyStatus();
    const { deployment } = status.remote;
    const trouble = { health: 'degraded', since: OLD, reason: 'HTTP 503' } as const;
    deployment.degraded = (['read_session', 'start_session'] as const).map((operation) => ({
      ...trouble,
      operation,
    }));
    // There were no calls of the other operations.
    deployment.calls = deployment.calls.slice(-1).map((each) => ({ ...each, succeeded: 0, failed: 1_240 }));
    Object.assign(status.remote.operations.read_session, {
      ...{ lastSuccessAt: OLD, heldBackBy: 'breaker', retryAfterMs: 40_000 },
    });
    expect(triedByService({ code: 'remote_degraded' }, status)).toBe(
      `Read a session: 1,240 calls in 5 min, none worked, the last success ${OLD}. Our breaker is open, because calls failed; 40 s left.`,
    );
    deployment.calls = deployment.calls.map((each) => ({ ...each, succeeded: 2 }));
    status.remote.operations.read_session.heldBackBy = null;
    expect(triedByService({ code: 'remote_slow' }, status)).toBe(
      `Read a session: 1,242 calls in 5 min, 2 worked, the last success ${OLD}.`,
    );
  });

  it('are token requests, with the next', () => {
    const status = healthyStatus();
    status.token = { ...status.token, failures: 3, nextAttemptAt: OLD };
    expect(triedByService({ code: 'credentials_rejected' }, status)).toBe(
      `3 token requests in vain, the next ${OLD}.`,
    );
  });

  it('are deliveries, each tried again', () => {
    const status = healthyStatus();
    Object.assign(status.outbox.readers.webhooks, { failing: 1, oldestFailingSeconds: 600 });
    expect(triedByService({ code: 'webhooks_failing' }, status)).toBe(
      '1 delivery in vain, for 10 min. Each is tried again.',
    );
  });

  it.each(['remote_degraded', 'handlers_failing', 'broker_failing', 'clocks_differ'] as const)(
    'is not told of %s if the status has nothing of it',
    (code) => expect(triedByService({ code }, healthyStatus())).toBeNull(),
  );
});

it.each([
  [{ attempts: 1, lastError: 'HTTP 422' }, 'tried 1 time, last outcome: HTTP 422'],
  [{ attempts: 1, lastError: 'x'.repeat(121) }, `tried 1 time, last outcome: ${'x'.repeat(120)} …`],
  [
    { attempts: 2, lastAttemptAt: OLD, lastError: 'HTTP 422' },
    `tried 2 times, the last ${OLD}, last outcome: HTTP 422`,
  ],
  [{ failures: 1_200 }, 'tried 1,200 times'],
  [{ reads: 3 }, 'tried 3 times'],
  [{ thresholdSeconds: 60 }, null],
  [{ attempts: 0 }, null],
])('by the evidence %j it was %s', (evidence, words) => expect(triesOf({ evidence })).toBe(words));

it('acts count since each item has been stalled, and a note is none', () => {
  const act = (target: string, at: string, action = 'registration.retried') => ({ target, at, action });
  const [before, after] = ['2026-11-26T16:59:59Z', '2026-11-26T17:00:01Z'];
  const acts = [act('a', after), act('a', before), act('b', after), act('a', after, 'stall.changed')];
  expect(actsOn([{ id: 'a', since: OLD }], acts)).toEqual([act('a', after)]);
});
