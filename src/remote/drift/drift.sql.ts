import type { Statement } from '../../platform/database/database.js';

// A service that names fields after its customers would fill the table, so new differences are dropped after the 50th of an operation. A
// foreign id is never dropped: only documented fields contain ids, so there are few, and customers may have been mixed up. xmax is 0 in a
// row that this statement inserted, and not 0 in a row that it updated.
export const RECORD: Statement = {
  name: 'remote_drift_record',
  text: `
    INSERT INTO remote_drift (operation, kind, field, expected, found)
    SELECT $1, d.kind, d.field, d.expected, d.found
    FROM jsonb_to_recordset($2::jsonb) AS d (kind text, field text, expected text, found text)
    WHERE EXISTS (SELECT FROM remote_drift k WHERE k.operation = $1 AND k.kind = d.kind AND k.field = d.field)
       OR d.kind = 'foreign_id'
       OR (SELECT count(*) FROM remote_drift WHERE operation = $1) < 50
    ON CONFLICT (operation, kind, field) DO UPDATE SET last_seen_at = clock_timestamp()
    RETURNING kind, field, expected, found, first_seen_at AS "firstSeenAt", xmax = 0 AS "isNew"`,
};
