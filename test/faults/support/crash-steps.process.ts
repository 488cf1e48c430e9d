import { crashAt, type CrashStep } from './crash-points.js';
import { runService } from './test-service.js';

/** The service, which kills itself at CRASH_STEP. */
const url = await runService({
  prepare: (app) => crashAt(app, process.env.CRASH_STEP as CrashStep, Number(process.env.CRASH_COUNT)),
});
process.send?.({ type: 'ready', url });
