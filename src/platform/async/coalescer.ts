/** Runs `work` one run at a time. Calls during a run share one further run, since the current run may already have read its data. */
export class Coalescer {
  private current: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves or rejects with the first run that begins at or after this call. */
  run(): Promise<void> {
    if (this.current === undefined) return this.begin();
    const begin = (): Promise<void> => this.begin();
    return (this.next ??= this.current.then(begin, begin));
  }

  private begin(): Promise<void> {
    this.next = undefined;
    // If a further run is requested, `current` stays set until that run begins, so that no third run starts in parallel.
    return (this.current = this.work().finally(() => {
      if (this.next === undefined) this.current = undefined;
    }));
  }
}
