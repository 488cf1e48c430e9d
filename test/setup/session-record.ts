import { reconcile, type Reading, type SessionRecord } from '../../src/onboarding/rules/reconcile.rules.js';

export const STARTED = new Date('2026-11-20T10:00:00Z');
export const NOW = new Date('2026-11-20T11:00:00Z');
export const EXPIRES = new Date('2026-11-21T10:00:00Z');
export const DAY = 86_400_000;
export const SETTINGS = {
  minIntervalMs: 15_000,
  maxIntervalMs: 900_000,
  settleMs: 3 * DAY,
  watchMs: 0,
  lateMs: 7 * DAY,
  endEvidenceMs: DAY / 4,
};

export const AWAITING: SessionRecord = {
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
export const ONLINE: SessionRecord = {
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
export const LASTING = 8 * 60_000;
export const withAbsent = (absentMs: number | null, missing = false): SessionRecord => ({
  ...ONLINE,
  inverters: [ONLINE.inverters[0]!, { id: 'b', missing, absentMs }],
});

export const observed = (changes: {
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
export const online = (...inverters: string[]) => observed({ finished: true, active: false, inverters });
export const names = (session: SessionRecord, reading: Reading, now = NOW) =>
  reconcile(session, reading, now, SETTINGS).events.map(({ name }) => name);
