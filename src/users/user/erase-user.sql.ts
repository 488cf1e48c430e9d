import type { Transaction } from '../../platform/database/database.js';
import type { PersonalData } from '../../platform/database/personal-data.js';

/** The context of the hash of an erased reference, in the form that `reference_fold` returns. */
export const ERASED_REFERENCE = 'erasures/reference';

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

/** Every registration contains personal data, whatever its status. The events still show how many there were. */
export const REGISTRATIONS: PersonalData = {
  table: 'registrations',
  where: 't.id = ANY ($1::uuid[])',
  order: 't.id',
  parameter: ({ registrationIds }) => registrationIds,
  erase: async ({ prisma }, { registrationIds }) =>
    (await prisma.registration.deleteMany({ where: { id: { in: [...registrationIds] } } })).count,
};

const EMPTY = { tenantReference: null, tenantName: '', firstName: '', lastName: '', email: '', metadata: {} };

export const USERS: PersonalData = {
  table: 'users',
  where: 't.id = $1::uuid',
  order: 't.id',
  parameter: ({ userId }) => userId,
  erase: async ({ prisma }, { userId }, { at: erasedAt }) =>
    userId === null
      ? 0
      : (await prisma.user.updateMany({ where: { id: userId }, data: { ...EMPTY, erasedAt } })).count,
};

export const GRID_LOCATIONS: PersonalData = {
  table: 'grid_locations',
  where: 't.id = ANY ($1::uuid[])',
  order: 't.id',
  parameter: ({ gridLocationIds }) => gridLocationIds,
  erase: async ({ prisma }, { gridLocationIds }) => {
    const where = { id: { in: [...gridLocationIds] } };
    return (await prisma.gridLocation.updateMany({ where, data: { ean: null } })).count;
  },
};
