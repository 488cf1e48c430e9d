import { requireActing } from '../../access/acting-caller.js';
import type { Database, Sql, Transaction } from '../../platform/database/database.js';
import { appendOutcomes } from './confirm-user.store.js';
import type { Claim, RegistrationRequest } from './registration.rules.js';
import * as sql from './registrations.sql.js';

const RESTORED = 'a backup was restored, so nobody knows whether this reference was registered after it';

/** If references are unchecked after a restore, inserts the registration as `uncertain` without sending it. A person decides about it. */
export async function insertIfUnchecked(
  database: Database,
  { tenantReference, eans, metadata }: RegistrationRequest,
): Promise<void> {
  if ((await database.prisma.restore.count({ where: { referencesCheckedAt: null } })) === 0) return;
  await database.transaction(async (tx) => {
    await requireActing(tx);
    const values = [tenantReference, eans, metadata, RESTORED];
    const inserted = await tx.query<Claim>(sql.INSERT_UNCERTAIN, values);
    await appendOutcomes(tx, 'uncertain', inserted, RESTORED);
  });
}

export async function movePendingToUncertain(tx: Transaction): Promise<number> {
  const moved = await tx.query<Claim>(sql.MOVE_PENDING_TO_UNCERTAIN, [RESTORED]);
  await appendOutcomes(tx, 'uncertain', moved, RESTORED);
  return moved.length;
}

/** Records that all references registered after the backup have been found. Returns false if no restore has unchecked references. */
export const confirmReferences = async (via: Sql): Promise<boolean> =>
  (await via.query(sql.CONFIRM_REFERENCES)).length > 0;

/** Returns the references without a live registration. A new request would send such a reference to the remote service again. */
export async function findUnknownReferences(via: Sql, references: readonly string[]): Promise<string[]> {
  const rows = await via.query<{ reference: string }>(sql.FIND_UNKNOWN_REFERENCES, [references]);
  return rows.map(({ reference }) => reference);
}
