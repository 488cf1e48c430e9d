/** The columns of a campaign as the API shows it. */
export const SELECT_CAMPAIGN = `
    SELECT id, name, status, status = 'checked' AS "dryRun", invites AS invite, format, rows,
           created_at AS "createdAt", finished_at AS "finishedAt"
      FROM campaigns`;
