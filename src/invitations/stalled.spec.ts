import { describe, expect, it } from '@jest/globals';
import { INVITATION_STATES } from './invitation.rules.js';
import { stalledInvitation } from './stalled.rules.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const AGES = { startMs: 72 * HOUR_MS, ownerMs: 4 * HOUR_MS, installationMs: 48 * HOUR_MS, wishMs: HOUR_MS };
const CREATED = new Date('2026-03-01T00:00:00Z');
const after = (ms: number) => new Date(CREATED.getTime() + ms);

const invited = {
  state: 'invited',
  awaits: 'start',
  awaitsSince: CREATED,
  wishedAt: null,
  wishDueAt: null,
  wishFailedAt: null,
  createdAt: CREATED,
  openedAt: null,
  startedAt: null,
  expiresAt: after(90 * DAY_MS),
} as const;
const opened = { ...invited, state: 'opened', openedAt: after(DAY_MS) } as const;
type Invited = Parameters<typeof stalledInvitation>[0];
const stalledAfter = (ms: number, invitation: Invited) => stalledInvitation(invitation, AGES, after(ms));

describe('an invitation is stalled', () => {
  it('once nobody has opened it for the configured age', () => {
    expect(stalledAfter(72 * HOUR_MS - 1, invited)).toBeNull();
    expect(stalledAfter(72 * HOUR_MS, invited)).toEqual({
      cause: 'never_opened',
      since: CREATED,
      evidence: { thresholdSeconds: 259_200 },
    });
  });

  it('once nobody has started for the configured age after it was opened', () => {
    expect(stalledAfter(DAY_MS + 72 * HOUR_MS - 1, opened)).toBeNull();
    expect(stalledAfter(DAY_MS + 72 * HOUR_MS, opened)).toMatchObject({
      cause: 'opened_not_started',
      since: opened.openedAt,
    });
  });

  it('in the last tenth of its life, and at most its last week, before the other causes', () => {
    expect(stalledAfter(83 * DAY_MS - 1, opened)).toMatchObject({ cause: 'opened_not_started' });
    expect(stalledAfter(83 * DAY_MS, opened)).toEqual({
      cause: 'expiring_soon',
      since: after(83 * DAY_MS),
      evidence: { expiresAt: invited.expiresAt.toISOString() },
    });
    const short = { ...invited, expiresAt: after(10 * HOUR_MS) };
    expect(stalledAfter(9 * HOUR_MS - 1, short)).toBeNull();
    expect(stalledAfter(9 * HOUR_MS, short)).toMatchObject({ cause: 'expiring_soon' });
  });

  it('once an owner who has begun neither finishes nor begins again, from the last change of its sessions', () => {
    const started = { ...opened, state: 'started', startedAt: after(DAY_MS), awaits: 'finish' } as const;
    expect(stalledAfter(DAY_MS + 4 * HOUR_MS - 1, started)).toBeNull();
    expect(stalledAfter(DAY_MS + 4 * HOUR_MS, started)).toMatchObject({
      cause: 'started_not_completed',
      since: started.startedAt,
    });
    const expired = { ...started, awaits: 'start', awaitsSince: after(2 * DAY_MS) } as const;
    expect(stalledAfter(2 * DAY_MS + 4 * HOUR_MS - 1, expired)).toBeNull();
    expect(stalledAfter(2 * DAY_MS + 4 * HOUR_MS, expired)).toMatchObject({ since: expired.awaitsSince });
  });

  it('once the installation is late, also after its session has expired, and never as expiring', () => {
    const awaits = { awaits: 'installation', awaitsSince: after(DAY_MS) } as const;
    const done = { ...opened, ...awaits, state: 'owner_done' } as const;
    expect(stalledAfter(3 * DAY_MS - 1, done)).toBeNull();
    expect(stalledAfter(89 * DAY_MS, done)).toMatchObject({ cause: 'completed_not_online' });
  });

  it('once the remote service does not take the start that the owner wished for', () => {
    const wished = { ...opened, wishedAt: after(DAY_MS), wishDueAt: after(DAY_MS + HOUR_MS) } as const;
    expect(stalledAfter(DAY_MS + HOUR_MS - 1, wished)).toBeNull();
    expect(stalledAfter(DAY_MS + HOUR_MS, wished)).toMatchObject({
      cause: 'remote_unreachable',
      since: wished.wishedAt,
    });
    const refused = { ...opened, wishFailedAt: after(DAY_MS) } as const;
    expect(stalledAfter(DAY_MS, refused)).toMatchObject({ cause: 'remote_unreachable' });
  });

  it('only while it is live', () => {
    const isStalled = (state: Invited['state']) => stalledAfter(89 * DAY_MS, { ...opened, state }) !== null;
    expect(INVITATION_STATES.filter(isStalled)).toEqual(['invited', 'opened', 'started', 'owner_done']);
  });
});
