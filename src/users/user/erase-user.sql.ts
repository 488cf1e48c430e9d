import type { Transaction } from '../../platform/database/database.js';

/** The context of the hash of an erased reference, in the form that `reference_fold` returns. */
export const ERASED_REFERENCE = 'erasures/reference';

// `isBeingSent`: whether a call is in flight. That call may create a user at the remote service that our database does not know.
const LOCK_REGISTRATIONS = `
    SELECT id, coalesce(lease_until >= clock_timestamp(), false) AS "isBeingSent" FROM registrations
    WHERE tenant_reference = $1 ORDER BY id FOR UPDATE`;

// A start locks its user FOR KEY SHARE. Only FOR UPDATE conflicts with that lock.
const LOCK_USER = 'SELECT id FROM users WHERE tenant_reference = $1 FOR UPDATE';

type LockedPerson = Awaited<ReturnType<typeof lockPerson>>;

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

/** Erases the locked person. Returns the numbers of deleted registrations and of grid locations whose EAN was erased. */
export async function eraseUser(
  { prisma }: Transaction,
  { userId, registrations }: LockedPerson,
  erasedAt: Date,
) {
  // Every registration contains personal data, whatever its status. The events still show how many registrations there were.
  const ids = registrations.map(({ id }) => id);
  const deleted = await prisma.registration.deleteMany({ where: { id: { in: ids } } });
  if (userId === null) return { registrations: deleted.count, gridLocations: 0 };
  const data = {
    tenantReference: null,
    tenantName: '',
    firstName: '',
    lastName: '',
    email: '',
    metadata: {},
    erasedAt,
  };
  await prisma.user.updateMany({ where: { id: userId }, data });
  const emptied = await prisma.gridLocation.updateMany({ where: { userId }, data: { ean: null } });
  return { registrations: deleted.count, gridLocations: emptied.count };
}
