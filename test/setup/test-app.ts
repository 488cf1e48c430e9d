import { afterAll, beforeAll } from '@jest/globals';
import type { DynamicModule, Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule, FEATURES } from '../../src/app.module.js';
import { Database } from '../../src/platform/database/database.js';
import { createApp } from '../../src/platform/http/create-app.js';
import type { Environment } from '../../src/platform/env/environment.js';
import { readEnvironment } from '../../src/platform/env/read-environment.js';
import { ServiceLogger } from '../../src/platform/logging/service-logger.js';
import { wantedLogLevel } from './quiet-logs.js';
import { startSandbox, type TestSandbox } from './sandbox/sandbox.js';
import { createTestDatabase } from './database/test-database.js';
import { CREDENTIALS, testEnvironment } from './test-environment.js';

export interface TestApp {
  readonly app: NestFastifyApplication;
  /** The database as the application uses it. */
  readonly database: Database;
  readonly url: string;
  readonly adminKey: string;
  readonly environment: Environment;
  /** Undefined if SCS_BASE_URL was given. */
  readonly sandbox: TestSandbox | undefined;
  close(): Promise<void>;
}

export interface TestAppOptions {
  /** Modules imported in addition to AppModule, for instance a module with an @OnEvent handler. */
  readonly modules?: readonly (Type | DynamicModule)[];
  /** Default: all. */
  readonly features?: typeof FEATURES;
  /** Runs before the app starts, for instance `(app) => jest.spyOn(app.get(Remote), 'send')`. */
  readonly prepare?: (app: NestFastifyApplication) => void;
}

/** Starts the real application on a free port. Creates a database if DATABASE_URL is not given, and a sandbox if SCS_BASE_URL is not given. */
export async function startTestApp(
  overrides: Partial<Environment> = {},
  options: TestAppOptions = {},
): Promise<TestApp> {
  const created = overrides.DATABASE_URL === undefined ? await createTestDatabase() : undefined;
  const sandbox = overrides.SCS_BASE_URL === undefined ? await startSandbox() : undefined;
  const environment = readEnvironment({
    ...testEnvironment(),
    ...(created && { DATABASE_URL: created.url }),
    ...(sandbox?.environment ?? CREDENTIALS),
    ...asVariables(overrides),
    ...wantedLogLevel,
  });
  const root = {
    module: class TestRoot {},
    imports: [AppModule.forRoot(environment, options.features), ...(options.modules ?? [])],
  };
  const app = await createApp(root, environment, loggerFor(environment));
  options.prepare?.(app);
  await app.listen(0, environment.HOST);
  return {
    app,
    database: app.get(Database),
    url: await app.getUrl(),
    adminKey: environment.ADMIN_API_KEY,
    environment,
    sandbox,
    close: async () => {
      await app.close();
      await sandbox?.stop();
      await created?.drop();
    },
  };
}

/** Starts an application before the tests of the block, and closes it after them. Its properties can be read once it has started. */
export function useTestApp(overrides: Partial<Environment> = {}, options: TestAppOptions = {}): TestApp {
  const started = {} as TestApp;
  beforeAll(async () => void Object.assign(started, await startTestApp(overrides, options)));
  afterAll(() => started.close());
  return started;
}

const asVariables = (overrides: Partial<Environment>): Record<string, string> =>
  Object.fromEntries(Object.entries(overrides).map(([name, value]) => [name, String(value)]));

function loggerFor(environment: Environment): ServiceLogger {
  const isQuiet = wantedLogLevel.LOG_LEVEL === undefined;
  return new ServiceLogger(environment, isQuiet ? { write: () => {} } : undefined);
}
