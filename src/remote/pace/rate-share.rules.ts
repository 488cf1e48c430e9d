/*
 * How all replicas divide SCS_MAX_REQUESTS_PER_SECOND, the ceiling. Each tells the others what it wants and which share it takes, and reads
 * what they told. A share falls as soon as it is told. It rises only once the others can know it and have left room, so the sum stays within
 * the ceiling, in whatever order replicas join, leave and tell.
 *
 * Rejected: an equal share for each. Then `api` replicas hold what only workers need: with as many of one as of the other, half of the budget
 * is not used.
 */

/** The requests per second that a replica wants, and the share of the ceiling that it takes. */
export interface ToldShare {
  readonly demandPerSecond: number;
  readonly sharePerSecond: number;
}

/** The least demand, of an equal share: an idle replica must be able to begin. */
const LEAST_DEMAND = 0.1;
/** Of the requests in the last seconds, so that a replica whose requests grow does not wait. */
const DEMAND_OF_USED = 1.5;

/** Returns what a replica wants. `isPaced`: its calls wait for its share. */
export function planDemand(
  ceiling: number,
  replicas: number,
  usedPerSecond: number,
  isPaced: boolean,
): number {
  return isPaced ? ceiling : Math.max((LEAST_DEMAND * ceiling) / replicas, DEMAND_OF_USED * usedPerSecond);
}

/** Returns the share for a replica that wants `mine`: no more than it wants while others want more, and an equal part of what nobody wants. */
export function planShare(ceiling: number, mine: number, others: readonly ToldShare[]): number {
  const demands = [mine, ...others.map((other) => other.demandPerSecond)].sort((a, b) => a - b);
  let left = ceiling;
  for (const [index, demand] of demands.entries()) {
    const equal = left / (demands.length - index);
    if (demand >= equal) return Math.min(mine, equal);
    left -= demand;
  }
  return mine + left / demands.length;
}

/** Returns what a replica may use of the share that it told: at most what it told before, and what the others leave. */
export function usableShare(
  ceiling: number,
  before: number,
  told: number,
  others: readonly ToldShare[],
): number {
  const left = others.reduce((rest, other) => rest - other.sharePerSecond, ceiling);
  return Math.max(0, Math.min(before, told, left));
}
