import { Module } from '@nestjs/common';
import { HealthController } from '../health/health.controller.js';
import { Health } from '../health/health.service.js';
import { MetricsController } from '../metrics/metrics.controller.js';
import { ProblemsController } from '../problem/problems.controller.js';

/** What is served outside /api/v1 and needs no key. */
@Module({
  controllers: [HealthController, MetricsController, ProblemsController],
  providers: [Health],
})
export class HttpModule {}
