import type { Statement, Transaction } from '../../platform/database/database.js';

/** Whom an erasure is about, held so that nobody registers, resolves or starts anything for them until it has committed. */
export interface HeldPerson {
  /** Null where there are only registrations that have not become a user. */
  readonly userId: string | null;
  readonly registrations: readonly {
    readonly id: string;
    /** A call is being made for it; what it brings would be a user that nobody here knows. */
    readonly isBeingSent: boolean;
  }[];
}

const FIND_REFERENCE: Statement = {
  name: 'users.find_reference',
  text: 'SELECT tenant_reference AS "tenantReference" FROM users WHERE id = $1',
};

/** Null for an erased user, undefined when there is none. */
export async function findReference(tx: Transaction, userId: string): Promise<string | null | undefined> {
  const [found] = await tx.query<{ tenantReference: string | null }>(FIND_REFERENCE, [userId]);
  return found?.tenantReference;
}

const HOLD_REGISTRATIONS: Statement = {
  name: 'registrations.hold_for_erasure',
  text: `
    SELECT id, coalesce(lease_until >= clock_timestamp(), false) AS "isBeingSent" FROM registrations
    WHERE tenant_reference = $1 ORDER BY id FOR UPDATE`,
};

// FOR UPDATE, because it is the one lock that excludes the FOR KEY SHARE under which a start looks at its user.
const HOLD_USER: Statement = {
  name: 'users.hold_for_erasure',
  text: 'SELECT id FROM users WHERE tenant_reference = $1 FOR UPDATE',
};

/**
 * Registrations first and the user second, as whoever confirms a user does, and each with a snapshot of its own: a registration
 * that was being confirmed has its user by the time that the second looks.
 */
export async function holdPerson(tx: Transaction, tenantReference: string): Promise<HeldPerson> {
  const registrations = await tx.query<HeldPerson['registrations'][number]>(HOLD_REGISTRATIONS, [
    tenantReference,
  ]);
  const [user] = await tx.query<{ id: string }>(HOLD_USER, [tenantReference]);
  return { userId: user?.id ?? null, registrations };
}

/** What a registration of any status holds is personal, and the events about it keep the count. */
export const DELETE_REGISTRATIONS: Statement = {
  name: 'registrations.erase',
  text: 'DELETE FROM registrations WHERE id = ANY ($1::uuid[]) RETURNING id',
};

export const ERASE_USER: Statement = {
  name: 'users.erase',
  text: `
    UPDATE users SET erased_at = $2, tenant_reference = NULL, tenant_name = '', first_name = '', last_name = '', email = '',
      metadata = '{}'
    WHERE id = $1`,
};

export const ERASE_GRID_LOCATIONS: Statement = {
  name: 'users.erase_grid_locations',
  text: 'UPDATE grid_locations SET ean = NULL WHERE user_id = $1 RETURNING id',
};

export async function eraseUser(tx: Transaction, { userId, registrations }: HeldPerson, erasedAt: Date) {
  const deleted = await tx.query(DELETE_REGISTRATIONS, [registrations.map(({ id }) => id)]);
  await tx.query(ERASE_USER, [userId, erasedAt]);
  const emptied = await tx.query(ERASE_GRID_LOCATIONS, [userId]);
  return { registrations: deleted.length, gridLocations: emptied.length };
}
