import { setTimeout as sleep } from 'node:timers/promises';
import { AppModule } from '../src/app.module.js';
import { Database } from '../src/platform/database/database.js';
import type { Environment } from '../src/platform/env/environment.js';
import { createApp } from '../src/platform/http/create-app.js';
import { readEnvironment } from '../src/platform/env/read-environment.js';
import { ServiceLogger } from '../src/observability/logging/service-logger.js';
import { Retention } from '../src/retention/retention.service.js';
import { takePart } from './harness/contender.js';
import { DAY_SECONDS, PRUNE_EVERY_MS } from './harness/short-days.js';
import { serviceVariables } from './harness/service-variables.js';

const inShortDays = (days: number): number => (days * DAY_SECONDS) / 86_400;

// Runs the real service, and deletes its history as if a day were short.
takePart(async (request) => {
  const environment = readEnvironment(serviceVariables(request));
  const app = await createApp(AppModule.forRoot(environment), environment, new ServiceLogger(environment));
  await app.listen(0, '127.0.0.1');
  const retention = new Retention(app.get(Database), {
    ...environment,
    RETENTION_OBSERVATIONS_DAYS: inShortDays(environment.RETENTION_OBSERVATIONS_DAYS),
    RETENTION_DELIVERIES_DAYS: inShortDays(environment.RETENTION_DELIVERIES_DAYS),
    RETENTION_EVENTS_DAYS: inShortDays(environment.RETENTION_EVENTS_DAYS),
    RETENTION_SESSIONS_DAYS: inShortDays(environment.RETENTION_SESSIONS_DAYS),
  } satisfies Environment);
  void (async () => {
    for (;;) {
      await sleep(PRUNE_EVERY_MS);
      await retention.prune();
    }
  })();
  return { url: await app.getUrl() };
});
