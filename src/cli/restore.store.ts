import type { Sql, Transaction } from '../platform/database/database.js';
import { appendOutcomes } from '../users/registration/confirm-user.store.js';
import type { Claim } from '../users/registration/registration.rules.js';
import { ANNOUNCED, LIVE, RELEASED } from '../users/registration/registrations.sql.js';
import { RESTORED } from '../users/registration/unchecked-references.store.js';

const CONFIRM_REFERENCES = `
    UPDATE restores SET references_checked_at = clock_timestamp() WHERE references_checked_at IS NULL RETURNING id`;

const FIND_UNKNOWN_REFERENCES = `
    SELECT reference FROM unnest($1::text[]) AS reference
    WHERE NOT EXISTS (SELECT FROM registrations WHERE tenant_reference = reference AND ${LIVE})
    ORDER BY reference`;

/** Makes all pending registrations `uncertain`: each may have been sent between the backup and its restore. */
const MOVE_PENDING_TO_UNCERTAIN = `
    UPDATE registrations SET status = 'uncertain', last_error = $1, next_attempt_at = NULL, ${RELEASED}
    WHERE status = 'pending'
    RETURNING ${ANNOUNCED}`;

/** Records the restore of a backup. New events get sequences far above those of the lost events. */
export async function recordRestore(sql: Sql): Promise<void> {
  // Derives the first sequence from the current time, so that no sequence repeats even if the same backup is restored twice.
  await sql.query(`
    INSERT INTO restores (last_sequence, first_sequence)
    SELECT newest, greatest(newest + 100000000, (extract(epoch FROM clock_timestamp()) * 100000)::bigint)
    FROM (SELECT greatest((SELECT max(sequence) FROM domain_events), (SELECT max(first_sequence) FROM restores), 0) AS newest) AS feed`);
}

export async function movePendingToUncertain(tx: Transaction): Promise<number> {
  const moved = await tx.query<Claim>(MOVE_PENDING_TO_UNCERTAIN, [RESTORED]);
  await appendOutcomes(tx, 'uncertain', moved, RESTORED);
  return moved.length;
}

/** Records that all references registered after the backup have been found. Returns false if no restore has unchecked references. */
export const confirmReferences = async (via: Sql): Promise<boolean> =>
  (await via.query(CONFIRM_REFERENCES)).length > 0;

/** Returns the references without a live registration. A new request would send such a reference to the remote service again. */
export async function findUnknownReferences(via: Sql, references: readonly string[]): Promise<string[]> {
  const rows = await via.query<{ reference: string }>(FIND_UNKNOWN_REFERENCES, [references]);
  return rows.map(({ reference }) => reference);
}
