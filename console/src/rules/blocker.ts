import type { Status } from '../api/client.js';
import { formatSeconds } from '../format/duration.js';

/** Transactions and waits that are shorter than this are normal. */
const OLD_SECONDS = 60;

/** Returns a sentence for each fact that blocks the database, the worst first. Returns an empty list if nothing does. */
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
