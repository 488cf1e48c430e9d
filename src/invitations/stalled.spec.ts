import { describe, expect, it } from '@jest/globals';
import { INVITATION_STATES } from './invitation.rules.js';
import { stalledInvitation } from './stalled.rules.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const AGES = { ownerMs: 72 * HOUR_MS };
const CREATED = new Date('2026-03-01T00:00:00Z');
const after = (ms: number) => new Date(CREATED.getTime() + ms);

const invited = {
  state: 'invited',
  createdAt: CREATED,
  openedAt: null,
  expiresAt: after(90 * DAY_MS),
} as const;
const opened = { ...invited, state: 'opened', openedAt: after(DAY_MS) } as const;

describe('an invitation is stalled', () => {
  it('once nobody has opened it for the configured age', () => {
    expect(stalledInvitation(invited, AGES, after(72 * HOUR_MS - 1))).toBeNull();
    expect(stalledInvitation(invited, AGES, after(72 * HOUR_MS))).toEqual({
      cause: 'never_opened',
      since: CREATED,
      evidence: { thresholdSeconds: 259_200 },
    });
  });

  it('once nobody has started for the configured age after it was opened', () => {
    expect(stalledInvitation(opened, AGES, after(DAY_MS + 72 * HOUR_MS - 1))).toBeNull();
    expect(stalledInvitation(opened, AGES, after(DAY_MS + 72 * HOUR_MS))).toMatchObject({
      cause: 'opened_not_started',
      since: opened.openedAt,
    });
  });

  it('in the last tenth of its life, and at most its last week, before the other causes', () => {
    expect(stalledInvitation(opened, AGES, after(83 * DAY_MS - 1))).toMatchObject({
      cause: 'opened_not_started',
    });
    expect(stalledInvitation(opened, AGES, after(83 * DAY_MS))).toEqual({
      cause: 'expiring_soon',
      since: after(83 * DAY_MS),
      evidence: { expiresAt: invited.expiresAt.toISOString() },
    });
    const short = { ...invited, expiresAt: after(10 * HOUR_MS) };
    expect(stalledInvitation(short, AGES, after(9 * HOUR_MS - 1))).toBeNull();
    expect(stalledInvitation(short, AGES, after(9 * HOUR_MS))).toMatchObject({ cause: 'expiring_soon' });
  });

  it('only until the owner has begun, and only while it is live', () => {
    const stalled = INVITATION_STATES.filter(
      (state) => stalledInvitation({ ...opened, state }, AGES, after(89 * DAY_MS)) !== null,
    );
    expect(stalled).toEqual(['invited', 'opened']);
  });
});
