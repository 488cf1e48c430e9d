import type { Environment } from '../platform/env/environment.js';
import { expiresSoonFrom, type Stall } from '../onboarding/stalled/stalled.rules.js';
import type { InvitationState } from './invitation.rules.js';

/**
 * Why an invitation is stalled before its owner has begun. Once a session exists, the session is what stalls. In the order in which one
 * hides the other:
 *
 * - `expiring_soon`: after its date, a reminder would come too late.
 * - `never_opened`: the owner may not have got the link.
 * - `opened_not_started`: the owner has seen the page and left. The remote service does not tell this, so it is known of invitations only.
 */
export const INVITATION_STALL_CAUSES = ['never_opened', 'opened_not_started', 'expiring_soon'] as const;
export type InvitationStallCause = (typeof INVITATION_STALL_CAUSES)[number];

/** How long an owner may leave an invitation alone, from its creation to its opening, and from its opening to the start. */
export interface InvitationAges {
  readonly ownerMs: number;
}

export const invitationAges = ({ STALLED_INVITATION_HOURS }: Environment): InvitationAges => ({
  ownerMs: STALLED_INVITATION_HOURS * 3_600_000,
});

interface AwaitedInvitation {
  readonly state: InvitationState;
  readonly createdAt: Date;
  readonly openedAt: Date | null;
  readonly expiresAt: Date;
}

/** Returns why the invitation is stalled at `now`, else null. STALLED in invitations.sql.ts says the same for the filter of the list. */
export function stalledInvitation(
  { state, createdAt, openedAt, expiresAt }: AwaitedInvitation,
  { ownerMs }: InvitationAges,
  now: Date,
): Stall<InvitationStallCause> | null {
  if (state !== 'invited' && state !== 'opened') return null;
  const soonFrom = expiresSoonFrom(createdAt, expiresAt);
  if (now >= soonFrom) {
    return { cause: 'expiring_soon', since: soonFrom, evidence: { expiresAt: expiresAt.toISOString() } };
  }
  const since = openedAt ?? createdAt;
  if (now.getTime() - since.getTime() < ownerMs) return null;
  const cause = openedAt === null ? 'never_opened' : 'opened_not_started';
  return { cause, since, evidence: { thresholdSeconds: Math.round(ownerMs / 1_000) } };
}
