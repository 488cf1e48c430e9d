import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Cipher } from './crypto/cipher.js';
import { Database } from './database/database.js';
import { Environment } from './env/environment.js';
import { DocsController } from './openapi/docs.controller.js';
import { HeldRequests } from './http/held-requests.js';
import { HealthController } from './health/health.controller.js';
import { Health } from './health/health.service.js';
import { Jobs } from './jobs/jobs.js';
import { Metrics } from './metrics/metrics.js';
import { MetricsController } from './metrics/metrics.controller.js';
import { ProblemsController } from './problem/problems.controller.js';

/** Technical foundations for all other modules, without business logic. */
@Global()
@Module({})
export class PlatformModule {
  static forRoot(environment: Environment): DynamicModule {
    return {
      module: PlatformModule,
      controllers: [HealthController, MetricsController, ProblemsController, DocsController],
      providers: [
        { provide: Environment, useValue: environment },
        Database,
        Cipher,
        Jobs,
        Metrics,
        HeldRequests,
        Health,
      ],
      exports: [Environment, Database, Cipher, Jobs, Metrics, HeldRequests],
    };
  }
}
