import type { SessionState } from '../../src/onboarding/rules/machine.rules.js';

type Range = readonly [from: number, to: number];

/** Sessions that are alike. Each instant is drawn evenly from its range. All ranges are hours before now. */
interface SessionProfile {
  /** How many of 1,000 sessions are alike. */
  readonly share: number;
  readonly state: SessionState;
  readonly rule: string;
  /** When the state began. In `awaiting_owner`, the session was recorded then; else up to a day earlier. */
  readonly changed: Range;
  /** How long after its record the session expires, in days. Default: 90. */
  readonly lifeDays?: number;
  /** Default: it is watched. */
  readonly closed?: 'settled' | 'late_window_over' | 'lost';
  /** How many hours after the change it was closed. */
  readonly closedAfter?: number;
  readonly isUnwatched?: true;
  /** Since when its reads fail. */
  readonly failing?: Range;
  /** Whether the failed reads found the session nowhere. */
  readonly isNotFound?: true;
  readonly flapping?: Range;
  /** Since when its inverters are missing: all of them, or the first. */
  readonly missing?: { readonly all: boolean; readonly since: Range };
}

const open = { state: 'awaiting_owner', rule: 'as_started' } as const;
const installing = { state: 'awaiting_installation', rule: 'updated_since_start' } as const;
const online = { state: 'online', rule: 'finished_with_inverters' } as const;
const settled = { ...online, closed: 'settled', closedAfter: 72 } as const;
const expired = { state: 'expired', rule: 'expired_flag', lifeDays: 1 } as const;
const lost = { state: 'lost', rule: 'not_found_on_every_path' } as const;

/**
 * The sessions, with the default thresholds. The ranges keep a distance from each threshold, so that what is stalled does not depend on the
 * duration of a run. The last 15 are stalled, 300 of 1,000.
 */
export const SESSIONS: readonly SessionProfile[] = [
  { ...open, share: 200, changed: [0.1, 3] },
  { ...installing, share: 90, changed: [0.1, 48] },
  { ...online, share: 80, changed: [0.1, 70] },
  { ...settled, share: 250, changed: [80, 2_000] },
  { ...expired, share: 30, changed: [1, 160] },
  { ...expired, share: 50, changed: [170, 2_000], closed: 'late_window_over', closedAfter: 168 },
  { ...open, share: 80, changed: [5, 1_000] },
  { ...open, share: 30, changed: [665, 710], lifeDays: 30 },
  { ...installing, share: 84, changed: [80, 1_000] },
  { ...open, share: 20, changed: [30, 100], lifeDays: 1 },
  { ...lost, share: 15, changed: [1, 6] },
  { ...lost, share: 15, changed: [20, 600], closed: 'lost', closedAfter: 12 },
  { ...open, share: 10, changed: [1, 3], failing: [0.1, 0.8], isNotFound: true },
  { ...installing, share: 10, changed: [20, 48], failing: [2, 15] },
  { state: 'unrecognised', rule: 'undescribed_flags', share: 8, changed: [1, 100] },
  { state: 'unrecognised', rule: 'too_many_inverters', share: 2, changed: [1, 100] },
  { ...open, share: 5, changed: [1, 3], flapping: [0.1, 0.2] },
  { ...online, share: 8, changed: [40, 70], missing: { all: true, since: [1, 30] } },
  { ...settled, share: 2, changed: [900, 2_000], missing: { all: true, since: [1, 700] } },
  { ...online, share: 10, changed: [40, 70], missing: { all: false, since: [1, 30] } },
  { ...open, share: 1, changed: [1, 3], isUnwatched: true },
];

/** Invitations whose owners have no session. All ranges are hours before now. */
interface InvitationProfile {
  /** How many of 100 invitations are alike. */
  readonly share: number;
  readonly created: Range;
  readonly opened?: Range;
  /** Since when the owner's wish to start has failed. */
  readonly failed?: Range;
  /** Since when a message with the link has come back. */
  readonly bounced?: Range;
  /** Since when the owner has asked for a new link. */
  readonly renewal?: Range;
  readonly ended?: 'expired' | 'revoked' | 'declined';
}

/** Like SESSIONS. The last 6 are stalled, 30 of 100. An invitation is for 90 days. */
export const INVITATIONS: readonly InvitationProfile[] = [
  { share: 30, created: [0.1, 60] },
  { share: 20, created: [65, 200], opened: [0.1, 60] },
  { share: 10, created: [2_200, 3_000], ended: 'expired' },
  { share: 6, created: [10, 1_000], ended: 'revoked' },
  { share: 4, created: [10, 1_000], opened: [1, 9], ended: 'declined' },
  { share: 7, created: [80, 1_500] },
  { share: 2, created: [2_200, 3_000], ended: 'expired', renewal: [1, 30] },
  { share: 3, created: [80, 1_500], bounced: [1, 70] },
  { share: 10, created: [500, 1_500], opened: [80, 400] },
  { share: 5, created: [100, 500], opened: [30, 90], failed: [0.5, 5] },
  { share: 3, created: [2_030, 2_150], opened: [20, 90] },
];

/** Registrations without a user, for each 1,000 sessions: uncertain, rejected, sent in vain for over an hour, and new. */
export const REGISTRATIONS = [
  { share: 4, status: 'uncertain', attempts: 1, created: [1, 200], lastError: 'no response within 10 s' },
  { share: 6, status: 'rejected', attempts: 1, created: [1, 700], lastError: 'HTTP 400: invalid ean' },
  { share: 2, status: 'pending', attempts: 7, created: [2, 20], lastError: 'HTTP 503' },
  { share: 4, status: 'pending', attempts: 0, created: [0.01, 0.5], lastError: null },
] as const;

/** Returns a SQL table of profiles, each with the first and the last number of those that are alike. */
export function asTable(profiles: readonly { readonly share: number }[]): string {
  let from = 0;
  const numbered = profiles.map(({ share, ...profile }) => {
    from += share;
    return { ...profile, from: from - share, to: from - 1 };
  });
  return `'${JSON.stringify(numbered)}'`;
}

export const totalOf = (profiles: readonly { readonly share: number }[]): number =>
  profiles.reduce((sum, { share }) => sum + share, 0);
