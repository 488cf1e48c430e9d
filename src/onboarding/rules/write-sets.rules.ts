import type { Reading } from './reconcile.rules.js';

/** Maximum bytes of JSON sent to the database at once: 4 MB block the event loop for some 40 ms. A larger response is sent alone. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Size of an inverter's event with the largest metadata allowed. */
const BYTES_PER_INVERTER = 5_000;

/** Estimates the bytes to write for a reading. `known` is the number of inverters that the session had before. */
export function bytesToWrite(reading: Reading, known = 0): number {
  if (reading.kind !== 'observed') return known * BYTES_PER_INVERTER;
  const { response, observation } = reading;
  return (response.body?.length ?? 0) + ((observation.inverters?.length ?? 0) + known) * BYTES_PER_INVERTER;
}

/** Returns how many of the first items to write together: as many as fit into MOST_BYTES, but at least one. */
export function countOfSet<T>(items: readonly T[], bytesOf: (item: T) => number): number {
  let bytes = 0;
  const beyond = items.findIndex((item) => (bytes += bytesOf(item)) > MOST_BYTES);
  return beyond === -1 ? items.length : Math.max(beyond, 1);
}
