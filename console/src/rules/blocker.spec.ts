import { expect, it } from '@jest/globals';
import type { Status } from '../api/client.js';
import { blockersOf } from './blocker.js';
import { healthyStatus } from './status.example.js';

it('names what the status says about the database, and nothing else', () => {
  const reasons = [
    { code: 'tables_locked', detail: 'process 7 (admin, psql) locks users' },
    { code: 'no_worker', detail: 'no process' },
    { code: 'transaction_old', detail: 'process 9 (report) has had a transaction open for 1500 s' },
  ] as unknown as Status['reasons'];
  expect(blockersOf(healthyStatus())).toEqual([]);
  expect(blockersOf({ ...healthyStatus(), reasons })).toEqual([
    'process 7 (admin, psql) locks users',
    'process 9 (report) has had a transaction open for 1500 s',
  ]);
});
