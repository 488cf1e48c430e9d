import { afterEach, expect, it, jest } from '@jest/globals';
import { DatabaseMetrics } from '../database/database-metrics.js';
import type { Database } from '../database/database.js';
import { Metrics } from './metrics.js';
import { RecentRequests } from './recent-requests.js';

afterEach(() => void jest.restoreAllMocks());

it('the metrics show the pool of the database, and how long its statements take', async () => {
  const metrics = new Metrics();
  const pool = { totalCount: 5, idleCount: 1, waitingCount: 3, options: { max: 7 } };
  const measure = (observe: (seconds: number) => void) => observe(0.0002);
  new DatabaseMetrics({ pool, measure, hasNoSpace: () => true } as unknown as Database, metrics);
  const text = await metrics.read();
  const lines = [
    'pool_connections{state="in_use"} 4',
    'pool_connections{state="idle"} 1',
    'pool_limit 7',
    'pool_waiting 3',
    'no_space 1',
    'statement_duration_seconds_bucket{le="0.0001"} 0',
    'statement_duration_seconds_bucket{le="0.00025"} 1',
  ];
  for (const line of lines) expect(text).toContain(`\npv_onboarding_database_${line}\n`);
});

it('the requests to the API are counted for a minute', async () => {
  const metrics = new Metrics();
  const recent = new RecentRequests(metrics);
  const countAt = (seconds: number) => {
    jest.spyOn(performance, 'now').mockReturnValue(seconds * 1_000);
    return recent.count();
  };
  const request = (route: string, ...statuses: number[]) => {
    for (const status of statuses) metrics.httpRequests.inc({ method: 'GET', route, status });
  };
  request('/api/v1/users', 200);
  expect(await countAt(0)).toEqual({ requests: 0, failedRequests: 0, refusedRequests: 0 });
  request('/api/v1/users', 200, 400, 429, 500, 503);
  // Its 503 may only mean that the remote service cannot be called.
  request('/api/v1/onboarding/pv/:id', 500, 503);
  request('/api/v1/users/:userId/pv/onboarding-sessions/:sessionId', 503);
  request('/api/v1/onboarding/pv', 503);
  request('/console', 404, 500);
  const all = { requests: 9, failedRequests: 4, refusedRequests: 2 };
  expect([await countAt(4), await countAt(5), await countAt(60)]).toEqual([all, all, all]);
  request('/api/v1/users', 403);
  expect(await countAt(61)).toEqual({ requests: 1, failedRequests: 0, refusedRequests: 1 });
});
