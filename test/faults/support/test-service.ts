import 'reflect-metadata';
import type { DynamicModule, Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../../../src/app.module.js';
import { createApp } from '../../../src/create-app.js';
import { readEnvironment } from '../../../src/platform/env/read-environment.js';
import { ServiceLogger } from '../../../src/platform/logging/service-logger.js';

export interface ServiceChanges {
  /** Beside the real modules. */
  readonly modules?: readonly (Type | DynamicModule)[];
  /** Puts something in the place of a method, before anything starts. */
  readonly prepare?: (app: NestFastifyApplication) => void;
}

/** This process ends with the test run that started it, however that ends. */
export const endWithParent = (): void => void process.once('disconnect', () => process.exit());

/** The service in this process, from its environment, with what a test changes about it. Answers its URL. */
export async function runService({ modules = [], prepare }: ServiceChanges): Promise<string> {
  endWithParent();
  const environment = readEnvironment(process.env);
  const root = { module: class TestRoot {}, imports: [AppModule.forRoot(environment), ...modules] };
  const app = await createApp(root, environment, new ServiceLogger(environment));
  prepare?.(app);
  await app.listen(environment.PORT, environment.HOST);
  return app.getUrl();
}
