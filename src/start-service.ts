import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { createApp } from './create-app.js';
import { migrate } from './platform/database/migrate.js';
import {
  ConfigurationError,
  readEnvironment,
  warningsOf,
  type EnvironmentSource,
} from './platform/env/read-environment.js';
import { listen } from './platform/http/listen.js';
import { startLocalServices, type LocalServices } from './platform/local/local-services.js';
import { removeRunningService, writeRunningService } from './platform/local/running-service.js';
import { addressesOf, tourOf } from './platform/local/tour.js';
import { ServiceLogger } from './platform/logging/service-logger.js';
import { visibleLines } from './platform/redaction/visible-text.js';
import { Shutdown } from './platform/shutdown/shutdown.js';
import { stopOnSignals } from './platform/shutdown/signals.js';

/** After this long, requests still running are cut off, so that the later steps have time to stop in order. */
const DRAIN_MS = 3_000;

/**
 * Runs the service, from its environment to the end of the process. A parent that started it with a channel receives `{ type: 'ready', url
 * }`.
 */
export async function startService(variables: EnvironmentSource, dataFolder: string): Promise<void> {
  const shutdown = new Shutdown((line) => console.error(visibleLines(line)), process.exit);
  stopOnSignals(shutdown);
  try {
    const isProduction = variables.NODE_ENV === 'production';
    const local = await startLocal(variables, dataFolder, shutdown);
    const environment = readEnvironment(local.source);
    const logger = new ServiceLogger(environment);
    Logger.overrideLogger(logger);
    stopOnErrors(logger, shutdown);
    for (const warning of warningsOf(variables)) logger.warn(warning, 'Start');

    const applied = await migrate(environment.DATABASE_URL);
    const say = (line: string): void => logger.log(line, 'Start');
    if (applied.length > 0) say(`applied the migrations ${applied.join(', ')}`);

    const app = await createApp(AppModule.forRoot(environment), environment, logger);
    shutdown.add({ name: 'the application', stop: () => drain(app) });
    const url = await listen(app, environment, variables.PORT === undefined && !isProduction, say);
    if (!isProduction) {
      await writeRunningService(dataFolder, {
        url,
        databaseUrl: environment.DATABASE_URL,
        remoteUrl: environment.SCS_BASE_URL,
      });
      shutdown.add({ name: 'running.json', stop: () => removeRunningService(dataFolder) });
    }
    say(`listening on ${url} as ${environment.ROLE}`);
    if (!isProduction) {
      const tour = { url, environment, withSandbox: variables.SCS_BASE_URL === undefined };
      console.log(local.adminKeyIsGenerated ? tourOf(tour) : addressesOf(tour));
    }
    process.send?.({ type: 'ready', url });
  } catch (error) {
    if (shutdown.isRunning) return;
    console.error(visibleLines(describe(error)));
    await shutdown.run(1);
  }
}

async function startLocal(
  variables: EnvironmentSource,
  dataFolder: string,
  shutdown: Shutdown,
): Promise<LocalServices> {
  const local = await startLocalServices(variables, dataFolder, { sandbox: true }, (line) =>
    console.log(line),
  );
  shutdown.add({ name: 'the local services', stop: local.stop });
  void local.failed.then((name) => {
    console.error(`${name} ended; its log stands in ${dataFolder}`);
    return shutdown.run(1);
  });
  return local;
}

async function drain(app: NestFastifyApplication): Promise<void> {
  const server = app.getHttpServer();
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await app.close();
  clearTimeout(cut);
}

/** Stops in order at the first error: other requests are not at fault, and a registration that is cut off needs a person. */
function stopOnErrors(logger: ServiceLogger, shutdown: Shutdown): void {
  let isFirst = true;
  const end = (kind: string) => (error: unknown) => {
    logger.fatal(
      `${kind}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      'Process',
    );
    // After a second error an orderly stop is unreliable. Transactions roll back, leases lapse, and our children notice that we are gone.
    if (!isFirst) process.exit(1);
    isFirst = false;
    void shutdown.run(1);
  };
  process.on('uncaughtException', end('uncaught exception'));
  process.on('unhandledRejection', end('unhandled rejection'));
}

function describe(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  return `The service cannot start: ${error instanceof Error ? error.message : String(error)}`;
}
