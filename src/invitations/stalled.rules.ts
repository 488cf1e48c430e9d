import type { Environment } from '../platform/env/environment.js';
import { expiresSoonFrom, type Stall } from '../onboarding/stalled/stalled.rules.js';
import { LIVE, type InvitationFacts } from './invitation.rules.js';

/**
 * Why an invitation is stalled: it does not continue without a person. Sessions have stalls of their own; these causes are for owners who
 * have no open session, or who wait for us. The first cause that applies counts:
 *
 * - `remote_unreachable`: the owner has clicked, and the start was refused, given up, or not taken for a quarter of an hour.
 * - `completed_not_online`: the owner has done all, and the installation is late.
 * - `expiring_soon`: the invitation soon expires, and a reminder would then come too late.
 * - `started_not_completed`: a session was open, and the owner has to begin again, to finish, or to connect the next brand.
 * - `never_opened`: the owner may not have got the link.
 * - `opened_not_started`: the owner has seen the page and left.
 */
export const INVITATION_STALL_CAUSES = [
  'remote_unreachable',
  'completed_not_online',
  'expiring_soon',
  'started_not_completed',
  'never_opened',
  'opened_not_started',
] as const;
export type InvitationStallCause = (typeof INVITATION_STALL_CAUSES)[number];

/** How long an invitation may wait before it counts as stalled. */
export interface InvitationAges {
  /** How long an invitation may wait to be opened, and after that for the start. */
  readonly startMs: number;
  /** How long an owner who has begun may wait before the next step. */
  readonly ownerMs: number;
  readonly installationMs: number;
  /** How long a start may fail before the invitation counts as stalled: longer than a restart or a short outage. */
  readonly wishMs: number;
}

const HOUR_MS = 3_600_000;

export const invitationAges = (environment: Environment): InvitationAges => ({
  startMs: environment.STALLED_INVITATION_HOURS * HOUR_MS,
  ownerMs: environment.STALLED_OWNER_HOURS * HOUR_MS,
  installationMs: environment.STALLED_INSTALLATION_HOURS * HOUR_MS,
  wishMs: HOUR_MS / 4,
});

/**
 * Returns why the invitation is stalled at `now`, else null. STALLED in invitations.sql.ts repeats these conditions for the filter of the
 * list.
 */
export function stalledInvitation(
  invitation: Omit<InvitationFacts, 'brands' | 'erasedAt'>,
  { startMs, ownerMs, installationMs, wishMs }: InvitationAges,
  now: Date,
): Stall<InvitationStallCause> | null {
  const { awaits, awaitsSince, wishedAt, wishDueAt, wishFailedAt } = invitation;
  const { createdAt, openedAt, startedAt, expiresAt } = invitation;
  if (!LIVE.includes(invitation.state)) return null;
  const after = (cause: InvitationStallCause, since: Date, ms: number) =>
    now.getTime() - since.getTime() < ms
      ? null
      : { cause, since, evidence: { thresholdSeconds: Math.round(ms / 1_000) } };
  if (wishFailedAt !== null)
    return { cause: 'remote_unreachable', since: wishFailedAt, evidence: { isGivenUp: true } };
  if (wishDueAt !== null) return after('remote_unreachable', wishedAt ?? wishDueAt, wishMs);
  if (awaits === 'installation') return after('completed_not_online', awaitsSince, installationMs);
  const soonFrom = expiresSoonFrom(createdAt, expiresAt);
  if (now >= soonFrom)
    return { cause: 'expiring_soon', since: soonFrom, evidence: { expiresAt: expiresAt.toISOString() } };
  if (startedAt !== null)
    return after('started_not_completed', startedAt > awaitsSince ? startedAt : awaitsSince, ownerMs);
  return after(openedAt === null ? 'never_opened' : 'opened_not_started', openedAt ?? createdAt, startMs);
}
