import { Database } from '../../../../src/platform/database/database.js';
import { HandledEventsModule } from './handled-events.js';
import { runService } from './test-service.js';

// The bug: no listener handles errors of a checked-out connection.
const url = await runService({
  modules: [HandledEventsModule],
  prepare: (app) => void app.get(Database).pool.removeAllListeners('connect'),
});
process.send?.({ type: 'ready', url });
