import type { Shutdown } from './shutdown.js';

/** What shells report for a process that an interrupt ended. */
const INTERRUPTED = 130;
/** One Ctrl-C comes several times: from the terminal, and from npm, which passes on what it got itself. */
const SAME_SIGNAL_MS = 500;

/** The first signal stops in order, a second one at once; the end of a parent that had started us with a channel is a first one. */
export function stopOnSignals(shutdown: Shutdown): void {
  let firstAtMs: number | undefined;
  const stop = (): void => {
    firstAtMs ??= performance.now();
    if (shutdown.isRunning && performance.now() - firstAtMs > SAME_SIGNAL_MS) process.exit(INTERRUPTED);
    void shutdown.run(0);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  process.once('disconnect', () => void shutdown.run(0));
  // A reader of our output that went away is no reason to end, and must not keep us from stopping in order.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
}
