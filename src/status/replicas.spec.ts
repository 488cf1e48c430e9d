import { describe, expect, it } from '@jest/globals';
import {
  hasBegun,
  lastingReleasesOf,
  releaseOf,
  requestsOf,
  slowOf,
  usedUpOf,
  vanishedOf,
} from './replicas.rules.js';

const BUILD = { version: '0.1.0', commit: 'a'.repeat(40), newestMigration: '20261120000000_tables' };

it('names a release by version, commit and newest migration', () => {
  expect(releaseOf(BUILD)).toBe('0.1.0 (commit aaaaaaaaaaaa, migration 20261120000000_tables)');
  expect(releaseOf({ version: '1', commit: null, newestMigration: null })).toBe(
    '1 (commit unknown, migration unknown)',
  );
});

describe('a deployment', () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 10, 22, 12) + seconds * 1_000);
  const process = (role: 'api' | 'worker' | 'all', startedAt: Date, isAlive = true) =>
    ({ role, startedAt, isAlive, lastSeenAt: at(0) }) as Parameters<typeof hasBegun>[0][number];

  it.each([
    ['has begun with one process for everything', [process('all', at(-1))], true],
    ['has begun with both roles', [process('api', at(-2)), process('worker', at(-1))], true],
    ['has not begun before the first worker', [process('api', at(-120))], false],
    ['has not begun before the first api process', [process('worker', at(-119))], false],
    ['has begun without a worker after two minutes', [process('api', at(-121))], true],
    [
      'has not begun by the start of a worker that ended',
      [process('api', at(-9)), process('worker', at(-8), false)],
      false,
    ],
    [
      'had begun, if its worker ended after a while',
      [process('api', at(-9)), process('worker', at(-300), false)],
      true,
    ],
    ['has not begun without processes', [], false],
  ] as const)('%s', (_, replicas, expected) => expect(hasBegun(replicas)).toBe(expected));
});

describe('releases that last', () => {
  const minutesAgo = (minutes: number) => new Date(Date.UTC(2026, 10, 22, 12) - minutes * 60_000);
  const old = { name: 'a:1', isAlive: true, startedAt: minutesAgo(600), lastSeenAt: minutesAgo(0), ...BUILD };
  const other = { ...old, name: 'b:1', version: '0.2.0' };

  it.each([
    ['two releases for 16 minutes', [old, { ...other, startedAt: minutesAgo(16) }], 2],
    ['two releases during a rollout', [old, { ...other, startedAt: minutesAgo(15) }], 1],
    ['a process that does not know its commit, before others', [{ ...old, commit: null }, old], 1],
    ['a process of a third release', [old, other, { ...other, name: 'c:1', version: '0.3.0' }], 3],
    ['two releases, one of which ended', [old, { ...other, isAlive: false }], 1],
    ['three processes of two releases', [old, other, { ...other, name: 'c:1' }], 2],
    ['two commits', [old, { ...old, name: 'b:1', commit: 'b'.repeat(40) }], 2],
    ['two newest migrations', [old, { ...old, name: 'b:1', newestMigration: '20261120000100_comments' }], 2],
    ['a process that does not know its commit', [old, { ...old, name: 'b:1', commit: null }], 1],
    ['no live process', [{ ...old, isAlive: false }], 0],
  ] as const)('%s', (_, replicas, count) => {
    expect(lastingReleasesOf(replicas)).toHaveLength(count);
  });
});

describe('processes', () => {
  const NOW = Date.UTC(2026, 10, 22, 12);
  type Replica = Parameters<typeof usedUpOf>[0][number];
  const replica = (name: string, silentSeconds: number, change: Partial<Replica> = {}) =>
    ({
      name,
      isAlive: false,
      stoppedAt: null,
      lastSeenAt: new Date(NOW - silentSeconds * 1_000),
      waitingForConnectionsSeconds: 6,
      latestCalls: [],
      ...change,
    }) as Partial<Replica> as Replica;
  const latest = replica('latest', 0, { isAlive: true, waitingForConnectionsSeconds: 0 });
  const namesOf = (replicas: readonly Replica[]) => replicas.map(({ name }) => name);

  it('have vanished for ten minutes if they neither live nor stopped in order', () => {
    const others = [
      replica('ended', 599),
      replica('long ago', 600),
      replica('stopped', 5, { stoppedAt: new Date(NOW) }),
      replica('alive', 5, { isAlive: true }),
    ];
    expect(namesOf(vanishedOf([latest, ...others]))).toEqual(['ended']);
  });

  it('have used up their connections, even if they have been silent for less than a minute', () => {
    const others = [
      replica('waits', 5, { isAlive: true }),
      replica('silent', 59),
      replica('too silent', 60),
      replica('stopped', 5, { stoppedAt: new Date(NOW) }),
      replica('waits briefly', 5, { waitingForConnectionsSeconds: 5 }),
    ];
    expect(namesOf(usedUpOf([latest, ...others]))).toEqual(['waits', 'silent']);
  });

  it.each([
    [10, 4, 6, false, false],
    [13, 5, 7, true, true],
    [14, 5, 7, true, false],
    [99, 5, 50, true, true],
    [100, 5, 50, false, false],
  ])(
    'of %i requests, fail %i and refuse %i: %s and %s',
    (requests, failedRequests, refusedRequests, areFailing, areRefused) => {
      const one = { isAlive: true, requests: 1, failedRequests: 1, refusedRequests: 1 };
      const other = {
        isAlive: true,
        requests: requests - 1,
        failedRequests: failedRequests - 1,
        refusedRequests: refusedRequests - 1,
      };
      const replicas = [
        replica('one', 1, one),
        replica('other', 1, other),
        replica('ended', 9, { ...one, isAlive: false }),
      ];
      expect(requestsOf(replicas)).toEqual({
        requests,
        failed: failedRequests,
        areFailing,
        refused: refusedRequests,
        areRefused,
      });
    },
  );

  it('are slow together, by the operation', () => {
    const calls = (slow: number) => ({ operation: 'start_session', calls: 4, slow }) as const;
    const others = [
      replica('one', 1, { isAlive: true, latestCalls: [calls(4), { ...calls(4), operation: 'token' }] }),
      replica('other', 1, { isAlive: true, latestCalls: [calls(1)] }),
      replica('ended', 9, { latestCalls: [calls(4)] }),
    ];
    expect(slowOf(others)).toEqual([
      { operation: 'start_session', calls: 8, slow: 5 },
      { operation: 'token', calls: 4, slow: 4 },
    ]);
  });
});
