import { expect, it } from '@jest/globals';
import { HOURS, successOf } from './success.js';

it('counts deliveries by the hour of their last attempt, and leaves out those before', () => {
  const now = new Date('2026-06-02T10:20:00Z');
  const tried = (status: 'delivered' | 'pending' | 'failed', lastAttemptAt: string | null) => ({
    status,
    lastAttemptAt,
  });
  const hours = successOf(
    [
      tried('delivered', '2026-06-02T10:01:00Z'),
      tried('pending', '2026-06-02T10:19:00Z'),
      tried('failed', '2026-06-01T11:00:00Z'),
      tried('delivered', '2026-06-01T10:59:00Z'),
      tried('pending', null),
    ],
    now,
  );
  expect(hours).toHaveLength(HOURS);
  expect(hours[0]).toEqual({ at: new Date('2026-06-01T11:00:00Z'), delivered: 0, failed: 1 });
  expect(hours.at(-1)).toEqual({ at: new Date('2026-06-02T10:00:00Z'), delivered: 1, failed: 1 });
  expect(hours.slice(1, -1).every(({ delivered, failed }) => delivered + failed === 0)).toBe(true);
});
