import { LIVE, type InvitationFacts } from '../invitations/invitation.rules.js';
import { isLeftToOwner } from '../invitations/invitation.stall.rules.js';
import type { SessionView } from '../onboarding/api/sessions.view.js';
import type { StartView } from '../starts/start.view.js';
import { later } from '../stalls/look.rules.js';
import type { StalledView } from '../stalls/stalled.view.js';
import { firstOf, mostUrgentStall, type Waiting } from './waits.rules.js';

type SessionTime = 'createdAt' | 'stateChangedAt' | 'expiresAt' | 'supersededAt' | 'closedAt';

interface KnownSession extends Pick<SessionView, 'id' | 'brand' | 'state' | 'stalled' | SessionTime> {
  readonly inverters: readonly Pick<SessionView['inverters'][number], 'id' | 'missingSince'>[];
}

type KnownStart = Pick<StartView, 'id' | 'brand' | 'status' | 'error' | 'stalled' | 'createdAt'>;

type InvitationFact = 'state' | 'declinedAt' | 'brands' | 'createdAt' | 'openedAt' | 'expiresAt';

interface KnownInvitation extends Pick<InvitationFacts, InvitationFact> {
  readonly expected: { readonly inverters: number | null };
  readonly stalled: StalledView | null;
}

/** The known facts about one grid location. `sessions` and `starts` have the newest first, and `invitation` is the newest. */
export interface Snapshot {
  readonly gridLocationId: string;
  readonly sessions: readonly KnownSession[];
  readonly starts: readonly KnownStart[];
  readonly invitation: KnownInvitation | undefined;
  /** The earlier invitations: an owner may have withdrawn the consent of one. */
  readonly earlier: readonly Pick<KnownInvitation, 'stalled'>[];
  /** When the start that the owner has clicked is tried again. Null if no start waits. */
  readonly wishDueAt: Date | null;
  /** How long sessions of a brand wait for their installation, if that is known. */
  readonly usualWait: (brand: string | null) => { readonly p95Seconds: number } | undefined;
}

/**
 * Returns what is online and missing at a grid location, the most urgent stall of its parts, and the ordinary wait that counts if nothing is
 * stalled. The newest invitation says what is expected.
 */
export function decideCase(snapshot: Snapshot, now: Date) {
  const { gridLocationId, sessions, invitation, earlier, wishDueAt } = snapshot;
  const { brands = [], expected } = invitation ?? {};
  const declinedAt = invitation?.state === 'declined' ? invitation.declinedAt : null;
  const inverters = expected?.inverters ?? null;
  const online = sessions.filter(({ state }) => state === 'online');
  const onlineBrands = distinct(online.flatMap(({ brand }) => brand ?? []));
  const listed = online.flatMap((session) => session.inverters);
  const present = distinct(listed.filter(({ missingSince }) => missingSince === null).map(({ id }) => id));
  const wanted = inverters ?? distinct(listed.map(({ id }) => id)).length;
  const link = invitation !== undefined && LIVE.includes(invitation.state) ? invitation : undefined;
  const ofOwner = { linkedAt: link?.createdAt ?? null, wishDueAt };
  const starts = snapshot.starts.filter(
    (start) => start.status !== 'failed' || !isLeftToOwner(start, ofOwner),
  );
  const waits = stepsOf(sessions, starts, brands).flatMap((step) =>
    step.session?.state === 'online' ? [] : waitOf(step, { ...snapshot, link, declinedAt }, now),
  );
  return {
    expected: { brands, inverters },
    online: { brands: onlineBrands, inverters: present.length },
    missing: {
      brands: brands.filter((brand) => !onlineBrands.includes(brand)),
      inverters: inverters && Math.max(0, inverters - present.length),
    },
    stalled: mostUrgentStall([
      ...starts,
      ...sessions,
      ...(invitation === undefined ? [] : [invitation]),
      ...earlier,
    ]),
    waiting: firstOf(waits) ?? waitOfOnline(gridLocationId, online, { present: present.length, wanted }),
  };
}

/** Everything that decides about one brand, or about all of them if `brand` is null. */
interface Step {
  readonly brand: string | null;
  readonly session: KnownSession | undefined;
  readonly start: KnownStart | undefined;
}

/**
 * Returns a step for each expected brand. If no brand is expected, returns one for each brand that is online or open, or else one step for
 * all brands.
 */
function stepsOf(
  sessions: readonly KnownSession[],
  starts: readonly KnownStart[],
  expected: readonly string[],
): Step[] {
  const current = sessions.filter(({ supersededAt, state }) => supersededAt === null || state === 'online');
  const live = current.filter((session) => session.state === 'online' || isOpen(session));
  const brands = expected.length > 0 ? expected : distinct(live.map(({ brand }) => brand));
  const stepOf = (brand: string | null, isOf: (each: { readonly brand: string | null }) => boolean) => ({
    brand,
    session: live.find((session) => isOf(session) && session.state === 'online') ?? current.find(isOf),
    start: starts.find(isOf),
  });
  return brands.length > 0
    ? brands.map((brand) => stepOf(brand, (each) => each.brand === brand))
    : [stepOf(null, () => true)];
}

const isOpen = ({ state, closedAt }: KnownSession): boolean =>
  closedAt === null && (state === 'awaiting_owner' || state === 'awaiting_installation');

interface Link {
  /** The live invitation. */
  readonly link: KnownInvitation | undefined;
  /** When the owner declined. Null: not, or the tenant has invited again. */
  readonly declinedAt: Date | null;
}

/** Returns who is waited for in the ordinary way for a brand that is not online. */
function waitOf(
  { brand, session, start }: Step,
  { gridLocationId, link, declinedAt, wishDueAt, usualWait }: Snapshot & Link,
  now: Date,
): Waiting {
  const waits = (state: Waiting['state'], since: Date | null, usuallyUntil: Date | null = null): Waiting => {
    const subject = { id: session?.id ?? '', gridLocationId, brand };
    const lastError = start?.error ?? null;
    return { state, kind: 'session', subject, since, usuallyUntil, evidence: { brand, lastError } };
  };
  if (start?.status === 'sending') return waits('start_sending', start.createdAt);
  if (session?.state === 'lost' || session?.state === 'unrecognised')
    return waits(session.state, session.stateChangedAt);
  if (session?.state === 'awaiting_installation' && isOpen(session)) {
    const { p95Seconds } = usualWait(session.brand) ?? {};
    const usually = p95Seconds === undefined ? null : later(session.stateChangedAt, p95Seconds * 1_000);
    return waits('awaiting_installation', session.stateChangedAt, usually);
  }
  if (declinedAt !== null) return waits('declined', declinedAt);
  if (session !== undefined && isOpen(session) && (link !== undefined || session.expiresAt > now))
    return waits('awaiting_owner', session.createdAt, session.expiresAt);
  if (link !== undefined && wishDueAt !== null) return waits('wished', null);
  if (start?.status === 'failed') return waits('start_failed', start.createdAt);
  if (link === undefined) return waits('not_invited', session?.stateChangedAt ?? null);
  // The installation of an owner who was done may come online after the session has expired.
  if (link.state === 'owner_done') return waits('awaiting_installation', session?.stateChangedAt ?? null);
  if (session !== undefined) return waits('over', session.stateChangedAt, link.expiresAt);
  return link.openedAt === null
    ? waits('invited', link.createdAt, link.expiresAt)
    : waits('opened', link.openedAt, link.expiresAt);
}

/** Returns who is waited for at a location whose brands are all online. */
function waitOfOnline(
  gridLocationId: string,
  online: readonly KnownSession[],
  evidence: { readonly present: number; readonly wanted: number },
): Waiting {
  const [newest] = online;
  const isRead = online.some(({ closedAt }) => closedAt === null);
  const isAll = evidence.present >= evidence.wanted;
  return {
    state: isAll ? 'online' : isRead ? 'inverters_awaited' : 'inverters_missing',
    kind: 'session',
    subject: { id: newest?.id ?? '', gridLocationId, brand: newest?.brand ?? null },
    since: newest?.stateChangedAt ?? null,
    usuallyUntil: null,
    evidence: { brand: null, ...evidence },
  };
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
