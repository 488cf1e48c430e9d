import { appendEvents } from '../../events/outbox.js';
import type { Transaction } from '../../platform/database/database.js';
import { classify, type Observation } from '../../onboarding/rules/machine.rules.js';
import { startedEvent } from '../../onboarding/rules/session-events.rules.js';
import { insertSession, type LockedSession } from '../../onboarding/start/record-session.store.js';
import { LOCK_CURRENT_AND_KNOWN, LOCK_PLACE } from '../../onboarding/start/starts.sql.js';

/** A session that exists at the remote service, with the location and brand that the tenant gives. */
export interface SessionToAdopt {
  readonly id: string;
  readonly userId: string;
  readonly tenantReference: string;
  readonly gridLocationId: string;
  readonly brand: string | null;
}

export type SeenSession = Observation & { readonly createdAt: Date; readonly expiresAt: Date };

/** `gone`: the user has been erased. `foreign`: the id already belongs to another object in our database. */
type RecordedAdoption = 'recorded' | 'gone' | 'foreign';

/** Records a session that has just been read. May be repeated. */
export async function recordAdopted(
  tx: Transaction,
  session: SessionToAdopt,
  { createdAt, expiresAt }: SeenSession,
): Promise<RecordedAdoption> {
  const { id, userId, tenantReference, gridLocationId, brand } = session;
  const values = [gridLocationId, userId, id];
  const [place] = await tx.query<{ now: Date; isSubject: boolean }>(LOCK_PLACE, values);
  if (place === undefined) return 'gone';
  const { now, isSubject } = place;
  const locked = await tx.query<LockedSession>(LOCK_CURRENT_AND_KNOWN, [gridLocationId, brand, id]);
  const known = locked.find((each) => each.id === id);
  if (known !== undefined) {
    const isSame =
      known.userId === userId && known.gridLocationId === gridLocationId && known.brand === brand;
    return isSame ? 'recorded' : 'foreign';
  }
  if (isSubject) return 'foreign';
  // Inserts the session in its state at the start. It is due at once, so the poller finds its current state and its inverters, with their
  // events. If the location and brand already have a current session in our database, that session stays the current one.
  const asStarted = {
    finished: false,
    active: true,
    expired: null,
    inverters: [],
    createdAt,
    updatedAt: createdAt,
    expiresAt,
  };
  const inserted = { id, userId, gridLocationId, brand, metadata: {}, ...classify(asStarted) };
  const supersededAt = locked.length > 0 ? now : null;
  await insertSession(tx, { ...inserted, startUrlCiphertext: null, supersededAt }, asStarted, {
    dueAt: now,
    now,
  });
  await appendEvents(tx, [startedEvent({ ...inserted, tenantReference }, now)]);
  return 'recorded';
}
