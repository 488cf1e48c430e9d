import type { SessionStallCause } from '../../onboarding/stalled/stalled.rules.js';
import type { SessionState } from '../../onboarding/rules/machine.rules.js';
import type { InvitationState } from '../invitation.rules.js';
import type { InvitationStallCause } from '../stalled.rules.js';
import type { Decision } from './decision.rules.js';

export interface KnownSession {
  readonly brand: string | null;
  readonly state: SessionState;
  readonly createdAt: Date;
  readonly stateChangedAt: Date;
  readonly expiresAt: Date;
  readonly supersededAt: Date | null;
  readonly closedAt: Date | null;
  readonly checkedAt: Date;
  readonly stalled: { readonly cause: SessionStallCause } | null;
  readonly inverters: readonly { readonly id: string; readonly missingSince: Date | null }[];
}

export interface KnownStart {
  readonly brand: string | null;
  readonly status: 'sending' | 'started' | 'failed';
  readonly error: string | null;
  readonly createdAt: Date;
}

export interface KnownInvitation {
  readonly state: InvitationState;
  readonly brands: readonly string[];
  readonly expected: { readonly inverters: number | null };
  readonly createdAt: Date;
  readonly openedAt: Date | null;
  readonly expiresAt: Date;
  readonly stalled: { readonly cause: InvitationStallCause } | null;
}

/** What is known of one grid location. `sessions` and `starts` have the newest first, and `invitation` is the newest. */
export interface Snapshot {
  readonly gridLocationId: string;
  readonly sessions: readonly KnownSession[];
  readonly starts: readonly KnownStart[];
  readonly invitation: KnownInvitation | undefined;
  /** When a click of the owner that has led to no session is tried again. */
  readonly wishDueAt: Date | null;
  /** How long sessions of a brand wait for their installation, if that is known. */
  readonly usualWait: (brand: string | null) => { readonly p95Seconds: number } | undefined;
}

export interface LocationCase extends Decision {
  readonly expected: { readonly brands: readonly string[]; readonly inverters: number | null };
  readonly online: { readonly brands: readonly string[]; readonly inverters: number };
  readonly missing: { readonly brands: readonly string[]; readonly inverters: number | null };
}

/** Everything that decides about one brand, or about all of them if `brand` is null. */
export interface Step extends Omit<Snapshot, 'sessions' | 'starts'> {
  readonly brand: string | null;
  readonly session: KnownSession | undefined;
  readonly start: KnownStart | undefined;
}
