import type { Reading } from './reconcile.rules.js';
import type { KeptAnswer } from './read-plan.rules.js';

/**
 * Maximum JSON sent to the database at once: 4 MB block the event loop for some 40 ms. One response may exceed it (1,000 inverters,
 * each with an event that contains all metadata), and is then sent alone.
 */
const MOST_BYTES = 4 * 1024 * 1024;
/** Size of an inverter's event with the largest metadata allowed. */
const BYTES_PER_INVERTER = 5_000;

/** Returns roughly how many bytes a response makes us write. `known` is the number of inverters that the session had before. */
export function bytesToWrite(
  { reading, answer }: { readonly reading: Reading; readonly answer: KeptAnswer | null },
  known = 0,
): number {
  const listed = reading.kind === 'observed' ? reading.observation.inverters.length : 0;
  return (answer?.body?.length ?? 0) + (listed + known) * BYTES_PER_INVERTER;
}

/** Returns how many of the first items to write together: at least one, and otherwise no more than fit MOST_BYTES. */
export function countOfSet<T>(items: readonly T[], bytesOf: (item: T) => number): number {
  let bytes = 0;
  const beyond = items.findIndex((item) => (bytes += bytesOf(item)) > MOST_BYTES);
  return beyond === -1 ? items.length : Math.max(beyond, 1);
}
