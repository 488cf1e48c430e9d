import { Module } from '@nestjs/common';
import { InvitationsModule } from '../invitations/invitations.module.js';
import { CampaignsController } from './campaigns.controller.js';
import { CampaignsStore } from './campaigns.store.js';

@Module({
  imports: [InvitationsModule],
  controllers: [CampaignsController],
  providers: [CampaignsStore],
})
export class CampaignsModule {}
