import { NestFactory } from '@nestjs/core';
import type { DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Environment } from './platform/env/environment.js';
import { configureHttp } from './platform/http/configure-http.js';
import { createHttpAdapter } from './platform/http/http-adapter.js';
import { WorkerGuard } from './platform/http/worker.guard.js';
import type { ServiceLogger } from './platform/logging/service-logger.js';

/** The application, complete but not listening: for `main` and for tests alike. */
export async function createApp(
  module: DynamicModule,
  logger: ServiceLogger,
): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(module, createHttpAdapter(), {
    bodyParser: false,
    logger,
    // Who starts us stops the local services and says what was wrong; Nest would end the process.
    abortOnError: false,
  });
  configureHttp(app);
  if (app.get(Environment).ROLE === 'worker') app.useGlobalGuards(new WorkerGuard());
  return app;
}
