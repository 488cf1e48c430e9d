import { OpenStreams } from '../../../src/events/stream/open-streams.service.js';
import { runService } from './test-service.js';

// The bug: nothing ends the streams when the process is asked to stop, and what waits for them sets no limit either.
const url = await runService({
  prepare: (app) => {
    app.get(OpenStreams).onModuleDestroy = () => {};
    app.enableShutdownHooks();
  },
});
process.send?.({ type: 'ready', url });
