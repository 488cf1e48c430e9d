import { ChoiceParameter, FlagParameter } from '../platform/http/parameters.js';
import * as by from '../platform/list/filters.js';
import { List } from '../platform/list/list.js';
import { CAMPAIGN_STATUSES, ROW_PROBLEMS, ROW_STATUSES } from './campaign.rules.js';
import type { RowProblemCode, RowStatus } from './campaign.rules.js';
import { SELECT_CAMPAIGN, SELECT_ROWS } from './campaigns.sql.js';

export const CAMPAIGNS = new List({
  name: 'campaigns',
  select: SELECT_CAMPAIGN,
  where: `status <> 'receiving'`,
  order: { createdAt: ['created_at', 'instant'], id: ['id', 'uuid'] },
  descending: true,
  filters: {
    status: by.choice('status', CAMPAIGN_STATUSES),
    dryRun: by.parameter<boolean>(
      FlagParameter('Only dry runs, or only campaigns that are none. Default: both'),
      `(status = 'checked') = ?`,
    ),
  },
});

export class CampaignsQuery extends CAMPAIGNS.Query {}

export const CAMPAIGN_ROWS = new List({
  name: 'campaign-rows',
  select: SELECT_ROWS,
  order: { line: ['line', 'integer'] },
  filters: {
    status: by.parameter<RowStatus>(ChoiceParameter(ROW_STATUSES), (status) => [
      ['status = ANY (?)', status === 'accepted' ? ['accepted', 'sent'] : [status]],
    ]),
    problem: by.parameter<RowProblemCode>(ChoiceParameter(ROW_PROBLEMS), (code) => [
      [`problems <> '[]' AND problems @> ?::jsonb`, JSON.stringify([{ code }])],
    ]),
  },
});

export class CampaignRowsQuery extends CAMPAIGN_ROWS.Query {}
