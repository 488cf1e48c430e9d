import { expect, it } from '@jest/globals';
import { blockersOf } from './blocker.js';
import { healthyStatus } from './status.example.js';

it('names who blocks the database, the worst first', () => {
  const status = healthyStatus();
  const [replica] = status.replicas;
  expect(blockersOf(status)).toEqual([]);
  expect(
    blockersOf({
      ...status,
      tableLocks: ['process 7 (admin, psql) locks users'],
      oldestTransaction: { seconds: 1_500, process: 'process 9 (report)' },
      replicas: [
        { ...replica!, hasNoSpace: true },
        { ...replica!, waitingForConnectionsSeconds: 12, longestStatement: 'SELECT 1' },
        { ...replica!, hasNoSpace: true, isAlive: false },
      ],
    }),
  ).toEqual([
    'host:1: the database has no space left',
    'process 7 (admin, psql) locks users',
    'host:1 has waited 12 s for a connection; the longest use of one: SELECT 1',
    'process 9 (report): a transaction has been open for 25 min',
  ]);
});

it('does not name what is normal, nor processes that ended', () => {
  const status = healthyStatus();
  const [replica] = status.replicas;
  const waits = { waitingForConnectionsSeconds: 0.5, longestStatement: null };
  expect(
    blockersOf({
      ...status,
      oldestTransaction: { seconds: 60, process: 'process 9' },
      replicas: [
        { ...replica!, ...waits },
        { ...replica!, ...waits, isAlive: false },
      ],
    }),
  ).toEqual(['host:1 has waited 0.5 s for a connection; the longest use of one: unknown']);
});
