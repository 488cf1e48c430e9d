import type { Sql } from '../../src/platform/database/database.js';
import type { RowStatus } from '../../src/campaigns/campaign.rules.js';
import { newEan } from './ean.js';

interface Row {
  readonly tenantReference: string;
  readonly ean?: string;
  readonly brand?: string;
  readonly locale?: string;
  readonly expectedInverters?: number;
  readonly status?: RowStatus;
  readonly metadata?: object;
}

const FORMAT = {
  type: 'csv',
  encoding: 'utf-8',
  bom: false,
  delimiter: ',',
  columns: ['tenantReference', 'ean'],
};

/** Inserts a campaign as an upload leaves it. The rows are numbered from line 2, and stored from the last, as a table has no order. Returns its id. */
export async function insertCampaign(
  sql: Sql,
  rows: readonly Row[],
  { invites = false, status = 'running', name = null as string | null } = {},
): Promise<string> {
  const values = rows.map((row) => ({ ean: newEan(), metadata: {}, ...row }));
  const [campaign] = await sql.query<{ id: string }>(
    `INSERT INTO campaigns (name, status, invites, format, rows, due_at) VALUES ($1, 'receiving', $2, $3, $4, 'infinity') RETURNING id`,
    [name, invites, FORMAT, rows.length],
  );
  const { id } = campaign!;
  await sql.query(
    `INSERT INTO campaign_rows (campaign_id, line, status, tenant_reference, ean, brand, locale, expected_inverters, metadata, fields)
     SELECT $1, number + 1, coalesce(value->>'status', 'accepted'), value->>'tenantReference', value->>'ean', value->>'brand',
            value->>'locale', (value->>'expectedInverters')::int, value->'metadata', jsonb_build_array(value->'tenantReference', value->'ean')
       FROM jsonb_array_elements($2::jsonb) WITH ORDINALITY AS given (value, number)
      ORDER BY number DESC`,
    [id, JSON.stringify(values)],
  );
  await sql.query(
    `UPDATE campaigns SET status = $2::text, due_at = now() - interval '1 ms', finished_at = CASE WHEN $2::text IN ('checked', 'finished') THEN now() END WHERE id = $1`,
    [id, status],
  );
  return id;
}

interface RowState {
  readonly line: number;
  readonly status: RowStatus | 'sent';
  readonly tenantReference: string | null;
  readonly registrationId: string | null;
  readonly userId: string | null;
  readonly invitationId: string | null;
  readonly problems: readonly { readonly code: string }[];
}

export const readRows = (sql: Sql, campaignId: string): Promise<RowState[]> =>
  sql.query(
    `SELECT line, status, tenant_reference AS "tenantReference", registration_id AS "registrationId", user_id AS "userId",
            invitation_id AS "invitationId", problems
       FROM campaign_rows WHERE campaign_id = $1 ORDER BY line`,
    [campaignId],
  );

export async function campaignStatus(sql: Sql, id: string): Promise<string> {
  const [campaign] = await sql.query<{ status: string; isOver: boolean }>(
    'SELECT status, finished_at IS NOT NULL AS "isOver" FROM campaigns WHERE id = $1',
    [id],
  );
  return campaign!.status === 'cancelled' && campaign!.isOver ? 'cancelled and over' : campaign!.status;
}
