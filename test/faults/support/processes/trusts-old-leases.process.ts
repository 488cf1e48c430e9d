import { PollWrites } from '../../../../src/onboarding/poll/write-queue.js';
import { runService } from './test-service.js';

// The bug: a worker reads the sessions of a batch whatever its lease.
const url = await runService({
  prepare: (app) => {
    app.get(PollWrites).mayRead = () => true;
  },
});
process.send?.({ type: 'ready', url });
