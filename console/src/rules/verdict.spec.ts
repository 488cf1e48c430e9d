import { describe, expect, it } from '@jest/globals';
import type { Status, StalledGroup } from '../api/client.js';
import { healthyStatus } from './status.example.js';
import { verdictOf } from './verdict.js';

const NOW = new Date('2026-11-26T12:00:00Z');
const SEEN = new Date('2026-11-26T11:30:00Z');
const known = (status: Status | undefined, unreadSince: Date | null = null) => ({
  status,
  stalled: [],
  unreadSince,
});
const reason = (code: Status['reasons'][number]['code'], title = 'Something is wrong') => ({
  code,
  title,
  severity: 'critical' as const,
  waitsFor: 'us' as const,
  runbook: 'docs/operations.md#a-section',
  remedies: [],
  detail: '',
  followsFrom: null,
  since: null,
});

describe('the verdict', () => {
  it('is that all is well, since this page saw it', () => {
    expect(verdictOf(known(healthyStatus()), SEEN)).toEqual({
      tone: 'well',
      sentence: 'All is well.',
      since: SEEN,
      sinceWords: 'Well since at least',
    });
  });

  it('is not that all is well while something needs a person, or while that is not known', () => {
    const group = (count: number, since: string) =>
      ({ count, oldest: [{ since }] }) as unknown as StalledGroup;
    const groups = [group(29, '2026-11-26T09:00:00Z'), group(1, '2026-11-25T09:00:00Z')];
    expect(verdictOf({ ...known(healthyStatus()), stalled: groups }, SEEN)).toEqual({
      tone: 'attention',
      sentence: 'The service is well; 30 items need a person.',
      since: new Date('2026-11-25T09:00:00Z'),
      sinceWords: 'The oldest since',
    });
    expect(verdictOf({ ...known(healthyStatus()), stalled: groups.slice(1) }, SEEN).sentence).toBe(
      'The service is well; 1 item needs a person.',
    );
    expect(verdictOf({ ...known(healthyStatus()), stalled: undefined }, SEEN).tone).toBe('unknown');
  });

  it('names the worst reason and counts the others', () => {
    const status = {
      ...healthyStatus(),
      reasons: [reason('no_worker', 'No worker runs'), reason('clocks_differ')],
    };
    expect(verdictOf(known(status), SEEN)).toMatchObject({
      tone: 'attention',
      sentence: 'No worker runs. One more is below.',
    });
  });

  it('says since when, if the status knows', () => {
    const since = '2026-11-26T10:00:00Z';
    const reasons = [
      { ...reason('disk_full', 'The database has no space left'), since },
      reason('webhooks_failing'),
      reason('clocks_differ', 'The clocks of processes differ'),
    ];
    expect(verdictOf(known({ ...healthyStatus(), reasons }), SEEN)).toEqual({
      tone: 'attention',
      sentence: 'The database has no space left. 2 more are below.',
      since: new Date(since),
      sinceWords: 'Since',
    });
    expect(verdictOf(known({ ...healthyStatus(), reasons: reasons.slice(2) }), SEEN)).toMatchObject({
      sentence: 'The clocks of processes differ.',
      since: SEEN,
      sinceWords: 'So since at least',
    });
  });

  it('is unknown while the status cannot be read, and says since when', () => {
    const unread = { tone: 'unknown', sinceWords: 'Since' };
    const old = 'The status cannot be read. What follows is old.';
    expect(verdictOf(known(healthyStatus(), SEEN), NOW)).toEqual({ ...unread, sentence: old, since: SEEN });
    const none = { ...unread, sentence: 'The status cannot be read.' };
    expect(verdictOf(known(undefined, SEEN), NOW)).toEqual({ ...none, since: SEEN });
    expect(verdictOf(known(undefined), NOW)).toEqual({ ...none, since: null });
  });
});
