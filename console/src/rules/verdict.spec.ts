import { describe, expect, it } from '@jest/globals';
import type { Status } from '../api/client.js';
import { healthyStatus } from './status.example.js';
import { sinceOf, verdictOf } from './verdict.js';

const NOW = new Date('2026-11-26T12:00:00Z');
const SEEN = new Date('2026-11-26T11:30:00Z');
const known = (status: Status | undefined, unreadSince: Date | null = null) => ({
  status,
  readAt: NOW,
  unreadSince,
});
const reason = (code: Status['reasons'][number]['code']) => ({ code, detail: '' });

describe('the verdict', () => {
  it('is that all is well, since this page saw it', () => {
    expect(verdictOf(known(healthyStatus()), SEEN, NOW)).toEqual({
      tone: 'well',
      sentence: 'All is well.',
      since: SEEN,
      isSinceSeen: true,
    });
  });

  it('names the worst reason and counts the others', () => {
    const status = { ...healthyStatus(), reasons: [reason('no_worker'), reason('clocks_differ')] };
    expect(verdictOf(known(status), SEEN, NOW)).toMatchObject({
      tone: 'attention',
      sentence: 'No worker runs: no session is read, no event is delivered. One more is below.',
    });
  });

  it('says since when, if the status knows', () => {
    const status = healthyStatus();
    status.registrations.oldestUncertainSeconds = 7_200;
    const reasons = [reason('registrations_uncertain'), reason('webhooks_failing'), reason('clocks_differ')];
    expect(verdictOf(known({ ...status, reasons }), SEEN, NOW)).toEqual({
      tone: 'attention',
      sentence: 'Registrations wait for your decision. 2 more are below.',
      since: new Date('2026-11-26T10:00:00Z'),
      isSinceSeen: false,
    });
  });

  it('is unknown while the service does not respond, and says since when', () => {
    expect(verdictOf(known(healthyStatus(), SEEN), NOW, NOW)).toMatchObject({ tone: 'unknown', since: SEEN });
    expect(verdictOf(known(undefined, SEEN), NOW, NOW)).toMatchObject({ tone: 'unknown', since: SEEN });
  });

  it('takes the last sign of life of a worker for the time since when none runs', () => {
    const status = healthyStatus();
    const [replica] = status.replicas;
    const replicas: Status['replicas'] = [
      { ...replica!, role: 'worker', isAlive: false, lastSeenAt: '2026-11-26T11:10:00Z' },
      { ...replica!, role: 'worker', isAlive: false, lastSeenAt: '2026-11-26T11:20:00Z' },
      { ...replica!, role: 'api', lastSeenAt: '2026-11-26T12:00:00Z' },
    ];
    expect(sinceOf('no_worker', { ...status, replicas }, NOW)).toEqual(new Date('2026-11-26T11:20:00Z'));
  });
});
