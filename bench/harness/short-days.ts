/** How long a day of a retention period lasts in the benchmark of history. */
export const DAY_SECONDS = 20;
/** A twentieth of a day; the service waits an hour. */
export const PRUNE_EVERY_MS = 1_000;
