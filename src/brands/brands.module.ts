import { Module } from '@nestjs/common';
import { OnboardingModule } from '../onboarding/onboarding.module.js';
import { BrandOutages } from './brand-outages.service.js';
import { ReadHabits } from './habits.service.js';

@Module({ imports: [OnboardingModule], providers: [BrandOutages, ReadHabits], exports: [ReadHabits] })
export class BrandsModule {}
