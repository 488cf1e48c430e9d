import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Cipher } from './crypto/cipher.js';
import { Database } from './database/database.js';
import { Listener } from './database/connection/listen.js';
import { DatabaseMetrics } from './database/database-metrics.js';
import { Environment } from './env/environment.js';
import { DocsController } from './openapi/docs.controller.js';
import { HeldRequests } from './http/held-requests.js';
import { HealthController } from './health/health.controller.js';
import { DueWork } from './tasks/due-work.js';
import { Tasks } from './tasks/tasks.service.js';
import { TasksStore } from './tasks/tasks.store.js';
import { Readiness } from './health/readiness.service.js';
import { Metrics } from './metrics/metrics.js';
import { RecentRequests } from './metrics/recent-requests.js';
import { MetricsServer } from './metrics/metrics-server.js';
import { MetricsController } from './metrics/metrics.controller.js';
import { ProblemPages } from './problem/problem-pages.js';
import { ProblemsController } from './problem/problems.controller.js';

const SHARED = [Database, Listener, Tasks, Cipher, Metrics, RecentRequests, HeldRequests, ProblemPages];

@Global()
@Module({})
export class PlatformModule {
  static forRoot(environment: Environment): DynamicModule {
    return {
      module: PlatformModule,
      controllers: [HealthController, MetricsController, ProblemsController, DocsController],
      providers: [
        { provide: Environment, useValue: environment },
        ...SHARED,
        DatabaseMetrics,
        DueWork,
        TasksStore,
        MetricsServer,
        Readiness,
      ],
      exports: [Environment, ...SHARED],
    };
  }
}
