import { Module } from '@nestjs/common';
import { InvitationsModule } from '../invitations/invitations.module.js';
import { CampaignsController } from './campaigns.controller.js';
import { CampaignsStore } from './campaigns.store.js';
import { CampaignControlController } from './drain/campaign-control.controller.js';
import { CampaignDrain } from './drain/drain.service.js';
import { DrainStore } from './drain/drain.store.js';

@Module({
  imports: [InvitationsModule],
  controllers: [CampaignsController, CampaignControlController],
  providers: [CampaignsStore, CampaignDrain, DrainStore],
})
export class CampaignsModule {}
