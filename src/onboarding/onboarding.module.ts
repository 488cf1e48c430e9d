import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { EventsModule } from '../events/events.module.js';
import { RemoteModule } from '../remote/remote.module.js';
import { InvertersController } from './inverters.controller.js';
import { InvertersStore } from './inverters.store.js';
import { PollWrites } from './poll-writes.js';
import { Poller } from './poller.js';
import { PollsStore } from './polls.store.js';
import { Rederivation } from './rederive.service.js';
import { SessionAnswersStore } from './session-answers.store.js';
import { SessionReader } from './session-reader.service.js';
import { SessionRefreshService } from './session-refresh.service.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsService } from './sessions.service.js';
import { SessionsStore } from './sessions.store.js';
import { StartedSessionsStore } from './started-sessions.store.js';
import { StartSessionService } from './start-session.service.js';
import { StartsStore } from './starts.store.js';
import { StateWatch } from './state-watch.service.js';

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
