import { NestFactory } from '@nestjs/core';
import type { DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Environment } from './platform/env/environment.js';
import { configureHttp } from './platform/http/configure-http.js';
import { createHttpAdapter } from './platform/http/http-adapter.js';
import { refuseApi } from './platform/http/refuse-api.js';
import type { ServiceLogger } from './platform/logging/service-logger.js';

/** Creates the complete application, not listening yet, for `main` and for tests. */
export async function createApp(
  module: DynamicModule,
  environment: Environment,
  logger: ServiceLogger,
): Promise<NestFastifyApplication> {
  const { ROLE, TRUSTED_PROXIES } = environment;
  const app = await NestFactory.create<NestFastifyApplication>(module, createHttpAdapter(TRUSTED_PROXIES), {
    bodyParser: false,
    logger,
    // The caller stops the local services and reports the fault; Nest would end the process.
    abortOnError: false,
  });
  configureHttp(app);
  if (ROLE === 'worker') refuseApi(app);
  return app;
}
