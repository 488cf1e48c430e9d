import { recordAudit } from '../access/audit-log.store.js';
import type { Classification, SessionState } from '../onboarding/rules/machine.rules.js';
import { SELECT_RECORD } from '../onboarding/store/sessions.sql.js';
import type { LockedSession, SessionsStore } from '../onboarding/store/sessions.store.js';
import type { Database } from '../platform/database/database.js';

/** A session whose stored responses give another state by the current rules. */
export interface RederivedChange {
  readonly id: string;
  readonly from: SessionState;
  readonly classification: Classification;
}

/** Locks sessions, watched or not, for a change that has no read and no batch. Excludes sessions of erased users. */
// Excludes erased users by close_reason, not by a column of the user: after a wait for the lock, PostgreSQL rereads only the locked row.
export const LOCK_ANY_SESSIONS = `${SELECT_RECORD} LEFT JOIN session_polls p ON p.session_id = s.id
     WHERE s.id = ANY($1::uuid[]) AND s.close_reason IS DISTINCT FROM 'erased' ORDER BY s.id FOR UPDATE OF s`;

/** Applies re-derived states, unless the state has changed since the replay. Returns their number. `actor` goes to the audit log. */
export async function applyRederived(
  database: Database,
  sessions: SessionsStore,
  changes: readonly RederivedChange[],
  actor: string,
): Promise<number> {
  const byId = new Map(changes.map((change) => [change.id, change]));
  return database.transaction(async (tx) => {
    const locked = await tx.query<LockedSession>(LOCK_ANY_SESSIONS, [[...byId.keys()]]);
    const unchanged = locked
      .map((session) => ({ ...byId.get(session.id)!, session }))
      .filter(({ session, from }) => session.state === from);
    const rederived = unchanged.map(({ session, classification }) => ({
      session,
      reading: { kind: 'rederived' as const, classification },
    }));
    await sessions.write(tx, rederived);
    const entries = unchanged.map(({ id, from, classification: { state: to, rule } }) => ({
      actor,
      action: 'session.rederived',
      target: id,
      details: { from, to, rule },
    }));
    await recordAudit(tx, ...entries);
    return unchanged.length;
  });
}
