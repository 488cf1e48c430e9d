/** The columns of a campaign as the API shows it. An upload in progress is not a campaign yet. */
export const SELECT_CAMPAIGN = `
    SELECT id, name, status, status = 'checked' AS "dryRun", invites AS invite, adopts AS adopt, format, rows,
           created_at AS "createdAt", finished_at AS "finishedAt"
      FROM campaigns`;

/** Selects the rate of campaign $1 while it runs. The rate of a worker that has died means nothing once its lease has ended. */
export const SELECT_RATE = `
    SELECT CASE WHEN status = 'running' AND lease_until > clock_timestamp() THEN per_second END AS "perSecond" FROM campaigns WHERE id = $1`;

/** The status of a row as the API shows it. */
const ROW_STATUS = `CASE status WHEN 'sent' THEN 'accepted' ELSE status END`;

export const COUNT_ROWS = `
    SELECT ${ROW_STATUS} AS name, count(*)::int AS count FROM campaign_rows WHERE campaign_id = $1 GROUP BY 1`;

/** Counts the rows with each problem. A row may have the same problem in two columns. */
export const COUNT_PROBLEMS = `
    SELECT problem ->> 'code' AS name, count(DISTINCT line)::int AS count
      FROM campaign_rows CROSS JOIN jsonb_array_elements(problems) AS problem
     WHERE campaign_id = $1 AND problems <> '[]' GROUP BY 1 ORDER BY 1`;

/** Counts the rows of each brand, the most frequent first, at most $2 brands. */
export const COUNT_BRANDS = `
    SELECT brand, count(*)::int AS rows FROM campaign_rows WHERE campaign_id = $1 AND brand IS NOT NULL
     GROUP BY brand ORDER BY rows DESC, brand LIMIT $2`;

export const SELECT_ROWS = `
    SELECT line, ${ROW_STATUS} AS status, tenant_reference AS "tenantReference", ean, problems, fields,
           registration_id AS "registrationId", user_id AS "userId", invitation_id AS "invitationId"
      FROM campaign_rows`;
