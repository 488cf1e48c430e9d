import { expect, it } from '@jest/globals';
import {
  before,
  CERTIFICATE,
  gone,
  HEALTHY,
  NOW,
  operation,
  outbox,
  poller,
  reader,
  remote,
  replicas,
  webhooks,
} from './facts.example.js';
import type { Facts } from './facts.view.js';
import { findReasons, REASON_CODES, sinceOf, type ReasonCode } from './reasons.js';
import { causeOf } from './reasons/incidents.rules.js';

const SETTINGS = {
  SCS_MAX_REQUESTS_PER_SECOND: 2,
  NODE_ENV: 'production',
  BRAND_NAME: 'Sun',
  BRAND_PRIVACY_URL: 'https://sun.example/privacy',
} as const;

const reasonsOf = (facts: Facts) =>
  findReasons(facts, SETTINGS, {}, NOW).map(({ code, detail }) => ({ code, detail }));

const degraded = (trouble: Omit<Facts['remote']['deployment']['degraded'][number], 'since'>) => ({
  remote: { ...remote, deployment: { ...remote.deployment, degraded: [{ ...trouble, since: before(60) }] } },
});
const broker = (state: object): Partial<Facts> => {
  const { readers } = outbox;
  const quiet = { oldestUnpublishedSeconds: 0, failingSeconds: 0, lastError: null };
  return {
    outbox: { ...outbox, readers: { ...readers, broker: { ...quiet, ...state } as typeof readers.broker } },
  };
};
const handlers = (state: object): Partial<Facts> => ({
  outbox: { ...outbox, readers: { ...outbox.readers, handlers: { ...reader, ...state } } },
});
const drift = (newDrift: number) => ({
  remote: { ...remote, deployment: { ...remote.deployment, contractDrift: 3, newDrift } },
});
const reads = (state: object): Partial<Facts> => ({
  remote: { ...remote, operations: { ...remote.operations, read_session: { ...operation, ...state } } },
});
const activity = (change: Partial<Facts['activity']>) => ({ activity: { ...HEALTHY.activity, ...change } });
const sessions = (change: Partial<Facts['sessions']>) => ({ sessions: { ...HEALTHY.sessions, ...change } });
const budget = (change: Partial<Facts['budget']>) => ({ budget: { ...HEALTHY.budget, ...change } });
const due = (change: Partial<typeof poller>) => ({ poller: { ...poller, ...change } });
const starts = (change: Partial<Facts['starts']>) => ({ starts: { ...HEALTHY.starts, ...change } });
const registrations = (change: Partial<Facts['registrations']>) => ({
  registrations: { ...HEALTHY.registrations, ...change },
});
const unsequenced = (change: Partial<Facts['outbox']>) => ({ outbox: { ...outbox, ...change } });

it('a healthy deployment has no reasons', () => expect(reasonsOf(HEALTHY)).toEqual([]));

it.each<[string, string | string[], Partial<Facts>]>([
  ['no_worker', 'is alive', replicas({ role: 'api' })],
  ['no_api', 'no process with ROLE api or all', replicas({ role: 'worker' })],
  [
    'no_worker',
    '; the last one, b:1, stopped at 2026-11-22T11:59:55.000Z',
    replicas({ role: 'api' }, gone('a:2', 600), { ...gone('b:1', 7), stoppedAt: before(5) }),
  ],
  [
    'connections_used_up',
    'for 8 s; the longest use of one: SELECT users, for 9.0 s',
    replicas({ waitingForConnectionsSeconds: 8, longestStatement: 'SELECT users, for 9.0 s' }),
  ],
  ['requests_fail', '6 of 100 requests', replicas({ requests: 100, failedRequests: 6 })],
  [
    'requests_refused',
    '51 of 100 requests of the last minute were refused with a 4xx',
    replicas({ requests: 100, refusedRequests: 51 }),
  ],
  ['disk_full', 'a:1: the database has no space left', replicas({ hasNoSpace: true })],
  [
    'writes_fail',
    'the responding process cannot write its sign of life: refused',
    { ...replicas(gone('a:1', 10), gone('b:1', 10), gone('c:1', 10)), writesFault: 'refused' },
  ],
  [
    'replicas_vanish',
    '3 processes ended within 10 minutes without stopping in order: b:1 (all), c:1 (all), d:1 (all)',
    replicas(
      {},
      ...['b:1', 'c:1', 'd:1'].map((name) => gone(name, 300)),
      { ...gone('e:1', 300), stoppedAt: before(300) },
      gone('f:1', 900),
    ),
  ],
  [
    'nothing_changes',
    '1.0 reads per second, and no change of a session for 60 minutes; at the same hours of each of the last days there were at least 12',
    activity({ unchangedSeconds: 3_600, usualChanges: 12 }),
  ],
  [
    'starts_fell',
    '8 starts within the last hour; at the same hour of each of the last days there were at least 46',
    activity({ startsPerHour: 8, usualStartsPerHour: 46 }),
  ],
  [
    'brand_unreachable',
    'acme: of its newest sessions, 7 cannot be read and 2 can; its owners wait',
    { brandOutages: [{ brand: 'acme', failing: 7, read: 2, seconds: 60 }] },
  ],
  ['inverters_shared', '1 inverter is', sessions({ sharedInverters: 1 })],
  [
    'transaction_old',
    'process 7 (alice, psql, idle in transaction) has had a transaction open for 901 s',
    { oldestTransaction: { seconds: 901, process: 'process 7 (alice, psql, idle in transaction)' } },
  ],
  [
    'clocks_differ',
    'a:1: its clock differs from that of the database by -31 s',
    replicas({ clockOffsetSeconds: -31 }),
  ],
  [
    'remote_services_differ',
    'customers are registered at 2 services: a:1 uses https://scs.example, b:1 uses https://scs.example/test',
    replicas(
      { remoteService: 'https://scs.example' },
      { name: 'b:1', remoteService: 'https://scs.example/test' },
      { name: 'c:1', remoteService: null },
      { name: 'd:1', remoteService: 'https://old.scs.example', isAlive: false },
    ),
  ],
  [
    'releases_differ',
    'processes of 2 releases have run for over 15 minutes: a:1 runs 0.1.0 (commit unknown, migration 20261120000000_tables), b:1 runs 0.2.0',
    replicas({ startedAt: before(2_000) }, { startedAt: before(1_000), name: 'b:1', version: '0.2.0' }),
  ],
  [
    'no_worker',
    'the last sign of life was at 2026-11-22T11:59:50.000Z',
    replicas({ role: 'api' }, gone('b:1', 10)),
  ],
  [
    'remote_slow',
    'start_session: 3 of the latest 4 calls of all processes took over 2 s',
    replicas(
      ...[1, 2].map((slow) => ({ latestCalls: [{ operation: 'start_session', calls: 2, slow }] as const })),
    ),
  ],
  [
    'credentials_rejected',
    'no token',
    degraded({ operation: 'token', health: 'credentials_rejected', reason: 'no token' }),
  ],
  [
    'remote_degraded',
    'read_session: status 500, since 2026-11-22T11:59:00.000Z',
    degraded({ operation: 'read_session', health: 'degraded', reason: 'status 500' }),
  ],
  [
    'proxy_fails',
    'a:1: the proxy p:1 rejects our credentials',
    {
      ...replicas({ proxyFault: 'the proxy p:1 rejects our credentials' }),
      // Nothing is known about the remote service.
      remote: {
        ...degraded({ operation: 'token', health: 'degraded', reason: 'p:1' }).remote,
        ...reads({ heldBackBy: 'breaker', lastError: 'p:1', retryAfterMs: 4_000 }).remote,
      },
    },
  ],
  [
    'certificates_expire',
    'a:1: the certificate in SCS_CA_FILE expires at 2026-11-23',
    replicas({ certificates: [{ ...CERTIFICATE, isExpiring: true }] }),
  ],
  [
    'certificates_expire',
    'a:1: SCS_CA_FILE cannot be read; the files',
    replicas({ certificates: [{ ...CERTIFICATE, fault: 'SCS_CA_FILE cannot be read' }] }),
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
  ['held_back_by_ceiling', 'SCS_MAX_REQUESTS_PER_SECOND=2', replicas({ pacedSince: before(62) })],
  [
    'budget_short',
    'sessions want 10.0 reads per second; 2.0 are allowed, so intervals are 5.0 times as long',
    budget({ isShort: true, stretch: 5, wantedPerSecond: 10, allowedPerSecond: 2 }),
  ],
  [
    'reads_stale',
    'late: a session was last read 15000 s ago',
    due({ phases: [{ phase: 'late', oldestReadSeconds: 15_000, medianReadSeconds: 1 }] }),
  ],
  [
    'sessions_overdue',
    '7 sessions are due, the most overdue for 130 s',
    due({ overdue: 7, oldestOverdueSeconds: 130 }),
  ],
  ['events_unsequenced', '3 events', unsequenced({ unsequenced: 3, oldestUnsequencedSeconds: 61 })],
  ['reader_behind', 'broker: an event has not arrived for 901 s', broker({ oldestUnpublishedSeconds: 901 })],
  ['broker_failing', 'for 61 s: no stream', broker({ failingSeconds: 61, lastError: 'no stream' })],
  ['reader_behind', 'webhooks', webhooks({ oldestUndeliveredSeconds: 901 })],
  ['starts_abandoned', '2 starts', starts({ abandoned: 2, oldestAbandonedSeconds: 61 })],
  ['tables_locked', 'users is locked by process 1', { tableLocks: ['users is locked by process 1'] }],
  [
    'webhooks_failing',
    '1 of 2 endpoints fail, the longest for 901 s',
    webhooks({ endpoints: 2, failingEndpoints: 1, oldestFailingSeconds: 901 }),
  ],
  ['webhooks_disabled', '1 endpoint was disabled automatically', webhooks({ disabledEndpoints: 1 })],
  [
    'handlers_failing',
    'on 2 events, the oldest of 301 s ago',
    handlers({ failing: 2, oldestFailingSeconds: 301 }),
  ],
  ['starts_lost', '2 sessions', starts({ orphans: 3, newOrphans: 2 })],
  ['contract_drifted', '1 difference was first seen', drift(1)],
  ['contract_drifted', '2 differences were first seen', drift(2)],
  [
    'nothing_read',
    'a session has waited for 601 s to be read; the last successful read was 620 s ago',
    due({ longestWaitSeconds: 601, newestReadSeconds: 620 }),
  ],
  ['disk_full', 'this process: the database has no space left', { hasNoSpace: true }],
  ['sessions_doubtful', 'of 2 sessions', sessions({ unrecognised: 2 })],
  ['registrations_uncertain', '1 registration waits', registrations({ uncertain: 1 })],
  [
    'registrations_uncertain',
    'since a restore, new registrations and campaigns wait',
    registrations({ areUnchecked: true }),
  ],
  [
    'requests_fail',
    '5 of 99 requests of the last minute failed by a fault of ours',
    replicas({ requests: 99, failedRequests: 5 }),
  ],
  ['requests_refused', '7 of 13 requests', replicas({ requests: 13, refusedRequests: 7 })],
  [
    'nothing_changes',
    'no change of a session for 2 minutes',
    activity({ unchangedSeconds: 100, usualChanges: 10 }),
  ],
  ['starts_fell', '1 start within the last hour', activity({ startsPerHour: 1, usualStartsPerHour: 10 })],
  [
    'clocks_differ',
    ['a:1: its clock', 'b:1: its clock differs from that of the database by 31 s'],
    replicas({ clockOffsetSeconds: -31 }, { name: 'b:1', clockOffsetSeconds: 31 }),
  ],
  ['disk_full', ['a:1', 'b:1'], replicas({ hasNoSpace: true }, { name: 'b:1', hasNoSpace: true })],
  [
    'connections_used_up',
    [
      'a:1: statements have waited for its DATABASE_POOL_SIZE connections for 6 s; the longest use of one: unknown',
    ],
    replicas({ waitingForConnectionsSeconds: 5.6, longestStatement: null }),
  ],
  ['budget_short', '3.0 times as long', budget({ stretch: 3, wantedPerSecond: 3, allowedPerSecond: 1 })],
  [
    'reads_stale',
    ['settling: a session was last read 36000 s ago', 'late: a session was last read 28801 s ago'],
    {
      ...due({
        phases: [
          { phase: 'settling', oldestReadSeconds: 36_000, medianReadSeconds: 1 },
          { phase: 'late', oldestReadSeconds: 28_801, medianReadSeconds: 1 },
        ],
      }),
      ...budget({ recentMaxIntervalSeconds: 1_800 }),
    },
  ],
  [
    'sessions_overdue',
    '1 session is due, the most overdue for 121 s',
    due({ overdue: 1, oldestOverdueSeconds: 120.6 }),
  ],
  [
    'events_unsequenced',
    '1 event has no sequence, the oldest for 61 s',
    unsequenced({ unsequenced: 1, oldestUnsequencedSeconds: 61 }),
  ],
  [
    'reader_behind',
    ['handlers: an event has not arrived for 901 s', 'webhooks: an event has not arrived for 902 s'],
    {
      outbox: {
        ...outbox,
        readers: {
          ...outbox.readers,
          handlers: { ...reader, oldestUndeliveredSeconds: 901 },
          webhooks: { ...outbox.readers.webhooks, oldestUndeliveredSeconds: 902 },
        },
      },
    },
  ],
  [
    'webhooks_failing',
    '1 of 1 endpoint fails, the longest',
    webhooks({ endpoints: 1, failingEndpoints: 1, oldestFailingSeconds: 901 }),
  ],
  [
    'starts_abandoned',
    '1 start waits for a worker to end it',
    starts({ abandoned: 1, oldestAbandonedSeconds: 61 }),
  ],
  ['registrations_uncertain', '2 registrations wait for a person', registrations({ uncertain: 2 })],
  [
    'sessions_doubtful',
    [
      'the interface does not describe the flags of 1 session',
      'the remote service no longer knows 2 sessions',
      'all inverters are missing from 3 sessions',
    ],
    sessions({ unrecognised: 1, lost: 2, allInvertersMissing: 3 }),
  ],
  ['inverters_shared', '2 inverters are each listed', sessions({ sharedInverters: 2 })],
  [
    'held_back_by_remote_service',
    ['token: the remote service asked to wait for 2 s; 0 s are left', 'read_session: the remote service'],
    {
      remote: {
        ...remote,
        operations: {
          ...remote.operations,
          ...Object.fromEntries(
            ['token', 'read_session'].map((name) => [
              name,
              { ...operation, heldBackBy: 'remote_service', requestedWaitMs: 1_001, retryAfterMs: null },
            ]),
          ),
        },
      },
    },
  ],
  [
    'no_api',
    'no process with ROLE api or all is alive; the last one, b:1, stopped at 2026-11-22T11:59:55.000Z',
    replicas(
      { role: 'worker' },
      { ...gone('b:1', 7), role: 'api', stoppedAt: before(5) },
      { ...gone('c:1', 2), role: 'worker' },
      gone('d:1', 9),
    ),
  ],
  [
    'no_worker',
    'the last sign of life was at 2026-11-22T11:59:50.000Z, by b:1',
    replicas(
      { role: 'api' },
      gone('c:1', 601),
      { ...gone('b:1', 10), role: 'worker' },
      { ...gone('d:1', 2), role: 'api' },
    ),
  ],
  [
    'nothing_read',
    'a session has waited for 700 s to be read; the last successful read was at an unknown time',
    due({ longestWaitSeconds: 700, newestReadSeconds: null }),
  ],
  [
    'disk_full',
    'b:1: the database has no space left',
    { ...replicas({}, { name: 'b:1', hasNoSpace: true }), hasNoSpace: true },
  ],
])('%s says %j', (code, details, fault) => {
  expect(reasonsOf({ ...HEALTHY, ...fault })).toEqual(
    [details].flat().map((detail) => ({ code, detail: expect.stringContaining(detail) })),
  );
});

it('the brands that fail are named where their failures may hold back the reads of all', () => {
  const brandOutages = ['acme', 'zeus'].map((brand) => ({ brand, failing: 7, read: 0, seconds: 60 }));
  const of = (operation: 'read_session' | 'start_session') =>
    reasonsOf({
      ...HEALTHY,
      ...degraded({ operation, health: 'degraded', reason: 'status 500' }),
      brandOutages,
    });
  const told = 'sessions of acme, zeus fail, and may hold back the reads of all';
  const brands = ['brand_unreachable', 'brand_unreachable'];
  expect(of('read_session').map(({ code }) => code)).toEqual(['remote_degraded', ...brands]);
  expect(of('read_session')[0]!.detail).toContain(told);
  expect(of('start_session')[0]!.detail).not.toContain(told);
});

// Each value is the last that is normal.
it.each<[string, Partial<Facts>]>([
  ['connections_used_up', replicas({ waitingForConnectionsSeconds: 5 })],
  ['requests_fail by its share', replicas({ requests: 100, failedRequests: 5 })],
  ['requests_fail by its count', replicas({ requests: 4, failedRequests: 4 })],
  ['requests_refused by its share', replicas({ requests: 100, refusedRequests: 50 })],
  ['requests_refused by its count', replicas({ requests: 6, refusedRequests: 6 })],
  ['disk_full, of a process that ended', replicas({}, { ...gone('b:1', 900), hasNoSpace: true })],
  ['proxy_fails, of a process that ended', replicas({}, { ...gone('b:1', 900), proxyFault: 'p:1' })],
  ['certificates_expire', replicas({ certificates: [CERTIFICATE] })],
  ['replicas_vanish by its count', replicas({}, gone('b:1', 300), gone('c:1', 300))],
  ['replicas_vanish by its time', replicas({}, ...['b', 'c', 'd'].map((name) => gone(name, 601)))],
  ['nothing_changes', activity({ unchangedSeconds: 36_000, usualChanges: 9 })],
  ['nothing_changes, unread', { ...activity({ usualChanges: 10 }), ...due({ readsPerSecond: 0 }) }],
  ['nothing_changes, without a poller', { ...activity({ usualChanges: 10 }), poller: null }],
  ['starts_fell by its share', activity({ startsPerHour: 2, usualStartsPerHour: 10 })],
  ['starts_fell by its count', activity({ startsPerHour: 0, usualStartsPerHour: 9 })],
  ['transaction_old', { oldestTransaction: { seconds: 900, process: 'p' } }],
  ['clocks_differ', replicas({ clockOffsetSeconds: -30 }, { clockOffsetSeconds: 30 })],
  ['clocks_differ, of a process that ended', replicas({}, { ...gone('b:1', 900), clockOffsetSeconds: 99 })],
  ['held_back_by_ceiling', replicas({ pacedSince: before(61) })],
  [
    'releases_differ, one release',
    replicas({ startedAt: before(2_000) }, { startedAt: before(1_000), name: 'b:1' }),
  ],
  ['held_back_by_ceiling, ended', replicas({}, { ...gone('b:1', 900), pacedSince: before(9_999) })],
  ['budget_short', budget({ stretch: 2, allowedPerSecond: 1 })],
  ['budget_short, without a ceiling', budget({ isShort: true, stretch: 1 })],
  ['reads_stale', due({ phases: [{ phase: 'late', oldestReadSeconds: 14_400, medianReadSeconds: 1 }] })],
  ['sessions_overdue', due({ oldestOverdueSeconds: 120 })],
  [
    'reads_stale, planned earlier with a longer interval',
    {
      ...due({ phases: [{ phase: 'late', oldestReadSeconds: 28_800, medianReadSeconds: 1 }] }),
      ...budget({ recentMaxIntervalSeconds: 1_800 }),
    },
  ],
  ['sessions_overdue, without a poller', { poller: null }],
  ['nothing_read by its wait', due({ longestWaitSeconds: 600, newestReadSeconds: null })],
  ['nothing_read by its last read', due({ longestWaitSeconds: 9_999, newestReadSeconds: 600 })],
  ['handlers_failing', handlers({ failing: 1, oldestFailingSeconds: 300 })],
  ['starts_lost', starts({ orphans: 3 })],
  ['contract_drifted', drift(0)],
  ['events_unsequenced', unsequenced({ oldestUnsequencedSeconds: 60 })],
  ['reader_behind', webhooks({ oldestUndeliveredSeconds: 900 })],
  ['broker_failing', broker({ failingSeconds: 60 })],
  ['starts_abandoned', starts({ abandoned: 1, oldestAbandonedSeconds: 60 })],
])('what is still normal is no reason: %s', (_, fault) =>
  expect(reasonsOf({ ...HEALTHY, ...fault })).toEqual([]),
);

it('a proxy that fails for one process of several hides no trouble of the remote service', () => {
  const facts = {
    ...replicas({ proxyFault: 'p:1 refuses' }, { name: 'b:1' }),
    ...degraded({ operation: 'read_session', health: 'degraded', reason: 'status 500' }),
  };
  const codes = reasonsOf({ ...HEALTHY, ...facts }).map(({ code }) => code);
  expect(codes).toEqual(['proxy_fails', 'remote_degraded']);
});

it('the worst of several reasons comes first', () => {
  const faults = {
    ...replicas({ role: 'api', hasNoSpace: true, clockOffsetSeconds: 99 }),
    tableLocks: ['locked'],
  };
  const codes = reasonsOf({ ...HEALTHY, ...faults }).map(({ code }) => code);
  // First those that are critical.
  expect(codes).toEqual(['disk_full', 'tables_locked', 'no_worker', 'clocks_differ']);
});

const waiting = {
  handlers: { oldestUndeliveredSeconds: 10, oldestFailingSeconds: 130 },
  webhooks: { oldestUndeliveredSeconds: 30, oldestFailingSeconds: 40 },
  broker: { oldestUnpublishedSeconds: 20, failingSince: before(50) },
};
const trouble = (health: string, seconds: number) => ({ health, since: before(seconds) });
const PARTS = {
  replicas: [],
  remote: { deployment: { degraded: [trouble('degraded', 60), trouble('credentials_rejected', 70)] } },
  poller: { oldestOverdueSeconds: 80 },
  outbox: { oldestUnsequencedSeconds: 90, readers: waiting },
  starts: { oldestAbandonedSeconds: 100 },
  registrations: { oldestUncertainSeconds: 110 },
  oldestTransaction: { seconds: 120 },
} as unknown as Facts;

it.each<[ReasonCode, number]>([
  ['reader_behind', 30],
  ['webhooks_failing', 40],
  ['broker_failing', 50],
  ['remote_degraded', 60],
  ['credentials_rejected', 70],
  ['sessions_overdue', 80],
  ['events_unsequenced', 90],
  ['starts_abandoned', 100],
  ['registrations_uncertain', 110],
  ['transaction_old', 120],
  ['handlers_failing', 130],
])('%s is since its cause, if no sample had it before', (code, seconds) => {
  expect(sinceOf(code, PARTS, undefined, NOW)).toEqual(before(seconds));
  expect(sinceOf(code, PARTS, before(1), NOW)).toEqual(before(seconds));
  expect(sinceOf(code, PARTS, before(3_600), NOW)).toEqual(before(3_600));
});

it('is of the samples alone where the facts say nothing, and null where nobody knows', () => {
  const nothingWaits = { ...PARTS, starts: { oldestAbandonedSeconds: 0 }, poller: null } as Facts;
  expect(sinceOf('starts_abandoned', nothingWaits, undefined, NOW)).toBeNull();
  expect(sinceOf('sessions_overdue', nothingWaits, before(5), NOW)).toEqual(before(5));
  expect(sinceOf('no_worker', PARTS, undefined, NOW)).toBeNull();
});

it('says in production that the pages for owners name nobody, and lead to no privacy statement', () => {
  const { BRAND_NAME: _name, BRAND_PRIVACY_URL: _url, ...unnamed } = SETTINGS;
  const codesOf = (settings: typeof unnamed | { NODE_ENV: 'development' }) =>
    findReasons(HEALTHY, { ...unnamed, ...settings }, {}, NOW).map(({ code }) => code);
  expect(codesOf(unnamed)).toEqual(['brand_unnamed', 'privacy_unlinked']);
  expect(codesOf({ NODE_ENV: 'development' })).toEqual([]);
});

it('a reason follows from more far-reaching ones alone', () => {
  const late = 'nothing_read reads_stale sessions_overdue nothing_changes';
  const blocked = `${late} events_unsequenced reader_behind requests_fail handlers_failing starts_abandoned`;
  const calls = 'held_back_by_breaker starts_fell';
  const following: Readonly<Record<string, string>> = {
    disk_full: `${blocked} writes_fail no_worker`,
    tables_locked: `${blocked} writes_fail`,
    writes_fail: blocked,
    no_worker: `${late} events_unsequenced reader_behind starts_abandoned`,
    proxy_fails: `${late} remote_degraded ${calls}`,
    credentials_rejected: `${late} remote_degraded ${calls}`,
    remote_degraded: `${late} remote_slow ${calls}`,
    held_back_by_breaker: late,
    held_back_by_remote_service: `${late} budget_short`,
    remote_slow: 'reads_stale sessions_overdue',
    budget_short: 'reads_stale',
    webhooks_failing: 'reader_behind',
  };
  for (const cause of REASON_CODES) {
    const found = REASON_CODES.filter((code) => causeOf(code, new Set([cause])) === cause);
    expect([cause, ...found.sort()]).toEqual([cause, ...(following[cause]?.split(' ') ?? []).sort()]);
  }
});
