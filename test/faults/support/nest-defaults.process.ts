import { runService } from './test-service.js';

// The service as Nest would stop it: its hooks run on a signal, and nothing sets a limit to what they wait for.
const url = await runService({ prepare: (app) => void app.enableShutdownHooks() });
process.send?.({ type: 'ready', url });
