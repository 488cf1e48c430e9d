import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { remainingSeconds, summaryOf } from './campaign.rules.js';
import type { CampaignView } from './campaign.view.js';
import { CampaignsStore } from './campaigns.store.js';

/** Reads campaigns with their progress. */
@Injectable()
export class CampaignProgress {
  constructor(
    private readonly store: CampaignsStore,
    private readonly environment: Environment,
  ) {}

  async find(id: string): Promise<CampaignView | null> {
    const campaign = await this.store.findWithCounts(id);
    if (campaign === null) return null;
    const { status, counts, problems, perSecond } = campaign;
    const requestsPerSecond = this.environment.SCS_MAX_REQUESTS_PER_SECOND;
    const progress = { status, rowsLeft: counts.accepted, perSecond, requestsPerSecond };
    const summary = summaryOf(counts, problems);
    return { ...campaign, summary, remainingSeconds: remainingSeconds(progress) };
  }
}
