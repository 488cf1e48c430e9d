import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { RemoteModule } from '../remote/remote.module.js';
import { RegistrationDecisionsStore } from './registration/decisions.store.js';
import { RegistrationSender } from './registration/sender.service.js';
import { RegistrationsController } from './registration/registrations.controller.js';
import { RegistrationsService } from './registration/registrations.service.js';
import { RegistrationsStore } from './registration/registrations.store.js';
import { RegistrationsSweep } from './registration/sweep.js';
import { UsersController } from './user/users.controller.js';
import { UsersStore } from './user/users.store.js';

@Module({
  imports: [AccessModule, AuthModule, RemoteModule],
  controllers: [UsersController, RegistrationsController],
  providers: [
    RegistrationDecisionsStore,
    RegistrationSender,
    RegistrationsService,
    RegistrationsStore,
    RegistrationsSweep,
    UsersStore,
  ],
  exports: [UsersStore],
})
export class UsersModule {}
