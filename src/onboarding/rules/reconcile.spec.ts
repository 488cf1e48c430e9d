import { describe, expect, it } from '@jest/globals';
import { reconcile } from './reconcile.rules.js';
import type { Reading, SessionRecord } from './reconcile.rules.js';
import { changeEvents, erasedEvent, factsOf, startedEvent } from './session-events.rules.js';

const STARTED = new Date('2026-11-20T10:00:00Z');
const NOW = new Date('2026-11-20T11:00:00Z');
const EXPIRES = new Date('2026-11-21T10:00:00Z');
const DAY = 86_400_000;
const SETTINGS = {
  minIntervalMs: 15_000,
  maxIntervalMs: 900_000,
  settleMs: 3 * DAY,
  watchMs: 0,
  lateMs: 7 * DAY,
  endEvidenceMs: DAY / 4,
};

const AWAITING: SessionRecord = {
  id: 's',
  userId: 'u',
  gridLocationId: 'g',
  tenantReference: 'customer-1',
  brand: 'acme',
  metadata: { campaign: 7 },
  state: 'awaiting_owner',
  basis: 'observed',
  rule: 'as_started',
  startedUpdatedAt: STARTED,
  updatedAt: STARTED,
  expiresAt: EXPIRES,
  closedAt: null,
  closeReason: null,
  finished: false,
  expired: false,
  recordedAt: STARTED,
  changedAt: STARTED,
  anchorAt: STARTED,
  olderSince: null,
  endingSince: null,
  endingReads: 0,
  changesClearAt: null,
  flappingSince: null,
  inverters: [],
};
const ONLINE: SessionRecord = {
  ...AWAITING,
  state: 'online',
  rule: 'finished_with_inverters',
  finished: true,
  inverters: [
    { id: 'a', missing: false, absentMs: null },
    { id: 'b', missing: false, absentMs: null },
  ],
};
/** By default, how long an inverter must be absent before it is missing. */
const LASTING = 8 * 60_000;
const withAbsent = (absentMs: number | null, missing = false): SessionRecord => ({
  ...ONLINE,
  inverters: [ONLINE.inverters[0]!, { id: 'b', missing, absentMs }],
});

const observed = (changes: {
  finished?: boolean;
  active?: boolean;
  expired?: boolean | null;
  inverters?: string[] | null;
  updatedAt?: Date;
  expiresAt?: Date;
}): Reading => ({
  kind: 'observed',
  observation: {
    finished: false,
    active: true,
    expired: false,
    createdAt: STARTED,
    updatedAt: STARTED,
    inverters: [],
    expiresAt: EXPIRES,
    ...changes,
  },
  response: { httpStatus: 200, body: '{}', hash: '00', factsHash: '00' },
});
const online = (...inverters: string[]) => observed({ finished: true, active: false, inverters });
const names = (session: SessionRecord, reading: Reading, now = NOW) =>
  reconcile(session, reading, now, SETTINGS).events.map(({ name }) => name);

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

describe('the events of a session', () => {
  const facts = {
    sessionId: 's',
    userId: 'u',
    gridLocationId: 'g',
    tenantReference: 'customer-1',
    brand: 'acme',
    metadata: { campaign: 7 },
    state: 'online',
    previousState: null,
    basis: 'observed',
    rule: 'finished_with_inverters',
    inverters: [],
    invertersTotal: 0,
    observedAt: NOW.toISOString(),
  } as const;

  it('say all about its start, and nothing of the customer after an erasure', () => {
    expect(startedEvent(ONLINE, NOW)).toEqual({ name: 'session.started', subject: 's', data: facts });
    const erased = { ...facts, previousState: 'online', tenantReference: null, metadata: {} };
    expect(erasedEvent(ONLINE, NOW)).toEqual({
      name: 'session.closed',
      subject: 's',
      data: { ...erased, reason: 'erased' },
    });
  });

  it('say why it is closed', () => {
    const close = { transition: null, listed: [], missing: [], close: 'settled', isReopened: false } as const;
    expect(changeEvents(facts, close)).toEqual([
      { name: 'session.closed', subject: 's', data: { ...facts, reason: 'settled' } },
    ]);
  });

  it('name at most 100 inverters, and count all', () => {
    const inverters = Array.from({ length: 101 }, (_, index) => `inverter-${index}`);
    expect(factsOf(ONLINE, ONLINE, null, inverters, NOW)).toMatchObject({
      inverters: inverters.slice(0, 100),
      invertersTotal: 101,
    });
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
