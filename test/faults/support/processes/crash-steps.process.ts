import { crashAt, type CrashStep } from '../crash-points.js';
import { runService } from './test-service.js';

const url = await runService({
  prepare: (app) => crashAt(app, process.env.CRASH_STEP as CrashStep, Number(process.env.CRASH_COUNT)),
});
process.send?.({ type: 'ready', url });
