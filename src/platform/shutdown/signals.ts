import type { Shutdown } from './shutdown.js';

/** What shells report for a process that an interrupt ended. */
const INTERRUPTED = 130;

/** The first signal stops in order, the second at once; so does the end of a parent that had started us with a channel. */
export function stopOnSignals(shutdown: Shutdown): void {
  const stop = (): void => {
    if (shutdown.isRunning) process.exit(INTERRUPTED);
    void shutdown.run(0);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  process.once('disconnect', () => void shutdown.run(0));
  // A reader of our output that went away is no reason to end, and must not keep us from stopping in order.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
}
