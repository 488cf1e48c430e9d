import 'reflect-metadata';
import { AppModule } from '../../../src/app.module.js';
import { createApp } from '../../../src/create-app.js';
import { OpenStreams } from '../../../src/events/stream/open-streams.service.js';
import { readEnvironment } from '../../../src/platform/env/read-environment.js';
import { ServiceLogger } from '../../../src/platform/logging/service-logger.js';
import { endWithParent } from './test-service.js';

// The bug: nothing ends the streams when the process is asked to stop, and what waits for them sets no limit either.
endWithParent();
const environment = readEnvironment(process.env);
const app = await createApp(AppModule.forRoot(environment), environment, new ServiceLogger(environment));
app.get(OpenStreams).onModuleDestroy = () => {};
app.enableShutdownHooks();
await app.listen(0, environment.HOST);
process.send?.({ type: 'ready', url: await app.getUrl() });
