import type { Reading } from './reconcile.rules.js';
import type { KeptAnswer } from './read-plan.rules.js';

/**
 * What goes to the database at once, as JSON: 4 MB stand the loop still for some 40 ms. One answer may be more (1,000 inverters, of
 * which each has an event with all metadata), and then goes alone.
 */
const MOST_BYTES = 4 * 1024 * 1024;
/** An event about it, with metadata of the largest size that is taken. */
const BYTES_PER_INVERTER = 5_000;

/** Returns about how many bytes an answer makes us write; `known` is how many inverters the session had before it. */
export function bytesToWrite(
  { reading, answer }: { readonly reading: Reading; readonly answer: KeptAnswer | null },
  known = 0,
): number {
  const listed = reading.kind === 'observed' ? reading.observation.inverters.length : 0;
  return (answer?.body?.length ?? 0) + (listed + known) * BYTES_PER_INVERTER;
}

/** Returns how many of the first items go together: at least one, and no more than MOST_BYTES. */
export function countOfSet<T>(items: readonly T[], bytesOf: (item: T) => number): number {
  let bytes = 0;
  const beyond = items.findIndex((item) => (bytes += bytesOf(item)) > MOST_BYTES);
  return beyond === -1 ? items.length : Math.max(beyond, 1);
}
