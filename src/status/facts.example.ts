import { QUIET } from '../../test/setup/replicas.js';
import type { Facts } from './facts.view.js';

/* The facts of a healthy deployment, and what may be wrong with it. */

export const NOW = new Date('2026-11-22T12:00:00Z');
export const before = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000);
export const operation = {
  health: 'healthy',
  breaker: 'closed',
  heldBackBy: null,
  retryAfterMs: null,
  requestedWaitMs: null,
  lastSuccessAt: null,
  lastErrorAt: null,
  lastError: null,
} as const;
const { recentCalls: _, ...signs } = QUIET;
export const replica: Facts['replicas'][number] = {
  ...signs,
  name: 'a:1',
  role: 'all',
  isAlive: true,
  startedAt: before(60),
  lastSeenAt: before(1),
  readsPerSecond: 0,
  pacedSince: null,
  stoppedAt: null,
  clockOffsetSeconds: 0,
};
export const reader = { undelivered: 0, failing: 0, oldestFailingSeconds: 0, oldestUndeliveredSeconds: 0 };
export const CERTIFICATE = { name: 'SCS_CA_FILE', expiresAt: '2026-11-23', isExpiring: false, fault: null };
export const HEALTHY: Facts = {
  build: { version: '0.1.0', commit: null, newestMigration: '20261120000000_tables' },
  replicas: [replica],
  tableLocks: [],
  hasNoSpace: false,
  writesFault: null,
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
      pass_through: operation,
    },
    deployment: { degraded: [], calls: [], contractDrift: 0, newDrift: 0 },
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
    newestReadSeconds: 1,
    longestWaitSeconds: 1,
    phases: [{ phase: 'late', oldestReadSeconds: 900, medianReadSeconds: 450 }],
    abandonedBatches: 0,
  },
  budget: {
    stretch: 1,
    maxIntervalSeconds: 900,
    recentMaxIntervalSeconds: 900,
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
  sessions: {
    unrecognised: 0,
    lost: 0,
    allInvertersMissing: 0,
    someInvertersMissing: 0,
    sharedInverters: 0,
    stalled: [],
  },
  activity: {
    lastChangeAt: null,
    unchangedSeconds: 0,
    usualChanges: null,
    startsPerHour: 0,
    usualStartsPerHour: null,
  },
  oldestTransaction: null,
  brandOutages: [],
  registrations: {
    pending: 0,
    oldestPendingSeconds: 0,
    uncertain: 0,
    oldestUncertainSeconds: 0,
    areUnchecked: false,
    rejected: 0,
  },
  starts: { abandoned: 0, oldestAbandonedSeconds: 0, orphans: 0, newOrphans: 0 },
};

export const { remote, outbox } = HEALTHY;
export const poller = HEALTHY.poller!;
export const replicas = (...changes: Partial<Facts['replicas'][number]>[]) => ({
  replicas: changes.map((change) => ({ ...replica, ...change })),
});
export const gone = (name: string, seconds: number) => ({
  name,
  isAlive: false,
  lastSeenAt: before(seconds),
});
export const webhooks = (state: object): Partial<Facts> => {
  const { readers } = outbox;
  return { outbox: { ...outbox, readers: { ...readers, webhooks: { ...readers.webhooks, ...state } } } };
};
