import { HandledEventsModule } from './handled-events.js';
import { endWithParent, runService } from './test-service.js';

/** A replica that has loaded its code and does nothing until it gets SIGUSR2: then it serves as fast as one can. */
const told = new Promise<void>((resolve) => process.once('SIGUSR2', () => resolve()));
endWithParent();
process.send?.({ type: 'ready', url: '' });
await told;
console.log(`serving ${await runService({ modules: [HandledEventsModule] })}`);
