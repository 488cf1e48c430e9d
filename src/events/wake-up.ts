/** Hints that something may be new, for any number who wait for one. A hint says nothing but that it is worth looking. */
export class Hints {
  private readonly listeners = new Set<() => void>();
  private given = 0;

  /** How many were given so far. Take it before looking and hand it to `wait`: what is hinted meanwhile is not overheard. */
  get count(): number {
    return this.given;
  }

  give(): void {
    this.given += 1;
    for (const listener of [...this.listeners]) listener();
  }

  /** `listener` is called within every `give`, and must not throw. Answers how to end it. */
  onHint(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Resolves once a hint was given after `since`, or after `atMostMs`, or when `signal` aborts. Never rejects. */
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
