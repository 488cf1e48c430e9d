import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { EventsModule } from '../events/events.module.js';
import { RemoteModule } from '../remote/remote.module.js';
import { InvertersController } from './api/inverters.controller.js';
import { InvertersStore } from './store/inverters.store.js';
import { PollWrites } from './poll/write-queue.js';
import { Poller } from './poll/poller.js';
import { PollsStore } from './poll/polls.store.js';
import { Rederivation } from './store/rederive.service.js';
import { SessionAnswersStore } from './store/session-views.store.js';
import { SessionReader } from './remote/session-reader.service.js';
import { SessionRefreshService } from './poll/refresh.service.js';
import { SessionsController } from './api/sessions.controller.js';
import { SessionsService } from './api/sessions.service.js';
import { SessionsStore } from './store/sessions.store.js';
import { StartedSessionsStore } from './start/started-sessions.store.js';
import { StartSessionService } from './start/start-session.service.js';
import { StartsStore } from './start/starts.store.js';
import { StateWatch } from './api/state-watch.service.js';

@Module({
  imports: [AuthModule, RemoteModule, EventsModule],
  controllers: [SessionsController, InvertersController],
  providers: [
    SessionsService,
    StartSessionService,
    StartsStore,
    StartedSessionsStore,
    SessionsStore,
    SessionAnswersStore,
    SessionRefreshService,
    SessionReader,
    StateWatch,
    PollsStore,
    PollWrites,
    Poller,
    InvertersStore,
    Rederivation,
  ],
  exports: [Rederivation],
})
export class OnboardingModule {}
