import { HandledEventsModule } from './handled-events.js';
import { runService } from './test-service.js';

const url = await runService({ modules: [HandledEventsModule] });
process.send?.({ type: 'ready', url });
