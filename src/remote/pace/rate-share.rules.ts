/*
 * How all replicas divide SCS_MAX_REQUESTS_PER_SECOND, the ceiling. Each tells the others which part of it it wants and which it takes, and
 * reads what they told. A share falls as soon as it is told. It rises only once the others can know it and have left room, so the sum stays
 * within the ceiling, in whatever order replicas join, leave and tell. Parts instead of requests per second: during a rollout of another
 * ceiling, replicas differ in it.
 *
 * Rejected: an equal share for each. Then `api` replicas hold what only workers need: with as many of one as of the other, half of the budget
 * is not used.
 */

/** The part of the ceiling that a replica wants, and the one that it takes, from 0 to 1. */
export interface ToldShare {
  readonly demand: number;
  readonly share: number;
}

/** The least demand, of an equal share: an idle replica must be able to begin. */
const LEAST_DEMAND = 0.1;
/** Of the requests in the last seconds, so that a replica whose requests grow seldom waits. */
const DEMAND_OF_USED = 1.25;

/** Returns what a replica wants that used a part of the ceiling. `isPaced`: its calls wait for its share. */
export const planDemand = (replicas: number, used: number, isPaced: boolean): number =>
  isPaced ? 1 : Math.min(1, Math.max(LEAST_DEMAND / replicas, DEMAND_OF_USED * used));

/** Returns the share for a replica that wants `mine`: no more than it wants while others want more, and an equal part of what nobody wants. */
export function planShare(mine: number, others: readonly ToldShare[]): number {
  const demands = [mine, ...others.map(({ demand }) => demand)].sort((a, b) => a - b);
  let left = 1;
  for (const [index, demand] of demands.entries()) {
    const equal = left / (demands.length - index);
    if (demand >= equal) return Math.min(mine, equal);
    left -= demand;
  }
  return mine + left / demands.length;
}

/** Returns what a replica may use of the share that it told: at most what it told before, and what the others leave. */
export function usableShare(before: number, told: number, others: readonly ToldShare[]): number {
  const left = others.reduce((rest, { share }) => rest - share, 1);
  return Math.max(0, Math.min(before, told, left));
}
