import { Module } from '@nestjs/common';
import { OnboardingModule } from '../onboarding/onboarding.module.js';
import { TimelineController } from './timeline.controller.js';

@Module({ imports: [OnboardingModule], controllers: [TimelineController] })
export class TimelineModule {}
