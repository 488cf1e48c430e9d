import { Database } from '../../../src/platform/database/database.js';
import { HandledEventsModule } from './handled-events.js';
import { runService } from './test-service.js';

/** The service with one bug: nobody listens to a connection that is lost while it is checked out. */
const url = await runService({
  modules: [HandledEventsModule],
  prepare: (app) => void app.get(Database).pool.removeAllListeners('connect'),
});
process.send?.({ type: 'ready', url });
