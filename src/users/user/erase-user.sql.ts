import type { PersonalData } from '../../platform/database/personal-data.js';

/** The context of the hash of an erased reference, in the form that `reference_fold` returns. */
export const ERASED_REFERENCE = 'erasures/reference';

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
