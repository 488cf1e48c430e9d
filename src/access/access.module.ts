import { Global, Module } from '@nestjs/common';
import { ActiveCallers } from './active-callers.service.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysStore } from './api-keys.store.js';
import { AuditLogController } from './audit-log.controller.js';
import { Authentication } from './authentication.service.js';
import { ConsoleFiles } from './console/console-files.service.js';
import { ConsolePageController } from './console/console-page.controller.js';
import { ConsoleSessionController } from './console/console-session.controller.js';
import { ConsoleSessions } from './console/console-sessions.service.js';
import { ConsoleSignIns } from './console/console-sign-in.service.js';
import { IdentityProvider } from './console/identity-provider.client.js';
import { OidcSignInController } from './console/oidc-sign-in.controller.js';
import { SignInFlows } from './console/sign-in-flows.service.js';
import { IdempotencyKeys } from './idempotency-keys.store.js';
import { RefusedRequests } from './refused-requests.service.js';
import { RequestHooks } from './request-hooks.service.js';

@Global()
@Module({
  controllers: [
    ApiKeysController,
    AuditLogController,
    ConsoleSessionController,
    OidcSignInController,
    ConsolePageController,
  ],
  providers: [
    ActiveCallers,
    ApiKeysStore,
    Authentication,
    ConsoleFiles,
    ConsoleSessions,
    ConsoleSignIns,
    IdempotencyKeys,
    IdentityProvider,
    RefusedRequests,
    RequestHooks,
    SignInFlows,
  ],
  exports: [ActiveCallers, ApiKeysStore, Authentication, IdempotencyKeys],
})
export class AccessModule {}
