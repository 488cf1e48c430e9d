import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { RemoteModule } from '../remote/remote.module.js';
import { StallKinds } from '../stalls/stall-kinds.js';
import { StallsModule } from '../stalls/stalls.module.js';
import { REGISTRATION_STALLS } from './registration/registration-stalls.store.js';
import { RegistrationSender } from './registration/send-registrations.service.js';
import { RegistrationsController } from './registration/registrations.controller.js';
import { RegistrationsService } from './registration/registrations.service.js';
import { RegistrationsStore } from './registration/registrations.store.js';
import { UsersController } from './user/users.controller.js';
import { UsersStore } from './user/users.store.js';

@Module({
  imports: [AuthModule, RemoteModule, StallsModule],
  controllers: [UsersController, RegistrationsController],
  providers: [RegistrationSender, RegistrationsService, RegistrationsStore, UsersStore],
  exports: [RegistrationSender, RegistrationsStore],
})
export class UsersModule {
  constructor(kinds: StallKinds) {
    kinds.declare(REGISTRATION_STALLS);
  }
}
