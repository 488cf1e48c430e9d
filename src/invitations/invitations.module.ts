import { Module } from '@nestjs/common';
import { BrandsModule } from '../brands/brands.module.js';
import { OnboardingModule } from '../onboarding/onboarding.module.js';
import { Environment } from '../platform/env/environment.js';
import { StallKinds } from '../stalls/stall-kinds.js';
import { StallsModule } from '../stalls/stalls.module.js';
import { BrandsController } from './brands.controller.js';
import { Brands } from './brands.service.js';
import { FunnelController } from './funnel.controller.js';
import { FunnelStore } from './funnel.store.js';
import { invitationStalls, STARTS_OF_OWNERS } from './invitation-stalls.store.js';
import { InvitationUpkeep } from './invitation-upkeep.service.js';
import { InvitationsController } from './invitations.controller.js';
import { InvitationsService } from './invitations.service.js';
import { InvitationsStore } from './invitations.store.js';
import { LinkCodesStore } from './owner/link-codes.store.js';
import { OwnerPageController } from './owner/owner-page.controller.js';
import { OwnerPageView } from './owner/owner-page.view.js';
import { OwnerRequestsStore } from './owner/owner-requests.store.js';
import { OwnerTexts } from './owner/owner-texts.service.js';
import { OwnerStarts } from './owner/owner-starts.service.js';
import { RemindersStore } from './reminders/reminders.store.js';

@Module({
  imports: [BrandsModule, OnboardingModule, StallsModule],
  controllers: [InvitationsController, FunnelController, BrandsController, OwnerPageController],
  providers: [
    InvitationsService,
    InvitationsStore,
    FunnelStore,
    InvitationUpkeep,
    OwnerPageView,
    LinkCodesStore,
    OwnerRequestsStore,
    OwnerTexts,
    Brands,
    OwnerStarts,
    RemindersStore,
  ],
  exports: [Brands, InvitationsService, InvitationsStore],
})
export class InvitationsModule {
  constructor(kinds: StallKinds, environment: Environment) {
    kinds.declare(invitationStalls(environment));
    kinds.declare(STARTS_OF_OWNERS);
  }
}
