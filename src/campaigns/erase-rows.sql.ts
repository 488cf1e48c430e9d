import { prepared, type Transaction } from '../platform/database/database.js';
import type { PersonalData } from '../platform/database/personal-data.js';

/** Locks the rows of a person in all campaigns, so that no worker registers them until the commit. */
const LOCK_ROWS = prepared('campaign_rows.lock_reference')`
    SELECT line FROM campaign_rows WHERE tenant_reference = $1 ORDER BY campaign_id, line FOR UPDATE`;

/** Empties a row of its personal data. */
export const CLEARED = `tenant_reference = NULL, ean = NULL, brand = NULL, locale = NULL, expected_inverters = NULL, metadata = '{}',
           fields = '[]', problems = '[]', adoption = NULL`;

/** Empties the rows of a person. A row without a result is cancelled: its registration is deleted, or was never made. */
export const ERASE_ROWS = prepared('campaign_rows.erase')`
    UPDATE campaign_rows
       SET ${CLEARED},
           status = CASE WHEN status IN ('accepted', 'sent', 'uncertain') THEN 'cancelled' ELSE status END
     WHERE tenant_reference = $1
    RETURNING line`;

/** Returns whether the person has rows. Call it before the person is locked: a worker locks in the same order. */
export const lockRows = async (tx: Transaction, tenantReference: string): Promise<boolean> =>
  (await tx.query(LOCK_ROWS, [tenantReference])).length > 0;

export const CAMPAIGN_ROWS: PersonalData = {
  table: 'campaign_rows',
  where: 't.tenant_reference = $1',
  order: 't.campaign_id, t.line',
  parameter: ({ tenantReference }) => tenantReference,
  erase: async (tx, { tenantReference }) => (await tx.query(ERASE_ROWS, [tenantReference])).length,
};
