import { STOP_WITHIN_MS } from './limits.js';

/** The exit code that shells report for an interrupted process. */
const INTERRUPTED = 130;
/** Signals within SAME_SIGNAL_MS come from one Ctrl-C: the terminal sends a signal, and npm forwards the signal that it receives itself. */
const SAME_SIGNAL_MS = 500;

interface ShutdownStep {
  readonly name: string;
  /** How long the step deliberately waits, in addition to the time that the process has to stop. */
  readonly delayMs?: number;
  stop(): Promise<void>;
}

/** Stops the steps once, in reverse order, and ends the process. The first non-zero exit code wins. */
export class Shutdown {
  private readonly steps: ShutdownStep[] = [];
  isRunning = false;
  private exitCode = 0;

  constructor(private readonly say: (line: string) => void) {}

  add(step: ShutdownStep): void {
    this.steps.push(step);
  }

  async run(exitCode: number): Promise<void> {
    this.exitCode ||= exitCode;
    if (this.isRunning) return;
    this.isRunning = true;
    let current = '';
    const delayMs = this.steps.reduce((sum, step) => sum + (step.delayMs ?? 0), 0);
    const deadline = setTimeout(() => {
      this.say(`stopping took too long at: ${current}`);
      process.exit(1);
    }, STOP_WITHIN_MS.process + delayMs);
    for (const step of this.steps.reverse()) {
      current = step.name;
      try {
        await step.stop();
      } catch (error) {
        this.say(`${step.name} did not stop cleanly: ${messageOf(error)}`);
        this.exitCode ||= 1;
      }
    }
    clearTimeout(deadline);
    process.exit(this.exitCode);
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Shuts down at the first signal, or when the IPC channel to a parent process closes. Exits at once at a second signal. */
export function stopOnSignals(shutdown: Shutdown): void {
  let firstAtMs: number | undefined;
  const stop = (): void => {
    firstAtMs ??= performance.now();
    if (shutdown.isRunning && performance.now() - firstAtMs > SAME_SIGNAL_MS) process.exit(INTERRUPTED);
    void shutdown.run(0);
  };
  // A terminal that is closed sends SIGHUP.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  process.once('disconnect', () => void shutdown.run(0));
  // Ignores the error when a reader of our output disconnects, so that the shutdown stays orderly.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
}
