import { HandledEventsModule } from './handled-events.js';
import { endWithParent, runService } from './test-service.js';

// Loads the code, waits for SIGUSR2, and then serves at once.
const signalled = new Promise<void>((resolve) => process.once('SIGUSR2', () => resolve()));
endWithParent();
process.send?.({ type: 'ready', url: '' });
await signalled;
console.log(`serving ${await runService({ modules: [HandledEventsModule] })}`);
