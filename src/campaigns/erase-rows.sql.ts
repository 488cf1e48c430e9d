import { prepared, type Transaction } from '../platform/database/database.js';
import type { Person, PersonalData } from '../platform/database/personal-data.js';

/** Locks the rows of a person in all campaigns, so that no worker registers them until the commit. */
export const LOCK_ROWS = prepared('campaign_rows.lock_reference')`
    SELECT line FROM campaign_rows WHERE tenant_reference = $1 ORDER BY campaign_id, line FOR UPDATE`;

/** Empties a row of its personal data. */
export const CLEARED = `tenant_reference = NULL, ean = NULL, brand = NULL, locale = NULL, expected_inverters = NULL, metadata = '{}',
           fields = '[]', problems = '[]', adoption = NULL`;

/**
 * The rows of a person, whose reference and EANs are $1. Also the invalid rows with one of the EANs or the reference in any cell and without
 * another reference: its cell is empty, or columns are swapped.
 */
const OF_PERSON = `(t.tenant_reference = ($1::text[])[1]
     OR t.status = 'invalid' AND t.fields ?| $1::text[] AND coalesce(t.tenant_reference = ANY ($1::text[]), true))`;

/** Empties the rows of a person. A row without a result is cancelled: its registration is deleted, or was never made. */
export const ERASE_ROWS = prepared('campaign_rows.erase')`
    UPDATE campaign_rows AS t
       SET ${CLEARED},
           status = CASE WHEN status IN ('accepted', 'sent', 'uncertain') THEN 'cancelled' ELSE status END
     WHERE ${OF_PERSON}
    RETURNING line`;

/** Returns whether the person has rows. Call it before the person is locked: a worker locks in the same order. */
export const lockRows = async (tx: Transaction, tenantReference: string): Promise<boolean> =>
  (await tx.query(LOCK_ROWS, [tenantReference])).length > 0;

const parameter = ({ tenantReference, eans }: Person) => [tenantReference, ...eans];

export const CAMPAIGN_ROWS: PersonalData = {
  table: 'campaign_rows',
  where: OF_PERSON,
  order: 't.campaign_id, t.line',
  parameter,
  erase: async (tx, person) => (await tx.query(ERASE_ROWS, [parameter(person)])).length,
};
