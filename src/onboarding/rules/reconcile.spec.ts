import { describe, expect, it } from '@jest/globals';
import { reconcile } from './reconcile.rules.js';
import type { Reading, SessionRecord } from './reconcile.rules.js';

const STARTED = new Date('2026-11-20T10:00:00Z');
const NOW = new Date('2026-11-20T11:00:00Z');
const EXPIRES = new Date('2026-11-21T10:00:00Z');
const DAY = 86_400_000;
const SETTINGS = {
  minIntervalMs: 15_000,
  maxIntervalMs: 900_000,
  settleMs: 3 * DAY,
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
  expiresAt: EXPIRES,
  closedAt: null,
  finished: false,
  recordedAt: STARTED,
  changedAt: STARTED,
  anchorAt: STARTED,
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
    { id: 'a', missing: false },
    { id: 'b', missing: false },
  ],
};

const observed = (changes: {
  finished?: boolean;
  active?: boolean;
  expired?: boolean;
  inverters?: string[];
  updatedAt?: Date;
  expiresAt?: Date;
}): Reading => ({
  kind: 'observed',
  observation: {
    finished: false,
    active: true,
    expired: false,
    updatedAt: STARTED,
    inverters: [],
    expiresAt: EXPIRES,
    ...changes,
  },
});
const names = (session: SessionRecord, reading: Reading, now = NOW) =>
  reconcile(session, reading, now, SETTINGS).events.map(({ name }) => name);

describe('reconcile', () => {
  it('brings a session online with its inverters, in the order in which a reader wants to hear it', () => {
    const decision = reconcile(
      AWAITING,
      observed({ finished: true, active: false, inverters: ['a', 'b'] }),
      NOW,
      SETTINGS,
    );
    expect(decision.transition).toEqual({
      state: 'online',
      basis: 'observed',
      rule: 'finished_with_inverters',
    });
    expect(decision.listed).toEqual(['a', 'b']);
    expect(decision.watch).toMatchObject({ phase: 'settling', anchorAt: NOW, ending: null });
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

  it('says nothing of an answer that means what was known', () => {
    const decision = reconcile(AWAITING, observed({}), NOW, SETTINGS);
    expect(decision).toMatchObject({
      transition: null,
      events: [],
      close: null,
      watch: { anchorAt: STARTED },
    });
  });

  it('announces a further inverter of a session that is online', () => {
    expect(names(ONLINE, observed({ finished: true, active: false, inverters: ['a', 'b', 'c'] }))).toEqual([
      'inverter.online',
    ]);
  });

  it('announces an inverter that is missing, and that it is back', () => {
    const without = reconcile(
      ONLINE,
      observed({ finished: true, active: false, inverters: ['a'] }),
      NOW,
      SETTINGS,
    );
    expect(without).toMatchObject({ transition: null, missing: ['b'], listed: [] });
    const missed = {
      ...ONLINE,
      inverters: [
        { id: 'a', missing: false },
        { id: 'b', missing: true },
      ],
    };
    expect(
      reconcile(missed, observed({ finished: true, active: false, inverters: ['a', 'b'] }), NOW, SETTINGS)
        .listed,
    ).toEqual(['b']);
  });

  it('keeps an online session online whatever comes later', () => {
    expect(
      reconcile(ONLINE, observed({ expired: true, inverters: ['a', 'b'] }), NOW, SETTINGS).transition,
    ).toBeNull();
    expect(reconcile(ONLINE, { kind: 'gone' }, NOW, SETTINGS)).toMatchObject({
      transition: null,
      events: [],
    });
  });

  it('lets an expired session come online late', () => {
    const expired: SessionRecord = { ...AWAITING, state: 'expired', rule: 'expired_flag' };
    const late = observed({ finished: true, active: false, expired: true, inverters: ['a'] });
    expect(names(expired, late)).toEqual(['session.online', 'inverter.online']);
  });

  it('closes what is settled, or past its late window, and then watches no more', () => {
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

  it('does not settle a session whose flags take back that it is online', () => {
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
        endingSince: watch?.ending?.since ?? null,
        endingReads: watch?.ending?.reads ?? 0,
      };
      return events.map(({ name }) => name).join();
    });
  }

  it('R65: calls a session lost at once, and closes it when it has been gone for hours', () => {
    expect(hourly(AWAITING, { kind: 'gone' }, 7)).toEqual([
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
  ])('R65: believes no expiresAt that a session cannot have: %s', (_, expiresAt) => {
    expect(hourly(AWAITING, observed({ expiresAt }), 24).join('')).toBe('');
    const weekLater = new Date(STARTED.getTime() + 7 * DAY);
    expect(hourly(AWAITING, observed({ expiresAt }), 7, weekLater).join('')).toBe(
      expiresAt > STARTED ? '' : 'session.closed',
    );
  });

  it('R65: closes by an earlier expiresAt only after it has been said for hours', () => {
    const monthly: SessionRecord = { ...AWAITING, expiresAt: new Date(STARTED.getTime() + 30 * DAY) };
    const tenDaysLater = new Date(STARTED.getTime() + 10 * DAY);
    const shorter = observed({ expiresAt: EXPIRES });
    expect(hourly(monthly, shorter, 7, tenDaysLater)).toEqual(['', '', '', '', '', '', 'session.closed']);
  });

  it('R65: takes an expiresAt for a claim that was recorded shortly before it would end the watch', () => {
    const weekLater = new Date(STARTED.getTime() + 7 * DAY);
    const minutesBefore = new Date(weekLater.getTime() - 600_000);
    const told = { ...AWAITING, expiresAt: new Date('0001-01-01T00:00:00Z'), changedAt: minutesBefore };
    const decision = reconcile(told, { kind: 'unchanged' }, weekLater, SETTINGS);
    expect(decision).toMatchObject({ close: null, watch: { ending: { since: weekLater, reads: 1 } } });
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

  it('R65: forgets the evidence with the first read that says otherwise', () => {
    const doubted: SessionRecord = { ...AWAITING, endingSince: STARTED, endingReads: 9 };
    expect(reconcile(doubted, observed({}), NOW, SETTINGS).watch?.ending).toBeNull();
  });

  it('R65: watches a closed session again when it shows life, and not otherwise', () => {
    const closed: SessionRecord = { ...AWAITING, closedAt: STARTED, expiresAt: STARTED };
    const late = new Date(STARTED.getTime() + 8 * DAY);
    const online = observed({ finished: true, active: false, inverters: ['a'] });
    expect(names(closed, online, late)).toEqual(['session.reopened', 'session.online', 'inverter.online']);
    const same = observed({ expiresAt: STARTED });
    expect(reconcile(closed, same, late, SETTINGS)).toMatchObject({
      isRecorded: false,
      watch: null,
      events: [],
    });
    const settled: SessionRecord = { ...ONLINE, closedAt: STARTED };
    const more = observed({ finished: true, active: false, inverters: ['a', 'b', 'c'] });
    expect(names(settled, more, late)).toEqual(['session.reopened', 'inverter.online']);
  });

  it('R64: repeats the list in no event of an inverter, and 100 of it in the event of the session', () => {
    const inverters = Array.from({ length: 1_000 }, (_, n) => `inverter-${n}`);
    const { events } = reconcile(
      AWAITING,
      observed({ finished: true, active: false, inverters }),
      NOW,
      SETTINGS,
    );
    expect(events).toHaveLength(1_001);
    expect(events[0]!.data).toMatchObject({ inverters: inverters.slice(0, 100), invertersTotal: 1_000 });
    expect(events[1]!.data).toMatchObject({ inverterId: 'inverter-0', invertersTotal: 1_000 });
    expect(events[1]!.data).not.toHaveProperty('inverters');
  });

  it('R64: takes a longer list than a session can have for an error, and touches no inverter', () => {
    const inverters = Array.from({ length: 1_001 }, (_, n) => `inverter-${n}`);
    const many = observed({ finished: true, active: false, inverters });
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

  it('R64: records no more inverters of a session than one answer may list, whatever comes', () => {
    const known = Array.from({ length: 999 }, (_, n) => ({ id: `inverter-${n}`, missing: true }));
    const others = observed({ finished: true, active: false, inverters: ['x', 'y', 'inverter-0'] });
    expect(reconcile({ ...ONLINE, inverters: known }, others, NOW, SETTINGS).listed).toEqual([
      'x',
      'inverter-0',
    ]);
  });

  it('R66: holds changes beyond the limit back, says so once, and lets it come online all the same', () => {
    let record = AWAITING;
    const told: string[] = [];
    for (let flap = 0; flap < 100; flap++) {
      const reading = observed(flap % 2 === 0 ? { active: false } : {});
      const { transition, watch, events } = reconcile(record, reading, NOW, SETTINGS);
      record = { ...record, ...transition, ...watch };
      told.push(...events.map(({ name }) => name));
    }
    expect(told.filter((name) => name === 'session.unrecognised')).toHaveLength(15);
    expect(told.filter((name) => name === 'session.flapping')).toHaveLength(1);
    const online = observed({ finished: true, active: false, inverters: ['a'] });
    expect(names(record, online)).toEqual(['session.online', 'inverter.online']);
    const muchLater = new Date(NOW.getTime() + 2 * (DAY / 24));
    expect(
      reconcile(record, observed({ active: false }), muchLater, SETTINGS).watch?.flappingSince,
    ).toBeNull();
  });

  it('lets a rule of today correct a session that is closed, without closing it again', () => {
    const closed: SessionRecord = {
      ...AWAITING,
      state: 'unrecognised',
      closedAt: STARTED,
      anchorAt: null,
    };
    const classification = { state: 'expired', basis: 'observed', rule: 'expired_flag' } as const;
    expect(names(closed, { kind: 'rederived', classification })).toEqual(['session.expired']);
  });
});
