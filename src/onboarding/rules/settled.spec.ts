import { describe, expect, it } from '@jest/globals';
import {
  STARTED,
  NOW,
  DAY,
  SETTINGS,
  ONLINE,
  LASTING,
  withAbsent,
  observed,
  online,
} from '../../../test/setup/session-record.js';
import { reconcile, type Reading, type SessionRecord } from './reconcile.rules.js';

describe('a settled session', () => {
  const WATCHED = { ...SETTINGS, watchMs: 7 * DAY };
  const LONG_ONLINE = { ...ONLINE, anchorAt: new Date(NOW.getTime() - 3 * DAY) };
  const SETTLED: SessionRecord = { ...ONLINE, closedAt: STARTED, closeReason: 'settled' };
  const settled = (absentMs: number | null, missing = false): SessionRecord => ({
    ...SETTLED,
    inverters: withAbsent(absentMs, missing).inverters,
  });
  const decide = (session: SessionRecord, reading: Reading, settings = WATCHED) =>
    reconcile(session, reading, NOW, settings);
  const eventsOf = (session: SessionRecord, reading: Reading) =>
    decide(session, reading).events.map(({ name }) => name);
  const unchanged: Reading = { kind: 'unchanged' };

  it('is closed and watched on', () =>
    expect(decide(LONG_ONLINE, unchanged)).toMatchObject({
      close: 'settled',
      isRecorded: true,
      watch: { phase: 'watching', anchorAt: NOW },
      events: [{ name: 'session.closed', data: { reason: 'settled' } }],
    }));

  it('is watched on with the second look at an absent inverter', () =>
    expect(
      decide({ ...LONG_ONLINE, inverters: withAbsent(LASTING - 1).inverters }, unchanged).watch,
    ).toMatchObject({ phase: 'watching', lookAgainAt: new Date(NOW.getTime() + 1) }));

  it.each<[string, SessionRecord, Reading, object]>([
    ['the same response', SETTLED, unchanged, { isRecorded: false }],
    ['a response with the same inverters', SETTLED, online('a', 'b'), { isRecorded: false }],
    ['a response without inverters', SETTLED, observed({ inverters: null }), { isRecorded: false }],
    ['flags that the interface does not describe', SETTLED, observed({ active: false, inverters: null }), {}],
    ['an absent inverter', SETTLED, online('a'), { isRecorded: true, absent: ['b'], missing: [] }],
    ['its second look, too soon', settled(LASTING - 1), unchanged, { isRecorded: false, missing: [] }],
    ['its second look', settled(LASTING), unchanged, { isRecorded: true, missing: ['b'] }],
    ['all absent', SETTLED, online(), { isRecorded: true, absent: ['a', 'b'] }],
    ['an inverter that is back', settled(0, true), online('a', 'b'), { isRecorded: true, listed: ['b'] }],
    ['an absent one that is back', settled(LASTING), online('a', 'b'), { isRecorded: true, trusted: ['b'] }],
    ['a further inverter', SETTLED, online('a', 'b', 'c'), { isRecorded: true, listed: ['c'] }],
  ])('stays closed and watched after %s', (_, session, reading, expected) => {
    const decision = decide(session, reading);
    expect(decision).toMatchObject({
      transition: null,
      close: null,
      isReopened: false,
      watch: { phase: 'watching', anchorAt: STARTED, endingSince: null, endingReads: 0 },
      ...expected,
    });
  });

  it('is looked at again for an absent inverter', () =>
    expect(decide(SETTLED, online('a')).watch?.lookAgainAt).toEqual(new Date(NOW.getTime() + LASTING)));

  it('has only the events of its inverters', () => {
    expect(eventsOf(SETTLED, online('a'))).toEqual([]);
    expect(eventsOf(settled(LASTING), unchanged)).toEqual(['inverter.missing']);
    expect(eventsOf(settled(0, true), online('a', 'b'))).toEqual(['inverter.online']);
  });

  it('is not changed by an older response', () => {
    const older = observed({ inverters: ['a'], updatedAt: new Date(0) });
    expect(decide(SETTLED, older)).toMatchObject({
      isRecorded: false,
      absent: [],
      watch: { phase: 'watching', olderSince: NOW },
    });
  });

  it.each<[string, SessionRecord, Reading, number]>([
    ['the remote service no longer has it', settled(LASTING), { kind: 'gone', status: 404 }, 7],
    ['WATCH_ONLINE_DAYS is 0', settled(LASTING), unchanged, 0],
    ['it was closed for another reason', { ...SETTLED, closeReason: 'late_window_over' }, unchanged, 7],
    ['it was closed as lost', { ...SETTLED, closeReason: 'lost' }, unchanged, 7],
  ])('is no longer watched, without an event, if %s', (_, session, reading, days) =>
    expect(decide(session, reading, { ...SETTINGS, watchMs: days * DAY })).toMatchObject({
      isRecorded: false,
      missing: [],
      watch: null,
      events: [],
    }),
  );

  it('is not watched on after a current rule has found that it is not online', () => {
    const classification = { state: 'unrecognised', basis: 'observed', rule: 'a current rule' } as const;
    expect(decide(SETTLED, { kind: 'rederived', classification })).toMatchObject({
      transition: classification,
      watch: null,
    });
  });
});
