/** Wake-up signal for any number of waiters; waiters must check for themselves. */
export class Hints {
  private readonly listeners = new Set<() => void>();
  private given = 0;

  /** The number of signals so far. Read it before checking and pass it to `wait`, so that no signal in between is missed. */
  get count(): number {
    return this.given;
  }

  give(): void {
    this.given += 1;
    for (const listener of [...this.listeners]) listener();
  }

  /** Calls `listener` synchronously in every `give`; it must not throw. Returns a function that removes it. */
  onHint(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Resolves after a signal later than `since`, after `atMostMs`, or when `signal` aborts. Never rejects. */
  async wait(signal: AbortSignal, atMostMs: number, since: number = this.given): Promise<void> {
    if (signal.aborted || this.given !== since) return;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        clearTimeout(timeout);
        forget();
        signal.removeEventListener('abort', settle);
        resolve();
      };
      const timeout = setTimeout(settle, atMostMs);
      const forget = this.onHint(settle);
      signal.addEventListener('abort', settle);
    });
  }
}
