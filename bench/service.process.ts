import { AppModule } from '../src/app.module.js';
import { createApp } from '../src/platform/http/create-app.js';
import { readEnvironment } from '../src/platform/env/read-environment.js';
import { ServiceLogger } from '../src/platform/logging/service-logger.js';
import { startTracing } from '../src/platform/tracing/tracing.js';
import { takePart } from './harness/contender.js';
import { serviceVariables } from './harness/service-variables.js';

// Runs the real service. It needs no `run`, because a worker finds due sessions by itself.
takePart(async (request) => {
  const environment = readEnvironment(serviceVariables(request));
  await startTracing(environment);
  const app = await createApp(AppModule.forRoot(environment), environment, new ServiceLogger(environment));
  await app.listen(0, '127.0.0.1');
  return { url: await app.getUrl() };
});
