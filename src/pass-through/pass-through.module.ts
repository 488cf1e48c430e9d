import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { PassThroughController } from './pass-through.controller.js';
import { PassThroughStore } from './pass-through.store.js';
import { PassThrough } from './pass-through.service.js';

/** Passes calls of the tenant's apps on to the remote service, with our credentials. */
@Module({
  imports: [AuthModule],
  controllers: [PassThroughController],
  providers: [PassThroughStore, PassThrough],
})
export class PassThroughModule {}
