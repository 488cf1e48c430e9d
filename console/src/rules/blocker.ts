import type { Status } from '../api/client.js';
import { formatSeconds } from '../format/duration.js';

/** Shorter transactions and waits are usual. */
const OLD_SECONDS = 60;

/** Says who or what blocks the database, the worst first; empty if nothing does. */
export function blockersOf({ replicas, tableLocks, oldestTransaction }: Status): string[] {
  const alive = replicas.filter(({ isAlive }) => isAlive);
  return [
    ...alive
      .filter(({ hasNoSpace }) => hasNoSpace)
      .map(({ name }) => `${name}: the database has no space left`),
    ...tableLocks,
    ...alive
      .filter(({ waitingForConnectionsSeconds: seconds }) => seconds > 0)
      .map(
        ({ name, waitingForConnectionsSeconds, longestStatement }) =>
          `${name} has waited ${formatSeconds(waitingForConnectionsSeconds)} for a connection; the longest use of one: ${longestStatement ?? 'unknown'}`,
      ),
    ...(oldestTransaction !== null && oldestTransaction.seconds > OLD_SECONDS
      ? [
          `${oldestTransaction.process}: a transaction has been open for ${formatSeconds(oldestTransaction.seconds)}`,
        ]
      : []),
  ];
}
