import { setTimeout as sleep } from 'node:timers/promises';
import { format } from 'node:util';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { ENCRYPTED_COLUMNS } from './privacy/encrypted-columns.js';
import { checkKeys } from './platform/crypto/check-keys.js';
import { Cipher } from './platform/crypto/cipher.js';
import { Database } from './platform/database/database.js';
import { isACopy, requireHome } from './platform/database/deployment.store.js';
import { Listener } from './platform/database/connection/listen.js';
import { migrate } from './platform/database/migrations/migrate.js';
import { checkPoolers } from './platform/database/connection/poolers.js';
import { readFiles } from './platform/env/environment-files.js';
import { ENVIRONMENT_NAMES } from './platform/env/environment-names.js';
import type { EnvironmentSource } from './platform/env/environment-names.js';
import { ConfigurationError } from './platform/env/configuration-error.js';
import { readEnvironment, warningsOf } from './platform/env/read-environment.js';
import { Readiness } from './platform/health/readiness.service.js';
import { createApp } from './platform/http/create-app.js';
import { listen } from './platform/http/open-port.js';
import { startLocalServices } from './local/local-services.js';
import { writeRunningService } from './local/running-service.js';
import { addressesOf, tourOf } from './local/tour.js';
import { pathPrefixOf } from './platform/http/origins.rules.js';
import { refusalLine, ServiceLogger } from './platform/logging/service-logger.js';
import { visibleLines } from './platform/redaction/visible-text.js';
import { STOP_WITHIN_MS } from './platform/shutdown/limits.js';
import { messageOf, Shutdown, stopOnSignals } from './platform/shutdown/shutdown.js';
import { startTracing } from './platform/tracing/tracing.js';

/** Runs the service until the process ends. A parent process with an IPC channel receives `{ type: 'ready', url }` after the start. */
export async function startService(source: EnvironmentSource, dataFolder: string): Promise<void> {
  let logger: ServiceLogger | undefined;
  // In production, writes the line as a log line.
  const tell = (line: string): void => {
    if (source.NODE_ENV !== 'production') console.error(visibleLines(line));
    else if (logger !== undefined) logger.fatal(line, 'Process');
    else console.log(refusalLine(line, source.ROLE));
  };
  const print = (line: string): void => {
    if (source.LOG_FORMAT !== 'json') console.log(line);
  };
  const shutdown = new Shutdown(tell);
  stopOnSignals(shutdown);
  try {
    const files = readFiles(source, ENVIRONMENT_NAMES);
    const { variables } = files;
    const isProduction = variables.NODE_ENV === 'production';
    const local = await startLocalServices(files, dataFolder, { sandbox: true }, print);
    shutdown.add({ name: 'the local services', stop: local.stop });
    void local.failed.then((name) => {
      console.error(`${name} ended; its log is in ${dataFolder}`);
      return shutdown.run(1);
    });
    const environment = readEnvironment(local.source);
    const log = (logger = new ServiceLogger(environment));
    Logger.overrideLogger(log);
    stopOnErrors(log, shutdown);
    logOthers(log, isProduction);
    for (const warning of warningsOf(variables)) log.warn(warning, 'Start');

    const stopTracing = await startTracing(environment);
    if (stopTracing !== undefined) shutdown.add({ name: 'the export of traces', stop: stopTracing });
    await checkPoolers(environment);
    const applied = await migrate(environment.DATABASE_DIRECT_URL);
    const say = (line: string): void => log.log(line, 'Start');
    if (applied.length > 0) say(`applied the migrations ${applied.join(', ')}`);
    const app = await createApp(AppModule.forRoot(environment), environment, log);
    let delayMs = environment.SHUTDOWN_DELAY_MS;
    await requireHome(app.get(Database));
    app.get(Listener).watchHome(() => {
      if (!shutdown.isRunning) tell(isACopy().message);
      // A copy is served no longer than it takes to stop.
      delayMs = 0;
      void shutdown.run(1);
    });
    await checkKeys(app.get(Database), app.get(Cipher), ENCRYPTED_COLUMNS);
    shutdown.add({ name: 'the application', delayMs, stop: () => drain(app, delayMs) });
    const url = await listen(app, environment, variables.PORT === undefined && !isProduction, say);
    if (!isProduction) {
      await writeRunningService(dataFolder, {
        url,
        databaseUrl: environment.DATABASE_URL,
        remoteUrl: environment.SCS_BASE_URL,
      });
    }
    say(`listening on ${url} as ${environment.ROLE}`);
    if (!isProduction) {
      const tour = {
        url: url + pathPrefixOf(environment.PUBLIC_URL),
        environment,
        withSandbox: variables.SCS_BASE_URL === undefined,
      };
      // Shows the administrator's key only if it was generated.
      print(variables.ADMIN_API_KEY === undefined ? tourOf(tour) : addressesOf(tour));
    }
    process.send?.({ type: 'ready', url });
  } catch (error) {
    if (shutdown.isRunning) return;
    const reason = error instanceof ConfigurationError ? '' : 'The service cannot start: ';
    tell(reason + messageOf(error));
    await shutdown.run(1);
  }
}

/** Reports the service as unready, so that load balancers stop sending requests, continues to serve for `delayMs`, and then stops. */
async function drain(app: NestFastifyApplication, delayMs: number): Promise<void> {
  app.get(Readiness).drain();
  await sleep(delayMs);
  const server = app.getHttpServer();
  const cut = setTimeout(() => server.closeAllConnections(), STOP_WITHIN_MS.requests);
  await app.close();
  clearTimeout(cut);
}

/** Logs the warnings of Node.js. In production, also logs the errors and warnings that libraries print to the console. */
function logOthers(logger: ServiceLogger, isProduction: boolean): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => logger.warn(`${name}: ${message}`, 'Process'));
  if (!isProduction) return;
  const warn = (...parts: unknown[]): void => logger.warn(format(...parts), 'Process');
  Object.assign(console, { error: warn, warn, trace: warn });
}

/** Stops in order at the first uncaught error, so that requests in flight complete. An interrupted registration would need a person. */
function stopOnErrors(logger: ServiceLogger, shutdown: Shutdown): void {
  let isFirst = true;
  // Node also reports unhandled rejections here, unless NODE_OPTIONS changes that.
  process.on('uncaughtException', (error, origin) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    logger.fatal(`${origin}: ${text}`, 'Process');
    // At a second error, exits at once. That is safe: transactions roll back, leases expire, child processes end.
    if (!isFirst) process.exit(1);
    isFirst = false;
    void shutdown.run(1);
  });
}
