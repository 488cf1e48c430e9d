import { expect, it } from '@jest/globals';
import { findReasons } from './health.rules.js';

type Facts = Parameters<typeof findReasons>[0];

const NOW = new Date('2026-11-22T12:00:00Z');
const before = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000);
const CEILINGS = { POLL_MAX_INTERVAL_MS: 900_000, SCS_MAX_REQUESTS_PER_SECOND: 2 };

const operation = {
  health: 'healthy',
  breaker: 'closed',
  heldBackBy: null,
  retryAfterMs: null,
  requestedWaitMs: null,
  lastSuccessAt: null,
  lastErrorAt: null,
  lastError: null,
} as const;
const replica: Facts['replicas'][number] = {
  name: 'a:1',
  role: 'all',
  isAlive: true,
  startedAt: before(60),
  lastSeenAt: before(1),
  readsPerSecond: 0,
  pacedSince: null,
  slow: [],
};
const reader = { undelivered: 0, failing: 0, oldestUndeliveredSeconds: 0 };
const HEALTHY: Facts = {
  replicas: [replica],
  tableLocks: [],
  remote: {
    health: 'healthy',
    limit: { current: 8, ceiling: 32 },
    rate: null,
    inFlight: 0,
    queued: { foreground: 0, background: 0 },
    operations: {
      token: operation,
      register_user: operation,
      start_session: operation,
      read_session: operation,
    },
    deployment: { degraded: [], contractDrift: 0 },
  },
  token: {
    state: 'valid',
    generation: 1,
    ageSeconds: 1,
    obtainedAt: NOW,
    renewAt: NOW,
    expiresAt: NOW,
    expiresInRaw: null,
    tokenType: null,
    rejectedAt: null,
    failures: 0,
    lastError: null,
    nextAttemptAt: null,
  },
  poller: {
    watched: 1,
    overdue: 1,
    oldestOverdueSeconds: 1,
    reading: 0,
    batches: 0,
    readsPerSecond: 1,
    phases: [{ phase: 'late', oldestReadSeconds: 900, medianReadSeconds: 450 }],
    abandonedBatches: 0,
  },
  budget: {
    stretch: 1,
    wantedPerSecond: 1,
    allowedPerSecond: null,
    isShort: false,
    late: [],
    noticed: { changes: 0, p50Seconds: null, p95Seconds: null },
  },
  outbox: {
    unsequenced: 0,
    oldestUnsequencedSeconds: 0,
    readers: {
      handlers: reader,
      webhooks: {
        ...reader,
        endpoints: 0,
        failingEndpoints: 0,
        oldestFailingSeconds: 0,
        disabledEndpoints: 0,
        unread: 0,
      },
      streams: { open: 0 },
      broker: null,
    },
  },
  sessions: { unrecognised: 0, lost: 0, allInvertersMissing: 0, someInvertersMissing: 0 },
  registrations: { pending: 0, oldestPendingSeconds: 0, uncertain: 0, oldestUncertainSeconds: 0 },
  starts: { abandoned: 0, oldestAbandonedSeconds: 0, orphans: 0 },
};

const { remote, outbox } = HEALTHY;
const poller = HEALTHY.poller!;
const reads = (state: object): Partial<Facts> => ({
  remote: { ...remote, operations: { ...remote.operations, read_session: { ...operation, ...state } } },
});

it('a healthy deployment has no reasons', () => expect(findReasons(HEALTHY, CEILINGS)).toEqual([]));

it.each<[string, string, Partial<Facts>]>([
  ['no_worker', 'is alive', { replicas: [{ ...replica, role: 'api' }] }],
  [
    'no_worker',
    'the last sign of life was at 2026-11-22T11:59:50.000Z',
    { replicas: [{ ...replica, isAlive: false, lastSeenAt: before(10) }] },
  ],
  [
    'remote_slow',
    'start_session: most of the latest calls of a:1 took over 2 s',
    { replicas: [{ ...replica, slow: ['start_session'] }] },
  ],
  [
    'credentials_rejected',
    'no token',
    {
      remote: {
        ...remote,
        deployment: {
          degraded: [
            { operation: 'token', health: 'credentials_rejected', since: before(60), reason: 'no token' },
          ],
          contractDrift: 0,
        },
      },
    },
  ],
  [
    'remote_degraded',
    'read_session: status 500, since 2026-11-22T11:59:00.000Z',
    {
      remote: {
        ...remote,
        deployment: {
          degraded: [
            { operation: 'read_session', health: 'degraded', since: before(60), reason: 'status 500' },
          ],
          contractDrift: 0,
        },
      },
    },
  ],
  [
    'held_back_by_remote_service',
    'asked to wait for 33 s; 20 s are left',
    reads({ heldBackBy: 'remote_service', requestedWaitMs: 33_000, retryAfterMs: 20_000 }),
  ],
  [
    'held_back_by_breaker',
    'calls fail (status 500); the next attempt is in 4 s',
    reads({ heldBackBy: 'breaker', lastError: 'status 500', retryAfterMs: 4_000 }),
  ],
  [
    'held_back_by_ceiling',
    'SCS_MAX_REQUESTS_PER_SECOND=2',
    { replicas: [{ ...replica, pacedSince: before(62) }] },
  ],
  [
    'budget_short',
    'sessions want 10.0 reads per second; 2.0 are allowed, so intervals are 5.0 times as long',
    {
      budget: { ...HEALTHY.budget, isShort: true, stretch: 5, wantedPerSecond: 10, allowedPerSecond: 2 },
    },
  ],
  [
    'reads_stale',
    'late: a session was last read 15000 s ago',
    { poller: { ...poller, phases: [{ phase: 'late', oldestReadSeconds: 15_000, medianReadSeconds: 1 }] } },
  ],
  [
    'sessions_overdue',
    '7 sessions are due, the most overdue for 130 s',
    { poller: { ...poller, overdue: 7, oldestOverdueSeconds: 130 } },
  ],
  ['events_unsequenced', '3 events', { outbox: { ...outbox, unsequenced: 3, oldestUnsequencedSeconds: 61 } }],
  [
    'reader_behind',
    'webhooks',
    {
      outbox: {
        ...outbox,
        readers: {
          ...outbox.readers,
          webhooks: { ...outbox.readers.webhooks, oldestUndeliveredSeconds: 901 },
        },
      },
    },
  ],
  ['starts_abandoned', '2 starts', { starts: { abandoned: 2, oldestAbandonedSeconds: 61, orphans: 0 } }],
  ['tables_locked', 'users is locked by process 1', { tableLocks: ['users is locked by process 1'] }],
  [
    'webhooks_failing',
    '1 of 2 endpoints fail, the longest for 61 s',
    {
      outbox: {
        ...outbox,
        readers: {
          ...outbox.readers,
          webhooks: {
            ...outbox.readers.webhooks,
            endpoints: 2,
            failingEndpoints: 1,
            oldestFailingSeconds: 61,
          },
        },
      },
    },
  ],
  ['sessions_doubtful', 'of 2 sessions', { sessions: { ...HEALTHY.sessions, unrecognised: 2 } }],
  [
    'registrations_uncertain',
    '1 registrations',
    { registrations: { ...HEALTHY.registrations, uncertain: 1 } },
  ],
])('%s: %s', (code, detail, fault) => {
  const reasons = findReasons({ ...HEALTHY, ...fault }, CEILINGS);
  expect(reasons).toEqual([{ code, detail: expect.stringContaining(detail) }]);
});
