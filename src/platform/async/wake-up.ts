/** A signal that wakes any number of waiters. Each waiter then checks its own condition. */
export class WakeUp {
  private readonly listeners = new Set<() => void>();
  /** The number of signals so far. Read it before checking the condition and pass it to `wait`, so that no signal in between is missed. */
  count = 0;

  signal(): void {
    this.count += 1;
    for (const listener of [...this.listeners]) listener();
  }

  /** Calls `listener` synchronously at every signal; `listener` must not throw. Returns a function that removes the listener. */
  onSignal(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /**
   * Resolves when `count` differs from `since` (default: the current count), after `atMostMs`, or when `stop` aborts. Never rejects. `onTimer`
   * gets the timer of `atMostMs`.
   */
  async wait(
    stop: AbortSignal,
    atMostMs: number,
    since = this.count,
    onTimer?: (timer: NodeJS.Timeout) => void,
  ): Promise<void> {
    if (stop.aborted || this.count !== since) return;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        clearTimeout(timeout);
        forget();
        stop.removeEventListener('abort', settle);
        resolve();
      };
      const timeout = setTimeout(settle, atMostMs);
      onTimer?.(timeout);
      const forget = this.onSignal(settle);
      stop.addEventListener('abort', settle);
    });
  }
}
