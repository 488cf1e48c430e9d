import type { Statement, Transaction } from '../../platform/database/database.js';

/** The person to erase, locked until the commit so that nobody registers, resolves or starts anything for them. */
export interface HeldPerson {
  /** Null if there are only registrations that have not become a user. */
  readonly userId: string | null;
  readonly registrations: readonly {
    readonly id: string;
    /** A call is in flight for it, and would create a remote user that is unknown here. */
    readonly isBeingSent: boolean;
  }[];
}

const FIND_REFERENCE: Statement = {
  name: 'users.find_reference',
  text: 'SELECT tenant_reference AS "tenantReference" FROM users WHERE id = $1',
};

/** Returns null for an erased user, undefined for an unknown one. */
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

// FOR UPDATE, because only this lock excludes the FOR KEY SHARE with which a start locks its user.
const HOLD_USER: Statement = {
  name: 'users.hold_for_erasure',
  text: 'SELECT id FROM users WHERE tenant_reference = $1 FOR UPDATE',
};

/**
 * Locks the registrations first and the user second, like a confirmation, and each with a snapshot of its own: if a registration was just
 * being confirmed, the second statement sees its user.
 */
export async function holdPerson(tx: Transaction, tenantReference: string): Promise<HeldPerson> {
  const registrations = await tx.query<HeldPerson['registrations'][number]>(HOLD_REGISTRATIONS, [
    tenantReference,
  ]);
  const [user] = await tx.query<{ id: string }>(HOLD_USER, [tenantReference]);
  return { userId: user?.id ?? null, registrations };
}

/** A registration of any status contains personal data. The events about it preserve the count. */
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
