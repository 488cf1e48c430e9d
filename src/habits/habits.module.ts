import { Module } from '@nestjs/common';
import { OnboardingModule } from '../onboarding/onboarding.module.js';
import { ReadHabits } from './habits.service.js';

@Module({ imports: [OnboardingModule], providers: [ReadHabits], exports: [ReadHabits] })
export class HabitsModule {}
