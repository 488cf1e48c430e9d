import { runService } from './test-service.js';

// Runs the service with Nest's default shutdown: the hooks have no time limit.
const url = await runService({ prepare: (app) => void app.enableShutdownHooks() });
process.send?.({ type: 'ready', url });
