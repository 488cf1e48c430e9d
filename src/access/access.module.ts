import { Global, Module } from '@nestjs/common';
import { ActiveCallers } from './active-callers.service.js';
import { ApiKeysStore } from './api-keys.store.js';
import { Authentication } from './authentication.service.js';
import { Operations } from './operations.js';
import { OtherCredentials } from './other-credentials.js';
import { RequestHooks } from './request-hooks.service.js';

/** What the other rooms use. */
const SHARED = [ActiveCallers, ApiKeysStore, Authentication, Operations, OtherCredentials];

@Global()
@Module({
  providers: [...SHARED, RequestHooks],
  exports: SHARED,
})
export class AccessModule {}
