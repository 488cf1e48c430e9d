import { Module } from '@nestjs/common';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { InvitationsModule } from '../invitations/invitations.module.js';
import { OnboardingModule } from '../onboarding/onboarding.module.js';
import { UsersModule } from '../users/users.module.js';
import { CampaignAdoption } from './adoption/adoption.service.js';
import { AdoptionStore } from './adoption/adoption.store.js';
import { CampaignsController } from './campaigns.controller.js';
import { CampaignsStore } from './campaigns.store.js';
import { CampaignDrain } from './drain/drain.service.js';
import { DrainStore } from './drain/drain.store.js';
import { Intake } from './intake/intake.service.js';
import { IntakeStore } from './intake/intake.store.js';
import { CampaignResults } from './result/campaign-results.service.js';

@Module({
  imports: [IdempotencyModule, InvitationsModule, OnboardingModule, UsersModule],
  controllers: [CampaignsController],
  providers: [
    CampaignsStore,
    Intake,
    IntakeStore,
    CampaignResults,
    CampaignDrain,
    DrainStore,
    CampaignAdoption,
    AdoptionStore,
  ],
})
export class CampaignsModule {}
