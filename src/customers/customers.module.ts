import { Module } from '@nestjs/common';
import { OnboardingModule } from '../onboarding/onboarding.module.js';
import { UsersModule } from '../users/users.module.js';
import { CaseStore } from './case.store.js';
import { CasesController } from './cases.controller.js';
import { CasesService } from './cases.service.js';

@Module({
  imports: [OnboardingModule, UsersModule],
  controllers: [CasesController],
  providers: [CaseStore, CasesService],
})
export class CustomersModule {}
