import { describe, expect, it } from '@jest/globals';
import {
  STARTED,
  NOW,
  EXPIRES,
  DAY,
  SETTINGS,
  AWAITING,
  ONLINE,
  LASTING,
  withAbsent,
  observed,
  online,
} from '../../../test/setup/session-record.js';
import { reconcile, type Reading, type SessionRecord } from './reconcile.rules.js';

describe('a reading that is counted as a change', () => {
  const FULL = new Date(NOW.getTime() + 3_600_000);
  const LONG_ONLINE = { ...ONLINE, anchorAt: new Date(NOW.getTime() - 3 * DAY), expiresAt: EXPIRES };
  const decide = (session: SessionRecord, reading: Reading) => reconcile(session, reading, NOW, SETTINGS);
  const unchanged: Reading = { kind: 'unchanged' };
  const gone: Reading = { kind: 'gone', status: 404 };

  it.each([
    ['a response', AWAITING, observed({}), true],
    ['a session that is gone', AWAITING, gone, true],
    ['an inverter that is missing', withAbsent(LASTING), unchanged, true],
    ['a response as before', AWAITING, unchanged, false],
    ['an inverter that is absent', withAbsent(LASTING - 1), unchanged, false],
  ])('%s', (_, session, reading, isChange) => {
    const { isRecorded, watch } = decide(session, reading);
    expect([isRecorded, watch?.changesClearAt !== null]).toEqual([isChange, isChange]);
  });

  it('is recorded if it ends the watch', () =>
    expect(decide(LONG_ONLINE, unchanged)).toMatchObject({
      close: 'settled',
      isRecorded: true,
      watch: null,
    }));

  it.each([
    // Each of the 30 changes an hour takes two minutes.
    [3_480_000, true],
    [3_480_001, false],
  ])('is recorded if it is the last that is allowed: all again in %i ms, %s', (ms, isRecorded) => {
    const session = { ...AWAITING, changesClearAt: new Date(NOW.getTime() + ms) };
    expect(decide(session, observed({})).isRecorded).toBe(isRecorded);
  });

  it.each<[string, SessionRecord, Reading, boolean]>([
    ['a response', AWAITING, observed({ expired: true }), true],
    ['the end of a watch', LONG_ONLINE, online('a'), false],
    ['a session that comes online', AWAITING, online('a'), false],
    ['a closed session', { ...AWAITING, closedAt: STARTED, anchorAt: null }, observed({}), false],
    [
      'a new rule',
      AWAITING,
      { kind: 'rederived', classification: { state: 'expired', basis: 'observed', rule: 'expired' } },
      false,
    ],
  ])('too often is held back: %s', (_, session, reading, isHeldBack) => {
    const { isRecorded, watch } = decide({ ...session, changesClearAt: FULL }, reading);
    expect([isRecorded, watch?.flappingSince ?? null]).toEqual(isHeldBack ? [false, NOW] : [true, null]);
  });

  it('and held back continues the watch, with the inverters that were present', () => {
    const inverters = [
      { id: 'a', missing: false, absentMs: null },
      { id: 'b', missing: false, absentMs: 1_000 },
      { id: 'c', missing: false, absentMs: 5_000 },
      { id: 'd', missing: true, absentMs: 9_000 },
    ];
    const { watch, events } = decide({ ...ONLINE, inverters, changesClearAt: FULL }, online());
    expect(watch).toMatchObject({
      anchorAt: STARTED,
      flappingSince: NOW,
      lookAgainAt: new Date(NOW.getTime() + LASTING - 5_000),
    });
    expect(events).toMatchObject([{ name: 'session.flapping', data: { inverters: ['a', 'b', 'c'] } }]);
  });

  it.each([
    [null, null],
    [NOW, null],
    [new Date(NOW.getTime() + 1), STARTED],
  ])('ends the time of many changes if all are allowed again, as at %s', (changesClearAt, flappingSince) => {
    const { watch } = decide({ ...AWAITING, changesClearAt, flappingSince: STARTED }, observed({}));
    expect(watch).toMatchObject({ flappingSince });
  });
});

describe('a response that is older than the last recorded one', () => {
  const LATER = new Date(STARTED.getTime() + 60_000);
  const awaitingInstallation: Partial<SessionRecord> = { state: 'awaiting_installation', updatedAt: LATER };
  const expired: Partial<SessionRecord> = { state: 'expired', expired: true, updatedAt: LATER };
  const updatedOnline: Partial<SessionRecord> = { ...withAbsent(2 * LASTING), updatedAt: LATER };
  const decide = (session: Partial<SessionRecord>, reading: Reading) =>
    reconcile({ ...AWAITING, ...session }, reading, NOW, SETTINGS);

  it.each<[string, Partial<SessionRecord>, Reading]>([
    ['without the update by the owner', awaitingInstallation, observed({})],
    ['with flags that step back', expired, observed({ active: true, expired: false })],
    ['with flags that nobody describes', awaitingInstallation, observed({ active: false })],
    ['with an earlier expiresAt', awaitingInstallation, observed({ expiresAt: STARTED })],
    ['without an inverter', updatedOnline, online('a')],
    ['with an inverter that was missing', { ...withAbsent(null, true), updatedAt: LATER }, online('a', 'b')],
    ['with a further inverter', updatedOnline, online('a', 'b', 'c')],
    [
      'by a millisecond',
      { ...awaitingInstallation, updatedAt: new Date(STARTED.getTime() + 1) },
      observed({}),
    ],
  ])('changes nothing: %s', (_, session, reading) => {
    const { watch, ...decision } = decide(session, reading);
    const nothing = { transition: null, listed: [], absent: [], missing: [], trusted: [], events: [] };
    expect(decision).toEqual({ ...nothing, isRecorded: false, close: null, isReopened: false });
    expect(watch).toMatchObject({ anchorAt: STARTED, olderSince: NOW, changesClearAt: null, endingReads: 0 });
  });

  it.each<[string, Partial<SessionRecord>, Reading, string[]]>([
    [
      'as old as the last one',
      { ...awaitingInstallation, updatedAt: STARTED },
      observed({}),
      ['awaiting_owner'],
    ],
    ['that brings the session online', awaitingInstallation, online('a'), ['online']],
    ['about a lost session', { state: 'lost', updatedAt: LATER }, observed({}), ['awaiting_owner']],
    [
      'as all for six hours',
      { ...expired, olderSince: new Date(NOW.getTime() - SETTINGS.endEvidenceMs) },
      observed({}),
      ['awaiting_owner'],
    ],
    [
      'as all for a little less',
      { ...expired, olderSince: new Date(NOW.getTime() - SETTINGS.endEvidenceMs + 1) },
      observed({}),
      [],
    ],
    ['about a closed session', { ...expired, closedAt: STARTED }, observed({}), []],
  ])('counts, or not: %s', (_, session, reading, states) => {
    const { transition, watch } = decide(session, reading);
    expect(transition === null ? [] : [transition.state]).toEqual(states);
    if (session.closedAt === undefined)
      expect(watch!.olderSince).toEqual(states.length > 0 ? null : session.olderSince);
    else expect(watch).toBeNull();
  });

  it.each<[Reading]>([
    [{ kind: 'unchanged' }],
    [observed({ updatedAt: LATER })],
    [{ kind: 'gone', status: 404 }],
  ])('is the first again after another reading: %j', (reading) => {
    expect(decide({ ...awaitingInstallation, olderSince: STARTED }, reading).watch!.olderSince).toBeNull();
  });
});
