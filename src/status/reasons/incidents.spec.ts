import { expect, it } from '@jest/globals';
import type { ReasonCode } from '../reasons.js';
import { causeOf } from './incidents.rules.js';

it.each<Partial<Record<ReasonCode, ReasonCode | null>>>([
  { sessions_overdue: null },
  {
    remote_degraded: null,
    nothing_read: 'remote_degraded',
    held_back_by_breaker: 'remote_degraded',
    sessions_overdue: 'remote_degraded',
  },
  {
    credentials_rejected: null,
    remote_degraded: 'credentials_rejected',
    remote_slow: 'credentials_rejected',
    registrations_uncertain: null,
  },
  { tables_locked: null, events_unsequenced: 'tables_locked', sessions_overdue: 'tables_locked' },
  { proxy_fails: null, nothing_read: 'proxy_fails', starts_fell: 'proxy_fails' },
  { webhooks_failing: null, reader_behind: 'webhooks_failing' },
  { disk_full: null, no_worker: 'disk_full', starts_abandoned: 'disk_full' },
])('says from which reason each follows, of those that are present: %j', (expected) => {
  const codes = Object.keys(expected) as ReasonCode[];
  const present = new Set(codes);
  expect(Object.fromEntries(codes.map((code) => [code, causeOf(code, present)]))).toEqual(expected);
});
