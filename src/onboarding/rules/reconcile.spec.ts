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
  names,
} from '../../../test/setup/session-record.js';
import { reconcile, type Reading, type SessionRecord } from './reconcile.rules.js';

describe('reconcile', () => {
  it('brings a session online, and announces the session before its inverters', () => {
    const decision = reconcile(AWAITING, online('a', 'b'), NOW, SETTINGS);
    expect(decision.transition).toEqual({
      state: 'online',
      basis: 'observed',
      rule: 'finished_with_inverters',
    });
    expect(decision.listed).toEqual(['a', 'b']);
    expect(decision.watch).toMatchObject({ phase: 'settling', anchorAt: NOW, endingSince: null });
    expect(decision.events.map(({ name }) => name)).toEqual([
      'session.online',
      'inverter.online',
      'inverter.online',
    ]);
    expect(decision.events[0]).toMatchObject({
      subject: 's',
      data: {
        state: 'online',
        previousState: 'awaiting_owner',
        inverters: ['a', 'b'],
        metadata: { campaign: 7 },
        observedAt: NOW.toISOString(),
      },
    });
  });

  it('announces nothing for a response that changes nothing', () => {
    const decision = reconcile(AWAITING, observed({}), NOW, SETTINGS);
    expect(decision).toMatchObject({
      transition: null,
      events: [],
      close: null,
      watch: { anchorAt: STARTED },
    });
  });

  it('announces a further inverter of a session that is online', () => {
    expect(names(ONLINE, online('a', 'b', 'c'))).toEqual(['inverter.online']);
  });

  it('R81: announces that an inverter is missing only when a read confirms it after eight minutes, and that it is back', () => {
    const lookAgainAt = new Date(NOW.getTime() + LASTING);
    const first = reconcile(ONLINE, online('a'), NOW, SETTINGS);
    expect(first).toMatchObject({
      absent: ['b'],
      missing: [],
      listed: [],
      events: [],
      watch: { lookAgainAt },
    });
    const unchanged: Reading = { kind: 'unchanged' };
    for (const reading of [online('a'), unchanged]) {
      const early = reconcile(withAbsent(LASTING - 1), reading, NOW, SETTINGS);
      expect(early).toMatchObject({ absent: [], missing: [], events: [] });
      expect(early.watch!.lookAgainAt).toEqual(new Date(NOW.getTime() + 1));
      const late = reconcile(withAbsent(LASTING), reading, NOW, SETTINGS);
      expect(late).toMatchObject({ isRecorded: true, missing: ['b'], watch: { lookAgainAt: null } });
      expect(late.events).toMatchObject([
        { name: 'inverter.missing', data: { inverterId: 'b', invertersTotal: 1 } },
      ]);
    }
    expect(names(withAbsent(LASTING, true), online('a', 'b'))).toEqual(['inverter.online']);
  });

  it('R81: takes a missing list for no statement, and an inverter that is listed again for one that was never missing', () => {
    const silent = observed({ finished: true, active: false, inverters: null });
    expect(reconcile(ONLINE, silent, NOW, SETTINGS)).toMatchObject({ absent: [], missing: [], events: [] });
    for (const reading of [silent, online('a', 'b')]) {
      const decision = reconcile(withAbsent(2 * LASTING), reading, NOW, SETTINGS);
      expect(decision).toMatchObject({ trusted: ['b'], missing: [], events: [] });
      expect(decision.watch!.lookAgainAt).toBeNull();
    }
  });

  it('R81: leaves the inverters of a session that is not found as they are', () => {
    const gone: Reading = { kind: 'gone', status: 404 };
    const decision = reconcile(withAbsent(1_000), gone, NOW, SETTINGS);
    expect(decision).toMatchObject({ absent: [], missing: [], trusted: [] });
    expect(decision.watch!.lookAgainAt).toEqual(new Date(NOW.getTime() + LASTING - 1_000));
    expect(reconcile(ONLINE, gone, NOW, SETTINGS).watch!.lookAgainAt).toBeNull();
  });

  it('R81: does not miss an inverter again that is missing', () => {
    const missing = withAbsent(null, true);
    expect(reconcile(missing, online('a'), NOW, SETTINGS)).toMatchObject({ absent: [], missing: [] });
  });

  it('R81: gives each inverter its own eight minutes', () => {
    const decision = reconcile(withAbsent(LASTING), online(), NOW, SETTINGS);
    expect(decision).toMatchObject({ absent: ['a'], missing: ['b'] });
    expect(decision.watch!.lookAgainAt).toEqual(new Date(NOW.getTime() + LASTING));
  });

  it('R81: keeps a session expired when a response omits the flag', () => {
    const expired: SessionRecord = { ...AWAITING, state: 'expired', expired: true };
    expect(names(expired, observed({ expired: null }))).toEqual([]);
    expect(names(expired, observed({ expired: false }))).toEqual(['session.awaiting_owner']);
  });

  it('keeps an online session online whatever comes later', () => {
    expect(
      reconcile(ONLINE, observed({ expired: true, inverters: ['a', 'b'] }), NOW, SETTINGS).transition,
    ).toBeNull();
    expect(reconcile(ONLINE, { kind: 'gone', status: 404 }, NOW, SETTINGS)).toMatchObject({
      transition: null,
      events: [],
    });
  });

  it('lets an expired session come online late', () => {
    const expired: SessionRecord = { ...AWAITING, state: 'expired', rule: 'expired_flag' };
    const late = observed({ finished: true, active: false, expired: true, inverters: ['a'] });
    expect(names(expired, late)).toEqual(['session.online', 'inverter.online']);
  });

  it.each(['awaiting_installation', 'expired', 'lost', 'unrecognised'] as const)(
    'announces that a session awaits its owner again after %s',
    (state) => {
      const { transition, events } = reconcile({ ...AWAITING, state }, observed({}), NOW, SETTINGS);
      expect(transition).toEqual({ state: 'awaiting_owner', basis: 'observed', rule: 'as_started' });
      expect(events).toMatchObject([
        { name: 'session.awaiting_owner', data: { state: 'awaiting_owner', previousState: state } },
      ]);
    },
  );

  it('closes a session that is settled or past its late window, and ends its watch', () => {
    const settled = new Date(STARTED.getTime() + 3 * DAY);
    expect(reconcile(ONLINE, { kind: 'unchanged' }, settled, SETTINGS)).toMatchObject({
      close: 'settled',
      watch: null,
    });
    expect(names(ONLINE, { kind: 'unchanged' }, settled)).toEqual(['session.closed']);
    expect(names(AWAITING, { kind: 'unchanged' }, new Date(EXPIRES.getTime() + 7 * DAY))).toEqual([
      'session.closed',
    ]);
  });

  it('does not settle an online session that is no longer finished', () => {
    const settled = new Date(STARTED.getTime() + 3 * DAY);
    expect(names(ONLINE, observed({ inverters: ['a', 'b'] }), settled)).toEqual([]);
    const late = new Date(EXPIRES.getTime() + 7 * DAY);
    expect(names(ONLINE, observed({ inverters: ['a', 'b'] }), late)).toEqual(['session.closed']);
  });

  /** Applies `reading` once an hour. Returns the event names of each hour. */
  function hourly(session: SessionRecord, reading: Reading, hours: number, from = NOW) {
    let record = session;
    return Array.from({ length: hours }, (_, hour) => {
      const now = new Date(from.getTime() + hour * (DAY / 24));
      const { transition, watch, events } = reconcile(record, reading, now, SETTINGS);
      record = {
        ...record,
        ...transition,
        ...(reading.kind === 'observed' && { expiresAt: reading.observation.expiresAt }),
        endingSince: watch?.endingSince ?? null,
        endingReads: watch?.endingReads ?? 0,
      };
      return events.map(({ name }) => name).join();
    });
  }

  it('R65: calls a session lost at once, and closes it when it has been gone for hours', () => {
    expect(hourly(AWAITING, { kind: 'gone', status: 404 }, 7)).toEqual([
      'session.lost',
      '',
      '',
      '',
      '',
      '',
      'session.closed',
    ]);
  });

  it.each([
    ['year 1', new Date('0001-01-01T00:00:00Z')],
    ['the day before', new Date(STARTED.getTime() - DAY)],
    ['never', new Date('9999-12-31T00:00:00Z')],
  ])('R65: does not believe an implausible expiresAt: %s', (_, expiresAt) => {
    expect(hourly(AWAITING, observed({ expiresAt }), 24).join('')).toBe('');
    const weekLater = new Date(STARTED.getTime() + 7 * DAY);
    expect(hourly(AWAITING, observed({ expiresAt }), 7, weekLater).join('')).toBe(
      expiresAt > STARTED ? '' : 'session.closed',
    );
  });

  it('R65: closes by an earlier expiresAt only after it was observed for hours', () => {
    const monthly: SessionRecord = { ...AWAITING, expiresAt: new Date(STARTED.getTime() + 30 * DAY) };
    const tenDaysLater = new Date(STARTED.getTime() + 10 * DAY);
    const shorter = observed({ expiresAt: EXPIRES });
    expect(hourly(monthly, shorter, 7, tenDaysLater)).toEqual(['', '', '', '', '', '', 'session.closed']);
  });

  it('R65: does not trust an expiresAt that was recorded shortly before it would end the watch', () => {
    const weekLater = new Date(STARTED.getTime() + 7 * DAY);
    const minutesBefore = new Date(weekLater.getTime() - 600_000);
    const changed = { ...AWAITING, expiresAt: new Date('0001-01-01T00:00:00Z'), changedAt: minutesBefore };
    const decision = reconcile(changed, { kind: 'unchanged' }, weekLater, SETTINGS);
    expect(decision).toMatchObject({ close: null, watch: { endingSince: weekLater, endingReads: 1 } });
  });

  it('R65: ends the late window of a session that is now expired, now lost', () => {
    const weekLater = new Date(NOW.getTime() + 7 * DAY);
    const expired = observed({ active: false, expired: true });
    const first = reconcile(AWAITING, expired, NOW, SETTINGS).watch!;
    expect(first.anchorAt).toEqual(NOW);
    const lost = { ...AWAITING, state: 'lost' as const, anchorAt: first.anchorAt };
    expect(reconcile(lost, expired, weekLater, SETTINGS)).toMatchObject({
      transition: { state: 'expired' },
      close: 'late_window_over',
    });
  });

  it('R65: drops the evidence at the first read that contradicts it', () => {
    const doubted: SessionRecord = { ...AWAITING, endingSince: STARTED, endingReads: 9 };
    expect(reconcile(doubted, observed({}), NOW, SETTINGS).watch?.endingSince).toBeNull();
  });

  it('R65: reopens a closed session only for a response that gives a reason to watch it', () => {
    const closed: SessionRecord = { ...AWAITING, closedAt: STARTED, expiresAt: STARTED };
    const late = new Date(STARTED.getTime() + 8 * DAY);
    expect(names(closed, online('a'), late)).toEqual([
      'session.reopened',
      'session.online',
      'inverter.online',
    ]);
    const same = observed({ expiresAt: STARTED });
    expect(reconcile(closed, same, late, SETTINGS)).toMatchObject({
      isRecorded: false,
      watch: null,
      events: [],
    });
    expect(names(closed, observed({ expiresAt: late }), late)).toEqual(['session.reopened']);
    const lost: SessionRecord = { ...closed, state: 'lost' };
    expect(names(lost, observed({ expiresAt: late }), late)).toEqual([
      'session.reopened',
      'session.awaiting_owner',
    ]);
    const settled: SessionRecord = { ...ONLINE, closedAt: STARTED };
    expect(names(settled, online('a', 'b', 'c'), late)).toEqual(['session.reopened', 'inverter.online']);
  });

  it('R64: omits the list from the events of inverters, and puts its first 100 ids into the event of the session', () => {
    const inverters = Array.from({ length: 1_000 }, (_, n) => `inverter-${n}`);
    const { events } = reconcile(AWAITING, online(...inverters), NOW, SETTINGS);
    expect(events).toHaveLength(1_001);
    expect(events[0]!.data).toMatchObject({ inverters: inverters.slice(0, 100), invertersTotal: 1_000 });
    expect(events[1]!.data).toMatchObject({ inverterId: 'inverter-0', invertersTotal: 1_000 });
    expect(events[1]!.data).not.toHaveProperty('inverters');
  });

  it('R64: treats a longer list than a session can have as an error, and changes no inverter', () => {
    const inverters = Array.from({ length: 1_001 }, (_, n) => `inverter-${n}`);
    const many = online(...inverters);
    expect(reconcile(AWAITING, many, NOW, SETTINGS)).toMatchObject({
      transition: { state: 'unrecognised', rule: 'too_many_inverters' },
      listed: [],
    });
    expect(reconcile(ONLINE, many, NOW, SETTINGS)).toMatchObject({
      transition: null,
      listed: [],
      missing: [],
    });
  });

  it('R64: records no more inverters of a session than one response may list', () => {
    const known = Array.from({ length: 999 }, (_, n) => ({
      id: `inverter-${n}`,
      missing: true,
      absentMs: null,
    }));
    const session = { ...ONLINE, inverters: known };
    const { listed } = reconcile(session, online('x', 'y', 'inverter-0'), NOW, SETTINGS);
    expect(listed).toEqual(['x', 'inverter-0']);
  });

  it('R66: announces no change beyond the limit, reports the flapping once, and still announces that the session is online', () => {
    let record = AWAITING;
    const announced: string[] = [];
    for (let flap = 0; flap < 100; flap++) {
      const reading = observed(flap % 2 === 0 ? { active: false } : {});
      const { transition, watch, events } = reconcile(record, reading, NOW, SETTINGS);
      record = { ...record, ...transition, ...watch };
      announced.push(...events.map(({ name }) => name));
    }
    expect(announced.filter((name) => name === 'session.unrecognised')).toHaveLength(15);
    expect(announced.filter((name) => name === 'session.awaiting_owner')).toHaveLength(15);
    expect(announced.filter((name) => name === 'session.flapping')).toHaveLength(1);
    expect(names(record, online('a'))).toEqual(['session.online', 'inverter.online']);
    const muchLater = new Date(NOW.getTime() + 2 * (DAY / 24));
    expect(
      reconcile(record, observed({ active: false }), muchLater, SETTINGS).watch?.flappingSince,
    ).toBeNull();
  });

  it('corrects a closed session by a current rule, without closing it again', () => {
    const closed: SessionRecord = {
      ...AWAITING,
      state: 'unrecognised',
      closedAt: STARTED,
      anchorAt: null,
    };
    const rederived = (state: 'expired' | 'awaiting_owner'): Reading => ({
      kind: 'rederived',
      classification: { state, basis: 'observed', rule: 'a current rule' },
    });
    expect(names(closed, rederived('expired'))).toEqual(['session.expired']);
    expect(names(closed, rederived('awaiting_owner'))).toEqual(['session.awaiting_owner']);
  });

  it('records and announces a rederived state with the basis and the rule that gave it', () => {
    const classification = { state: 'awaiting_owner', basis: 'inferred', rule: 'a current rule' } as const;
    const { transition, events } = reconcile(ONLINE, { kind: 'rederived', classification }, NOW, SETTINGS);
    expect(transition).toEqual(classification);
    expect(events).toMatchObject([
      { name: 'session.awaiting_owner', data: { ...classification, previousState: 'online' } },
    ]);
  });

  it('watches a reopened session from now on, also in the phase in which it was closed', () => {
    const settled: SessionRecord = { ...ONLINE, closedAt: STARTED };
    const late = new Date(STARTED.getTime() + 8 * DAY);
    const { transition, watch } = reconcile(settled, online('a', 'b', 'c'), late, SETTINGS);
    expect(transition).toBeNull();
    expect(watch).toMatchObject({ phase: 'settling', anchorAt: late });
  });
});

it.each([
  [401, 'refused_on_every_path'],
  [403, 'refused_on_every_path'],
  [404, 'not_found_on_every_path'],
  [410, 'not_found_on_every_path'],
])('a session that is lost by %i has the rule %s', (status, rule) => {
  const { transition } = reconcile(AWAITING, { kind: 'gone', status }, NOW, SETTINGS);
  expect(transition).toEqual({ state: 'lost', basis: 'observed', rule });
});
