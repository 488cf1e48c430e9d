import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AccessModule } from './access/access.module.js';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { AuditLogModule } from './audit-log/audit-log.module.js';
import { AuthModule } from './auth/auth.module.js';
import { BrandsModule } from './brands/brands.module.js';
import { BrokerModule } from './broker/broker.module.js';
import { BulkModule } from './bulk/bulk.module.js';
import { CampaignsModule } from './campaigns/campaigns.module.js';
import { ConsoleAccessModule } from './console-access/console-access.module.js';
import { CustomersModule } from './customers/customers.module.js';
import { DecisionsModule } from './decisions/decisions.module.js';
import { DriftModule } from './drift/drift.module.js';
import { EventsModule } from './events/events.module.js';
import { FeedModule } from './feed/feed.module.js';
import { HandlersModule } from './handlers/handlers.module.js';
import { InvitationsModule } from './invitations/invitations.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { InvertersModule } from './inverters/inverters.module.js';
import { OnboardingModule } from './onboarding/onboarding.module.js';
import type { Environment } from './platform/env/environment.js';
import { PassThroughModule } from './pass-through/pass-through.module.js';
import { PlatformModule } from './platform/platform.module.js';
import { PrivacyModule } from './privacy/privacy.module.js';
import { RemoteModule } from './remote/remote.module.js';
import { StalledModule } from './stalled/stalled.module.js';
import { StallsModule } from './stalls/stalls.module.js';
import { StartsModule } from './starts/starts.module.js';
import { StatusModule } from './status/status.module.js';
import { TimelineModule } from './timeline/timeline.module.js';
import { UsersModule } from './users/users.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** What onboards customers. Knows no feature, and starts without them. */
const CORE = [
  AccessModule,
  RemoteModule,
  AuthModule,
  EventsModule,
  StallsModule,
  UsersModule,
  OnboardingModule,
];

/** Each may be left out: then its operations are absent, and everything else works. */
export const FEATURES = [
  IdempotencyModule,
  DriftModule,
  StartsModule,
  BrandsModule,
  InvertersModule,
  TimelineModule,
  FeedModule,
  HandlersModule,
  WebhooksModule,
  BrokerModule,
  InvitationsModule,
  CustomersModule,
  CampaignsModule,
  ApiKeysModule,
  AuditLogModule,
  StalledModule,
  DecisionsModule,
  BulkModule,
  ConsoleAccessModule,
  StatusModule,
  PrivacyModule,
  PassThroughModule,
];

/** Imports the modules of the service. .dependency-cruiser.cjs defines which module may import which. */
@Module({})
export class AppModule {
  static forRoot(environment: Environment, features = FEATURES): DynamicModule {
    return {
      module: AppModule,
      imports: [PlatformModule.forRoot(environment), ScheduleModule.forRoot(), ...CORE, ...features],
    };
  }
}
