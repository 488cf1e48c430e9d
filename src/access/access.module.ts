import { Global, Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { ApiKeyGuard } from './api-key.guard.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysStore } from './api-keys.store.js';
import { AuditLog } from './audit-log.store.js';
import { Authentication } from './authentication.service.js';
import { RequestAdmission } from './request-admission.service.js';
import { RouteAccess } from './route-access.js';

@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [ApiKeysController],
  providers: [
    ApiKeysStore,
    AuditLog,
    Authentication,
    RequestAdmission,
    RouteAccess,
    { provide: APP_GUARD, useClass: ApiKeyGuard },
  ],
  exports: [AuditLog, Authentication],
})
export class AccessModule {}
