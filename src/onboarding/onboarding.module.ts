import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { EventsModule } from '../events/events.module.js';
import { RemoteModule } from '../remote/remote.module.js';
import { Environment } from '../platform/env/environment.js';
import { StallKinds } from '../stalls/stall-kinds.js';
import { StallsModule } from '../stalls/stalls.module.js';
import { sessionStalls, START_STALLS } from './stalls/session-stalls.store.js';
import { LearnedSchedules } from './poll/learned-schedules.js';
import { PollWrites } from './poll/write-queue.js';
import { Poller } from './poll/poller.js';
import { PollsStore } from './poll/polls.store.js';
import { ReadPool } from './poll/read-pool.js';
import { ReadBudget } from './poll/read-budget.service.js';
import { ReadBudgetStore } from './poll/read-budget.store.js';
import { SessionViewsStore } from './store/session-views.store.js';
import { SessionReader } from './remote/session-reader.service.js';
import { SessionRefreshService } from './poll/refresh.service.js';
import { SessionsController } from './api/sessions.controller.js';
import { SessionsService } from './api/sessions.service.js';
import { SessionsStore } from './store/sessions.store.js';
import { StartSessionService } from './start/start-session.service.js';
import { AbandonedStarts } from './start/abandoned-starts.service.js';
import { StartsStore } from './start/starts.store.js';

@Module({
  imports: [AuthModule, RemoteModule, EventsModule, StallsModule],
  controllers: [SessionsController],
  providers: [
    SessionsService,
    StartSessionService,
    StartsStore,
    AbandonedStarts,
    SessionsStore,
    SessionViewsStore,
    SessionRefreshService,
    SessionReader,
    LearnedSchedules,
    PollsStore,
    PollWrites,
    ReadPool,
    ReadBudget,
    ReadBudgetStore,
    Poller,
  ],
  exports: [StartSessionService, SessionReader, SessionViewsStore, LearnedSchedules],
})
export class OnboardingModule {
  constructor(kinds: StallKinds, environment: Environment) {
    kinds.declare(sessionStalls(environment));
    kinds.declare(START_STALLS);
  }
}
