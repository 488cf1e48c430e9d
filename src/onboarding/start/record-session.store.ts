import { appendEvents } from '../../events/outbox.js';
import type { Cipher } from '../../platform/crypto/cipher.js';
import type { Transaction } from '../../platform/database/database.js';
import type { StartedSession } from '../remote/session.client.js';
import { classify, OPEN_STATES, type SessionState } from '../rules/machine.rules.js';
import { phaseOf } from '../rules/schedule.rules.js';
import { startedEvent, type EventSubject } from '../rules/session-events.rules.js';
import { START_URLS } from '../store/sessions.sql.js';
import { END_START, INSERT_SESSION, LOCK_CURRENT_AND_KNOWN, LOCK_START } from './starts.sql.js';

export interface WantedSession {
  readonly gridLocationId: string;
  readonly brand: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /**
   * If true, an open or online session of the same location and brand is returned, and no new session is started. `connected`: the same,
   * unless all inverters of the online session are missing.
   */
  readonly reuse: boolean | 'connected';
}

export interface LeasedStart {
  readonly id: string;
  readonly leaseToken: string;
  readonly attempts: number;
  readonly userId: string;
  readonly tenantReference: string;
}

export type RecordedStart =
  /** The session is now the current session of its location and brand. */
  | { readonly kind: 'recorded' }
  /** Nothing was written: another process has taken over or ended the start, or the user was erased. The session counts as an orphan. */
  | { readonly kind: 'lease_lost' }
  /** Nothing was written: the session id already belongs to another object. `owner` describes that object without its id. */
  | { readonly kind: 'foreign'; readonly owner: string };

interface Settings {
  readonly cipher: Cipher;
  /** The time until the first read: the shortest interval, since no owner finishes the web flow faster. */
  readonly firstReadMs: number;
}

/** A session that was recorded before this start: it has the started session's id, or is the current session of the location and brand. */
export interface LockedSession extends Pick<
  EventSubject,
  'id' | 'userId' | 'gridLocationId' | 'brand' | 'state'
> {
  readonly closedAt: Date | null;
  readonly supersededAt: Date | null;
  readonly startUrlCiphertext: Uint8Array<ArrayBuffer> | null;
}

const OVER: readonly SessionState[] = ['online', 'expired', 'lost'];

/** Records the session that the remote service returned for a start, and ends the start. */
export async function recordSession(
  tx: Transaction,
  { cipher, firstReadMs }: Settings,
  start: LeasedStart,
  started: StartedSession,
  wanted: WantedSession,
): Promise<RecordedStart> {
  const { sessionId: id } = started;
  const { gridLocationId, brand, metadata } = wanted;
  const lease = [gridLocationId, start.id, start.leaseToken, id];
  type Leased = { now: Date; isStored: boolean; isSubject: boolean; stretch: number };
  const [leased] = await tx.query<Leased>(LOCK_START, lease);
  if (leased === undefined) return { kind: 'lease_lost' };
  if (leased.isStored) return { kind: 'recorded' };
  const { now, isSubject, stretch } = leased;
  const locked = await tx.query<LockedSession>(LOCK_CURRENT_AND_KNOWN, [gridLocationId, brand, id]);
  const known = locked.find((session) => session.id === id);
  const owner = known ? findForeignOwner(known, start, wanted) : isSubject ? 'something else' : null;
  if (owner !== null) return { kind: 'foreign', owner };
  const superseded = locked.find((session) => session.id !== id);
  // Supersedes the earlier session first, since the unique index allows one current session per location and brand.
  if (superseded !== undefined) {
    const data = { supersededAt: now, changedAt: now };
    await tx.prisma.onboardingSession.update({ where: { id: superseded.id }, data });
  }
  const classification = classify(started);
  const startUrlCiphertext = OPEN_STATES.includes(classification.state)
    ? cipher.encrypt(started.startUrl, START_URLS.context(id))
    : null;
  if (known === undefined) {
    const { userId, tenantReference } = start;
    const session = { id, userId, gridLocationId, brand, metadata, ...classification };
    const dueAt = new Date(now.getTime() + firstReadMs * stretch);
    await insertSession(tx, { ...session, startUrlCiphertext }, started, { dueAt, now, startId: start.id });
    await appendEvents(tx, [startedEvent({ ...session, tenantReference }, now)]);
  } else {
    await reinstate(tx, known, startUrlCiphertext, now);
    await tx.query(END_START, [start.id, id, now]);
  }
  return { kind: 'recorded' };
}

export async function insertSession(
  tx: Transaction,
  session: Omit<EventSubject, 'tenantReference'> &
    Pick<LockedSession, 'startUrlCiphertext'> & { readonly supersededAt?: Date | null },
  seen: Omit<StartedSession, 'sessionId' | 'startUrl' | 'response'> &
    Partial<Pick<StartedSession, 'response'>>,
  times: { readonly dueAt: Date; readonly now: Date; readonly startId?: string },
): Promise<void> {
  const { startUrlCiphertext, ...facts } = session;
  const { finished, active, expired, createdAt, updatedAt, expiresAt, response } = seen;
  const observed = { finished, active, expired, createdAt, updatedAt, expiresAt, response };
  const recorded = { ...facts, ...observed, ...times, phase: phaseOf(session.state) };
  await tx.query(INSERT_SESSION, [JSON.stringify(recorded), startUrlCiphertext]);
}

/** Returns why the start cannot use the known session, in words without ids. Returns null if the start can use it. */
function findForeignOwner(known: LockedSession, start: LeasedStart, wanted: WantedSession): string | null {
  if (known.userId !== start.userId) return 'another user';
  if (known.gridLocationId !== wanted.gridLocationId) return 'another location';
  if (known.brand !== wanted.brand) return 'another brand';
  return known.closedAt !== null || OVER.includes(known.state) ? 'a session that is over' : null;
}

/** Makes the known session current again. If the session is open and has no startUrl, saves the given one. */
async function reinstate(
  tx: Transaction,
  known: LockedSession,
  startUrlCiphertext: LockedSession['startUrlCiphertext'],
  now: Date,
): Promise<void> {
  const needsUrl = known.startUrlCiphertext === null && OPEN_STATES.includes(known.state);
  const given = needsUrl ? startUrlCiphertext : null;
  if (known.supersededAt === null && given === null) return;
  await tx.prisma.onboardingSession.update({
    where: { id: known.id },
    data: { supersededAt: null, changedAt: now, ...(given && { startUrlCiphertext: given }) },
  });
}
