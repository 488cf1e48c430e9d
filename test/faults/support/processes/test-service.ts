import 'reflect-metadata';
import type { DynamicModule, Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../../../../src/app.module.js';
import { createApp } from '../../../../src/platform/http/create-app.js';
import { readEnvironment } from '../../../../src/platform/env/read-environment.js';
import { ServiceLogger } from '../../../../src/platform/logging/service-logger.js';

interface ServiceChanges {
  readonly modules?: readonly (Type | DynamicModule)[];
  /** Replaces methods of providers before the application starts. */
  readonly prepare?: (app: NestFastifyApplication) => void;
}

/** Ends this process with the test run that started it. */
export const endWithParent = (): void => void process.once('disconnect', () => process.exit());

/** Runs the service in this process, configured by `process.env`. Returns its URL. */
export async function runService({ modules = [], prepare }: ServiceChanges): Promise<string> {
  endWithParent();
  const environment = readEnvironment(process.env);
  const root = { module: class TestRoot {}, imports: [AppModule.forRoot(environment), ...modules] };
  const app = await createApp(root, environment, new ServiceLogger(environment));
  prepare?.(app);
  await app.listen(environment.PORT, environment.HOST);
  return app.getUrl();
}
