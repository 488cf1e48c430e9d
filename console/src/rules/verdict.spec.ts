import { describe, expect, it } from '@jest/globals';
import type { Status } from '../api/client.js';
import { healthyStatus } from './status.example.js';
import { verdictOf } from './verdict.js';

const NOW = new Date('2026-11-26T12:00:00Z');
const SEEN = new Date('2026-11-26T11:30:00Z');
const known = (status: Status | undefined, unreadSince: Date | null = null) => ({
  status,
  readAt: NOW,
  unreadSince,
});
const reason = (code: Status['reasons'][number]['code']) => ({
  code,
  detail: '',
  since: null,
});

describe('the verdict', () => {
  it('is that all is well, since this page saw it', () => {
    expect(verdictOf(known(healthyStatus()), SEEN)).toEqual({
      tone: 'well',
      sentence: 'All is well.',
      since: SEEN,
      isSinceSeen: true,
    });
  });

  it('names the worst reason and counts the others', () => {
    const status = { ...healthyStatus(), reasons: [reason('no_worker'), reason('clocks_differ')] };
    expect(verdictOf(known(status), SEEN)).toMatchObject({
      tone: 'attention',
      sentence: 'No worker runs: no session is read, no event is delivered. One more is below.',
    });
  });

  it('says since when, if the status knows', () => {
    const since = '2026-11-26T10:00:00Z';
    const reasons = [{ ...reason('disk_full'), since }, reason('webhooks_failing'), reason('clocks_differ')];
    expect(verdictOf(known({ ...healthyStatus(), reasons }), SEEN)).toEqual({
      tone: 'attention',
      sentence: 'The database has no space left. 2 more are below.',
      since: new Date(since),
      isSinceSeen: false,
    });
    expect(verdictOf(known({ ...healthyStatus(), reasons: reasons.slice(1) }), SEEN)).toMatchObject({
      since: SEEN,
      isSinceSeen: true,
    });
  });

  it('is unknown while the service does not respond, and says since when', () => {
    expect(verdictOf(known(healthyStatus(), SEEN), NOW)).toMatchObject({ tone: 'unknown', since: SEEN });
    expect(verdictOf(known(undefined, SEEN), NOW)).toMatchObject({ tone: 'unknown', since: SEEN });
  });
});
