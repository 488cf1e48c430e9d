/** The most inverters that a tenant can expect at a grid location. */
export const MAX_INVERTERS = 1_000;

/**
 * - `invited`: nobody has opened the page yet.
 * - `opened`: a person has opened the page.
 * - `started`: the owner's wish has led to a session.
 * - `owner_done`: the owner has completed the web flow. This is inferred.
 * - `online`: the location is online with each of the brands.
 * - `expired`: the date of the invitation has passed before the owner was done.
 * - `declined`: the owner does not want it. The owner can take that back, until the tenant invites again.
 * - `revoked`: the tenant has revoked it.
 */
export const INVITATION_STATES = [
  'invited',
  'opened',
  'started',
  'owner_done',
  'online',
  'expired',
  'declined',
  'revoked',
] as const;
export type InvitationState = (typeof INVITATION_STATES)[number];

/** How a tenant sends a link to an owner. A CHECK in the database contains the same list. */
export const CHANNELS = ['email', 'sms', 'letter', 'other'] as const;
export type Channel = (typeof CHANNELS)[number];

/** Why an owner declines. A CHECK in the database contains the same list. */
export const DECLINE_REASONS = ['not_interested', 'not_mine', 'login_elsewhere'] as const;
export type DeclineReason = (typeof DECLINE_REASONS)[number];

/** The states of an invitation that its owner may still use. */
export const LIVE: readonly InvitationState[] = ['invited', 'opened', 'started', 'owner_done'];

/** The facts that decide whether an invitation is stalled, and when its owner is reminded. */
export interface StepFacts {
  readonly awaits: 'start' | 'finish' | 'installation';
  readonly createdAt: Date;
  readonly openedAt: Date | null;
  readonly startedAt: Date | null;
  readonly wishedAt: Date | null;
  /** When a wish to start is tried next, if it has not led to a session yet. Until then, the owner waits for us. */
  readonly wishDueAt: Date | null;
  /** When a start for a wish of the owner was refused or given up. Then the tenant has to act. */
  readonly wishFailedAt: Date | null;
  readonly expiresAt: Date;
  /** When the last message with the link came back. Null if none did, or if a later one was sent. */
  readonly bouncedAt: Date | null;
}

/** The facts that decide about an invitation: its case, its page, its reminders, and whether it is stalled. */
export interface InvitationFacts extends StepFacts {
  readonly state: InvitationState;
  readonly brands: readonly string[];
  readonly awaitsSince: Date;
  /** When a start for which the owner had to wait was last taken. */
  readonly recoveredAt: Date | null;
  /** Since when all inverters of a session have been missing, after the location was online. Null if they are not. */
  readonly disconnectedAt: Date | null;
  readonly erasedAt: Date | null;
  readonly declinedAt: Date | null;
  readonly declineReason: DeclineReason | null;
  /** When the owner withdrew the consent. Null: it stands, or none was given. */
  readonly consentWithdrawnAt: Date | null;
  /** Whether the owner has declined, and the tenant has invited again since. */
  readonly isReplaced: boolean;
  /** When the person with the link last asked for a new one. */
  readonly renewalRequestedAt: Date | null;
}

/** Why something cannot be done to an invitation; null: it was done. */
export interface InvitationConflict {
  readonly conflict: string | null;
}

/** What decides whether an invitation can be changed, or its owner reminded. */
export type LockedInvitation = Pick<InvitationFacts, 'awaits' | 'wishDueAt'> & {
  readonly state: InvitationState | 'erased';
};

const OVER: Readonly<Partial<Record<LockedInvitation['state'], string>>> = {
  erased: 'The user of the invitation has been erased',
  revoked: 'The invitation is revoked',
  online: 'The installation of the invitation is online',
  declined: 'The owner has declined the invitation: invite again',
};
const EXPIRED = 'The invitation has expired: give `expiresAt` to make it valid again';
export const OTHER_IS_LIVE = 'The grid location has another invitation, which is valid';

/** Returns why an invitation cannot be changed, else null. */
export const changeConflict = ({ state }: LockedInvitation, isProlonged: boolean): string | null =>
  OVER[state] ?? (state === 'expired' && !isProlonged ? EXPIRED : null);

/** Returns why its owner cannot be reminded, else null. */
export function reminderConflict(invitation: LockedInvitation): string | null {
  const { awaits, wishDueAt } = invitation;
  if (awaits === 'installation') return changeConflict(invitation, false) ?? 'The owner has done all';
  const waits = 'The owner has clicked, and waits until the remote service takes the start';
  return changeConflict(invitation, false) ?? (wishDueAt === null ? null : waits);
}

/** Returns why the owner's page must not lead to this URL, else undefined. `origins`: the configured ones. */
export function returnUrlFault(returnUrl: URL, origins: readonly string[], isProduction: boolean) {
  const { protocol, hostname, origin, username, password } = returnUrl;
  if (username !== '' || password !== '') return 'must not contain credentials';
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (!isProduction && isLoopback && (protocol === 'http:' || protocol === 'https:')) return undefined;
  if (protocol !== 'https:') return 'must begin with https://';
  return origins.includes(origin) ? undefined : 'must be of an origin that INVITATION_RETURN_ORIGINS names';
}
