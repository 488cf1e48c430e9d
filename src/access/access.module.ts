import { Global, Module } from '@nestjs/common';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysStore } from './api-keys.store.js';
import { Authentication } from './authentication.service.js';
import { IdempotencyKeys } from './idempotency-keys.store.js';
import { Refusals } from './refusals.service.js';
import { RequestHooks } from './request-hooks.service.js';

@Global()
@Module({
  controllers: [ApiKeysController],
  providers: [ApiKeysStore, Authentication, IdempotencyKeys, Refusals, RequestHooks],
  exports: [ApiKeysStore, Authentication, IdempotencyKeys],
})
export class AccessModule {}
