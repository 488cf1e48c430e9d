/** Retries may add a tenth to the calls of a class, so that a service in trouble does not get three times the load. */
const RETRIES_PER_CALL = 0.1;
/** Saved up while all is well; enough for the reads that one lost connection or restart takes with it. */
const MOST_SAVED = 10;

export class RetryBudget {
  private saved = MOST_SAVED;

  deposit(): void {
    this.saved = Math.min(MOST_SAVED, this.saved + RETRIES_PER_CALL);
  }

  /** False when the budget is spent. */
  withdraw(): boolean {
    if (this.saved < 1) return false;
    this.saved -= 1;
    return true;
  }
}
