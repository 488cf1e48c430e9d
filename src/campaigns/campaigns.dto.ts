import { PageQuery } from '../platform/http/page.js';
import { ChoiceParameter } from '../platform/http/parameters.js';
import { CAMPAIGN_STATUSES, type CampaignStatus } from './campaign.rules.js';

export class CampaignsQuery extends PageQuery {
  @ChoiceParameter(CAMPAIGN_STATUSES)
  status?: CampaignStatus;
}
