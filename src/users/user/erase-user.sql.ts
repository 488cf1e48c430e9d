import type { Transaction } from '../../platform/database/database.js';

// `isBeingSent`: whether a call is in flight. That call may create a remote user that is unknown here.
const LOCK_REGISTRATIONS = `
    SELECT id, coalesce(lease_until >= clock_timestamp(), false) AS "isBeingSent" FROM registrations
    WHERE tenant_reference = $1 ORDER BY id FOR UPDATE`;

// A start locks its user FOR KEY SHARE. Only FOR UPDATE conflicts with that lock.
const LOCK_USER = 'SELECT id FROM users WHERE tenant_reference = $1 FOR UPDATE';

export type LockedPerson = Awaited<ReturnType<typeof lockPerson>>;

/** Locks the registrations and then the user, as a confirmation does. This order avoids deadlocks and finds a user confirmed meanwhile. */
// Until the commit, no other transaction can register, resolve or start anything for the person. `userId` is null if there is no user.
export async function lockPerson(tx: Transaction, tenantReference: string) {
  const reference = [tenantReference];
  const registrations = await tx.query<{ id: string; isBeingSent: boolean }>(LOCK_REGISTRATIONS, reference);
  const [user] = await tx.query<{ id: string }>(LOCK_USER, reference);
  return { userId: user?.id ?? null, registrations };
}

/** Deletes registrations in any status, since all contain personal data. Their events still show how many there were. */
export const DELETE_REGISTRATIONS = 'DELETE FROM registrations WHERE id = ANY ($1::uuid[]) RETURNING id';

export const ERASE_USER = `
    UPDATE users SET erased_at = $2, tenant_reference = NULL, tenant_name = '', first_name = '', last_name = '', email = '',
      metadata = '{}'
    WHERE id = $1`;

export const ERASE_GRID_LOCATIONS = 'UPDATE grid_locations SET ean = NULL WHERE user_id = $1 RETURNING id';

export async function eraseUser(tx: Transaction, { userId, registrations }: LockedPerson, erasedAt: Date) {
  const deleted = await tx.query(DELETE_REGISTRATIONS, [registrations.map(({ id }) => id)]);
  await tx.query(ERASE_USER, [userId, erasedAt]);
  const emptied = await tx.query(ERASE_GRID_LOCATIONS, [userId]);
  return { registrations: deleted.length, gridLocations: emptied.length };
}
