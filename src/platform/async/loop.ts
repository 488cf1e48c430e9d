import { WakeUp } from './wake-up.js';
import { within } from './within.js';

interface LoopOptions {
  /** Does one step of the task; returns the pause after it in milliseconds. A long step must end early when `stop` aborts. */
  readonly step: (stop: AbortSignal) => Promise<number>;
  /** Returns the pause after a failed step in milliseconds. `failures` counts consecutive failed steps. Not called after `stop`. */
  readonly onError: (error: unknown, failures: number) => number;
  /** Its signals end the pause. A signal during a successful step skips the next pause; a signal during a failed step is ignored. */
  readonly wakeUp?: WakeUp;
  /** Gets the timer of each pause when the pause begins. */
  readonly onPause?: (timer: NodeJS.Timeout) => void;
}

/** Repeats `step`, with a pause after each call, until it is stopped. */
export class Loop {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: LoopOptions) {}

  start(): void {
    this.running = this.run(this.stopping.signal);
  }

  /** Ends the pause and begins no further step. Resolves when the current step has ended, at the latest after `withinMs`. */
  async stop(withinMs?: number): Promise<void> {
    this.stopping.abort();
    await (withinMs === undefined ? this.running : within(withinMs, this.running));
  }

  private async run(stop: AbortSignal): Promise<void> {
    const { step, onError, wakeUp = new WakeUp(), onPause } = this.options;
    let failures = 0;
    while (!stop.aborted) {
      const seen = wakeUp.count;
      try {
        const pauseMs = await step(stop);
        failures = 0;
        if (pauseMs > 0) await wakeUp.wait(stop, pauseMs, seen, onPause);
      } catch (error) {
        if (stop.aborted) return;
        await wakeUp.wait(stop, onError(error, ++failures), undefined, onPause);
      }
    }
  }
}
