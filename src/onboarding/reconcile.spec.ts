import { describe, expect, it } from '@jest/globals';
import { reconcile } from './reconcile.js';
import type { Reading, SessionRecord } from './reconcile.js';

const STARTED = new Date('2026-11-20T10:00:00Z');
const NOW = new Date('2026-11-20T11:00:00Z');
const EXPIRES = new Date('2026-11-21T10:00:00Z');
const DAY = 86_400_000;
const SETTINGS = { minIntervalMs: 15_000, maxIntervalMs: 900_000, settleMs: 3 * DAY, lateMs: 7 * DAY };

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
  phase: 'awaiting_owner',
  anchorAt: STARTED,
  inverters: [],
};
const ONLINE: SessionRecord = {
  ...AWAITING,
  state: 'online',
  rule: 'finished_with_inverters',
  phase: 'settling',
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
    expect(decision.watch).toEqual({ phase: 'settling', anchorAt: NOW });
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
    expect(names(ONLINE, { kind: 'gone' })).toEqual(['session.closed']);
  });

  it('lets an expired session come online late', () => {
    const expired: SessionRecord = { ...AWAITING, state: 'expired', phase: 'late', rule: 'expired_flag' };
    const late = observed({ finished: true, active: false, expired: true, inverters: ['a'] });
    expect(names(expired, late)).toEqual(['session.online', 'inverter.online']);
  });

  it('closes what is settled, lost, or past its late window, and then watches no more', () => {
    const settled = new Date(STARTED.getTime() + 3 * DAY);
    expect(reconcile(ONLINE, { kind: 'unchanged' }, settled, SETTINGS)).toMatchObject({
      close: 'settled',
      watch: null,
    });
    expect(names(ONLINE, { kind: 'unchanged' }, settled)).toEqual(['session.closed']);
    expect(names(AWAITING, { kind: 'gone' })).toEqual(['session.lost', 'session.closed']);
    expect(names(AWAITING, { kind: 'unchanged' }, new Date(EXPIRES.getTime() + 7 * DAY))).toEqual([
      'session.closed',
    ]);
  });

  it('lets a rule of today correct a session that is closed, without closing it again', () => {
    const closed: SessionRecord = {
      ...AWAITING,
      state: 'unrecognised',
      closedAt: STARTED,
      phase: null,
      anchorAt: null,
    };
    const verdict = { state: 'expired', basis: 'observed', rule: 'expired_flag' } as const;
    expect(names(closed, { kind: 'rederived', verdict })).toEqual(['session.expired']);
  });
});
