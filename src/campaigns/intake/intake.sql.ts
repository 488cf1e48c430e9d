import { prepared } from '../../platform/database/database.js';
import { msFromNow } from '../../platform/database/timestamps.js';
import { notifying } from '../drain/drain.sql.js';

/** Inserts a campaign that is being received. Its format is known only at the end of the file. */
export const INSERT_CAMPAIGN = `
    INSERT INTO campaigns (id, name, invites, adopts, format, due_at) VALUES ($1, $2, $3, $4, '{}', ${msFromNow('$5')})`;

/** Inserts rows given as a JSON array, and sets `due_at` as a heartbeat of the upload. */
export const INSERT_ROWS = prepared('campaigns.insert_rows')`
    WITH alive AS (UPDATE campaigns SET due_at = ${msFromNow('$3')} WHERE id = $1 AND status = 'receiving')
    INSERT INTO campaign_rows (campaign_id, line, status, tenant_reference, ean, brand, locale, expected_inverters, metadata, fields, problems, adoption)
    SELECT $1, line, status, "tenantReference", ean, brand, locale, "expectedInverters", metadata, fields, problems, adoption
      FROM jsonb_to_recordset($2::jsonb) AS sent (line int, status text, "tenantReference" text, ean text, brand text, locale text,
             "expectedInverters" int, metadata jsonb, fields jsonb, problems jsonb, adoption jsonb)`;

export const FINISH_INTAKE = notifying(`
    UPDATE campaigns SET status = $2, rows = $3, format = $4, due_at = clock_timestamp(),
           finished_at = CASE $2 WHEN 'checked' THEN clock_timestamp() END
     WHERE id = $1 AND status = 'receiving'`);

/** Deletes an upload that has failed, with its rows. */
export const DELETE_UPLOAD = `DELETE FROM campaigns WHERE id = $1 AND status = 'receiving'`;

/** Deletes the uploads whose heartbeats have stopped, since their processes have died. */
export const DELETE_DEAD_UPLOADS = `DELETE FROM campaigns WHERE status = 'receiving' AND due_at < clock_timestamp()`;
