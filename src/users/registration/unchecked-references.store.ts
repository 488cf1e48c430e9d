import { requireActing } from '../../access/acting-caller.js';
import type { Database } from '../../platform/database/database.js';
import { appendOutcomes } from './confirm-user.store.js';
import type { Claim, RegistrationRequest } from './registration.rules.js';
import { INSERT_UNCERTAIN } from './registrations.sql.js';

export const RESTORED =
  'a backup was restored, so nobody knows whether this reference was registered after it';

/** If references are unchecked after a restore, inserts the registration as `uncertain` without sending it. A person decides about it. */
export async function insertIfUnchecked(
  database: Database,
  { tenantReference, eans, metadata }: RegistrationRequest,
): Promise<void> {
  if ((await database.prisma.restore.count({ where: { referencesCheckedAt: null } })) === 0) return;
  await database.transaction(async (tx) => {
    await requireActing(tx);
    const values = [tenantReference, eans, metadata, RESTORED];
    const inserted = await tx.query<Claim>(INSERT_UNCERTAIN, values);
    await appendOutcomes(tx, 'uncertain', inserted, RESTORED);
  });
}
