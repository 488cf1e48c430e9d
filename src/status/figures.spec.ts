import { expect, it } from '@jest/globals';
import { COMPUTED } from './deployment-figures.js';
import { before, gone, HEALTHY, poller, remote, replicas, webhooks } from './facts.example.js';
import type { Facts } from './facts.view.js';
import { sampleOf } from './history/sampled-figures.js';
import type { DeploymentStatus } from './status.service.js';

it('the figures of the history and of the metrics add up all replicas, operations, phases and causes', () => {
  const calls = (operation: 'read_session' | 'start_session', succeeded: number, failed: number) =>
    ({
      operation,
      succeeded,
      failed,
      p95Seconds: succeeded / 10,
    }) as Facts['remote']['deployment']['calls'][0];
  const facts: Facts = {
    ...HEALTHY,
    ...replicas(
      { role: 'api', clockOffsetSeconds: 1 },
      { role: 'api', clockOffsetSeconds: -3 },
      { role: 'worker', lastSeenAt: before(9), clockOffsetSeconds: 2, startedAt: before(1_000) },
      gone('vanished', 20),
      { ...gone('stopped', 20), stoppedAt: before(20), clockOffsetSeconds: 99 },
    ),
    ...webhooks({ endpoints: 7, failingEndpoints: 2, oldestUndeliveredSeconds: 12 }),
    remote: {
      ...remote,
      deployment: {
        ...remote.deployment,
        calls: [calls('read_session', 3, 1), calls('start_session', 0, 0)],
      },
    },
    token: { ...HEALTHY.token, ageSeconds: 77 },
    poller: {
      ...poller,
      ...{ overdue: 4, oldestOverdueSeconds: 5, readsPerSecond: 6 },
      phases: [300, 900, 600].map((oldestReadSeconds) => ({
        ...poller.phases[0]!,
        oldestReadSeconds,
      })),
    },
    budget: {
      ...HEALTHY.budget,
      ...{ stretch: 8, maxIntervalSeconds: 9, wantedPerSecond: 10, allowedPerSecond: 11 },
    },
    sessions: {
      ...HEALTHY.sessions,
      stalled: [
        { cause: 'lost', sessions: 20 },
        { cause: 'flapping', sessions: 3 },
      ],
    },
    activity: { ...HEALTHY.activity, startsPerHour: 13 },
    oldestTransaction: { seconds: 14 } as Facts['oldestTransaction'],
    registrations: { ...HEALTHY.registrations, pending: 15, uncertain: 16 },
  };
  expect(sampleOf(facts)).toEqual({
    ...{ readsPerSecond: 6, wantedPerSecond: 10, allowedPerSecond: 11, stretch: 8, maxIntervalSeconds: 9 },
    ...{ overdue: 4, latenessSeconds: 5, oldestReadSeconds: 900, stalled: 23, uncertain: 16, pending: 15 },
    ...{ startsPerHour: 13, handlersLagSeconds: 0, webhooksLagSeconds: 12, brokerLagSeconds: null },
    ...{ failingEndpoints: 2, oldestTransactionSeconds: 14, liveReplicas: 3 },
    ...{ 'read_session.calls': 4, 'read_session.successShare': 0.75, 'read_session.p95Seconds': 0.3 },
    ...{ 'start_session.calls': 0, 'start_session.successShare': null, 'start_session.p95Seconds': 0 },
  });
  const read = {
    ...{ facts, pendingWishes: 17, reasons: [] },
    operations: [
      { operation: 'read_session', health: 'degraded', waitSeconds: 18 },
      { operation: 'token', health: 'healthy', waitSeconds: 0 },
    ],
    stalled: [{ kind: 'session', cause: 'lost', count: 19 }],
  } as unknown as DeploymentStatus;
  expect(Object.fromEntries(Object.entries(COMPUTED).map(([name, { of }]) => [name, of(read)]))).toEqual({
    replicas: [
      [['api'], 2],
      [['worker'], 1],
      [['all'], 0],
    ],
    worker_last_seen_timestamp_seconds: [[[], before(9)]],
    vanished_replicas: [[[], 1]],
    lasting_releases: [[[], 1]],
    clock_offset_seconds: [[[], 3]],
    oldest_transaction_age_seconds: [[[], 14]],
    webhook_endpoints: [[['working'], 5]],
    remote_health: [
      [['read_session', 'healthy'], 0],
      [['read_session', 'degraded'], 1],
      [['read_session', 'credentials_rejected'], 0],
      [['token', 'healthy'], 1],
      [['token', 'degraded'], 0],
      [['token', 'credentials_rejected'], 0],
    ],
    remote_slow: [
      [['read_session'], 0],
      [['token'], 0],
    ],
    remote_wait_seconds: [
      [['read_session'], 18],
      [['token'], 0],
    ],
    pending_wishes: [[[], 17]],
    stalled: [[['session', 'lost'], 19]],
    token_age_seconds: [[[], 77]],
  });
});
