import { expect, it } from '@jest/globals';
import { sinceOf } from './since.rules.js';

type Code = Parameters<typeof sinceOf>[0];
type Facts = Parameters<typeof sinceOf>[1];

const NOW = new Date('2026-11-22T12:00:00Z');
const before = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000);
const readers = {
  handlers: { oldestUndeliveredSeconds: 10 },
  webhooks: { oldestUndeliveredSeconds: 30, oldestFailingSeconds: 40 },
  broker: { oldestUnpublishedSeconds: 20, failingSince: before(50) },
};
const trouble = (health: string, seconds: number) => ({ health, since: before(seconds) });
const FACTS = {
  remote: { deployment: { degraded: [trouble('degraded', 60), trouble('credentials_rejected', 70)] } },
  poller: { oldestOverdueSeconds: 80 },
  outbox: { oldestUnsequencedSeconds: 90, readers },
  starts: { oldestAbandonedSeconds: 100 },
  registrations: { oldestUncertainSeconds: 110 },
  oldestTransaction: { seconds: 120 },
} as unknown as Facts;

it.each<[Code, number]>([
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
])('%s is since its cause, if no sample had it before', (code, seconds) => {
  expect(sinceOf(code, FACTS, undefined, NOW)).toEqual(before(seconds));
  expect(sinceOf(code, FACTS, before(1), NOW)).toEqual(before(seconds));
  expect(sinceOf(code, FACTS, before(3_600), NOW)).toEqual(before(3_600));
});

it('is of the samples alone where the facts say nothing, and null where nobody knows', () => {
  const nothingWaits = { ...FACTS, starts: { oldestAbandonedSeconds: 0 }, poller: null } as Facts;
  expect(sinceOf('starts_abandoned', nothingWaits, undefined, NOW)).toBeNull();
  expect(sinceOf('sessions_overdue', nothingWaits, before(5), NOW)).toEqual(before(5));
  expect(sinceOf('no_worker', FACTS, undefined, NOW)).toBeNull();
});
