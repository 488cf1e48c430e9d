import { Global, Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysStore } from './api-keys.store.js';
import { Authentication } from './authentication.service.js';
import { IdempotencyKeys } from './idempotency-keys.store.js';
import { RequestHooks } from './request-hooks.service.js';
import { RouteAccess } from './route-access.guard.js';

@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [ApiKeysController],
  providers: [
    ApiKeysStore,
    Authentication,
    IdempotencyKeys,
    RequestHooks,
    { provide: APP_GUARD, useClass: RouteAccess },
  ],
  exports: [ApiKeysStore, Authentication, IdempotencyKeys],
})
export class AccessModule {}
