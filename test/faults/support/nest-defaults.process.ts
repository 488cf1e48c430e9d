import 'reflect-metadata';
import { AppModule } from '../../../src/app.module.js';
import { createApp } from '../../../src/create-app.js';
import { readEnvironment } from '../../../src/platform/env/read-environment.js';
import { ServiceLogger } from '../../../src/platform/logging/service-logger.js';

// The service as Nest would stop it: its hooks run on a signal, and nothing sets a limit to what they wait for.
const environment = readEnvironment(process.env);
const app = await createApp(AppModule.forRoot(environment), environment, new ServiceLogger(environment));
app.enableShutdownHooks();
await app.listen(0, environment.HOST);
process.send?.({ type: 'ready', url: await app.getUrl() });
