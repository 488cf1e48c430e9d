/** Retries may add a tenth to the calls of a class, so that a failing service does not receive three times the load. */
const RETRIES_PER_CALL = 0.1;
/** Upper bound of the budget, accumulated while calls succeed; enough for the reads that one lost connection or restart fails. */
const MOST_SAVED = 10;

export class RetryBudget {
  private saved = MOST_SAVED;

  deposit(): void {
    this.saved = Math.min(MOST_SAVED, this.saved + RETRIES_PER_CALL);
  }

  /** Takes one retry from the budget; returns false if it is spent. */
  withdraw(): boolean {
    if (this.saved < 1) return false;
    this.saved -= 1;
    return true;
  }
}
