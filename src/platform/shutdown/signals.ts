import type { Shutdown } from './shutdown.js';

/** The exit code that shells report for an interrupted process. */
const INTERRUPTED = 130;
/** One Ctrl-C arrives several times: from the terminal, and from npm, which forwards its own. */
const SAME_SIGNAL_MS = 500;

/**
 * Stops in order at the first signal, and at once at a second one. The end of a parent process with a channel to us counts as a first
 * signal.
 */
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
  // If a reader of our output disconnects, continue; the error must not prevent an orderly shutdown.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
}
