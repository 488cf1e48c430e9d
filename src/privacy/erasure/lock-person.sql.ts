import type { Transaction } from '../../platform/database/database.js';

// `isBeingSent`: whether a call is in flight. That call may create a user at the remote service that our database does not know.
const LOCK_REGISTRATIONS = `
    SELECT id, coalesce(lease_until >= clock_timestamp(), false) AS "isBeingSent" FROM registrations
    WHERE tenant_reference = $1 ORDER BY id FOR UPDATE`;

// A start locks its user FOR KEY SHARE. Only FOR UPDATE conflicts with that lock.
const LOCK_USER = 'SELECT id FROM users WHERE tenant_reference = $1 FOR UPDATE';

/**
 * Locks the registrations, then the user. A confirmation locks in the same order. So the two cannot deadlock, and a user that was just
 * confirmed is found.
 */
// Until the commit, no other transaction can register, resolve or start anything for the person. `userId` is null if there is no user.
export async function lockPerson(tx: Transaction, tenantReference: string) {
  const reference = [tenantReference];
  const registrations = await tx.query<{ id: string; isBeingSent: boolean }>(LOCK_REGISTRATIONS, reference);
  const [user] = await tx.query<{ id: string }>(LOCK_USER, reference);
  return { userId: user?.id ?? null, registrations };
}
