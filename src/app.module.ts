import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AccessModule } from './access/access.module.js';
import { AuthModule } from './auth/auth.module.js';
import { CampaignsModule } from './campaigns/campaigns.module.js';
import { ErasureModule } from './erasure/erasure.module.js';
import { EventsModule } from './events/events.module.js';
import { WebhooksModule } from './events/webhooks/webhooks.module.js';
import { OnboardingModule } from './onboarding/onboarding.module.js';
import { InvitationsModule } from './invitations/invitations.module.js';
import { Environment } from './platform/env/environment.js';
import { PlatformModule } from './platform/platform.module.js';
import { RemoteModule } from './remote/remote.module.js';
import { RetentionModule } from './retention/retention.module.js';
import { StatusModule } from './observability/status/status.module.js';
import { UsersModule } from './users/users.module.js';

/** Imports every module of the service. .dependency-cruiser.cjs defines which module may import which. */
@Module({})
export class AppModule {
  static forRoot(environment: Environment): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(environment),
        ScheduleModule.forRoot(),
        AccessModule,
        RemoteModule,
        AuthModule,
        EventsModule,
        WebhooksModule,
        UsersModule,
        OnboardingModule,
        InvitationsModule,
        CampaignsModule,
        ErasureModule,
        RetentionModule,
        StatusModule,
      ],
    };
  }
}
