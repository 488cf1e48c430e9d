import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operation } from '../access/operation.decorator.js';
import { toPage, type Page } from '../platform/http/page.js';
import { ApiPage } from '../platform/openapi/api-page.decorator.js';
import { CampaignSummaryView } from './campaign.view.js';
import { CampaignsQuery } from './campaigns.dto.js';
import { CampaignsStore } from './campaigns.store.js';

@ApiTags('Campaigns')
@Controller('campaigns')
export class CampaignsController {
  constructor(private readonly store: CampaignsStore) {}

  @Get()
  @Operation('users:read', {
    summary: 'List campaigns, the newest first',
    description: 'With dry runs. Without files that are still being uploaded.',
  })
  @ApiPage(CampaignSummaryView)
  async listCampaigns(
    @Query() { limit, cursor, status }: CampaignsQuery,
  ): Promise<Page<CampaignSummaryView>> {
    const rows = await this.store.list(status, cursor, limit + 1);
    return toPage(rows, limit, ({ createdAt, id }) => [createdAt, id]);
  }
}
