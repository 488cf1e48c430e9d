import { Module } from '@nestjs/common';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { ConsoleFiles } from './console-files.service.js';
import { ConsolePageController } from './console-page.controller.js';
import { ConsoleSessionController } from './console-session.controller.js';
import { ConsoleSessions } from './console-sessions.service.js';
import { ConsoleSignIns } from './console-sign-in.service.js';
import { IdentityProvider } from './identity-provider.client.js';
import { OidcSignInController } from './oidc-sign-in.controller.js';
import { SignInFlows } from './sign-in-flows.service.js';

@Module({
  imports: [IdempotencyModule],
  controllers: [ConsoleSessionController, OidcSignInController, ConsolePageController],
  providers: [ConsoleFiles, ConsoleSessions, ConsoleSignIns, IdentityProvider, SignInFlows],
})
export class ConsoleAccessModule {}
