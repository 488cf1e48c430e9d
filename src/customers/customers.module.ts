import { Module } from '@nestjs/common';
import { BrandsModule } from '../brands/brands.module.js';
import { InvitationsModule } from '../invitations/invitations.module.js';
import { StallsModule } from '../stalls/stalls.module.js';
import { OnboardingModule } from '../onboarding/onboarding.module.js';
import { CaseStore } from './case.store.js';
import { CasesController } from './cases.controller.js';
import { CasesService } from './cases.service.js';
import { CustomersStore } from './customers.store.js';
import { SearchController } from './search/search.controller.js';
import { SearchStore } from './search/search.store.js';

@Module({
  imports: [BrandsModule, StallsModule, OnboardingModule, InvitationsModule],
  controllers: [CasesController, SearchController],
  providers: [CaseStore, CasesService, CustomersStore, SearchStore],
})
export class CustomersModule {}
