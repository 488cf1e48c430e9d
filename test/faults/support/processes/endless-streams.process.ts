import { OpenStreams } from '../../../../src/feed/open-streams.service.js';
import { runService } from './test-service.js';

// The bug: nothing ends open streams at shutdown, and the shutdown waits for them without a time limit.
const url = await runService({
  prepare: (app) => {
    app.get(OpenStreams).onModuleDestroy = () => {};
    app.enableShutdownHooks();
  },
});
process.send?.({ type: 'ready', url });
