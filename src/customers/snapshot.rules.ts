import type { SessionView } from '../onboarding/api/sessions.view.js';
import type { StartView } from '../onboarding/api/starts.view.js';
import type { InvitationFacts } from '../invitations/invitation.rules.js';

type SessionTime = 'createdAt' | 'stateChangedAt' | 'expiresAt' | 'supersededAt' | 'closedAt' | 'checkedAt';

export interface KnownSession extends Pick<SessionView, 'brand' | 'state' | SessionTime> {
  readonly stalled: { readonly cause: string } | null;
  readonly inverters: readonly Pick<SessionView['inverters'][number], 'id' | 'missingSince'>[];
}

type KnownStart = Pick<StartView, 'brand' | 'status' | 'error' | 'createdAt'>;

type InvitationFact = 'state' | 'brands' | 'createdAt' | 'openedAt' | 'expiresAt';

export interface KnownInvitation extends Pick<InvitationFacts, InvitationFact> {
  readonly expected: { readonly inverters: number | null };
  readonly stalled: { readonly cause: string } | null;
}

/** The known facts about one grid location. `sessions` and `starts` have the newest first, and `invitation` is the newest. */
export interface Snapshot {
  readonly gridLocationId: string;
  readonly sessions: readonly KnownSession[];
  readonly starts: readonly KnownStart[];
  readonly invitation: KnownInvitation | undefined;
  /** When the start that the owner has clicked is tried again. Null if no start waits. */
  readonly wishDueAt: Date | null;
  /** How long sessions of a brand wait for their installation, if that is known. */
  readonly usualWait: (brand: string | null) => { readonly p95Seconds: number } | undefined;
}

/** Everything that decides about one brand, or about all of them if `brand` is null. */
export interface Step extends Omit<Snapshot, 'sessions' | 'starts'> {
  readonly brand: string | null;
  readonly session: KnownSession | undefined;
  readonly start: KnownStart | undefined;
}
