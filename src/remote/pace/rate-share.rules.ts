/*
 * How all replicas divide SCS_MAX_REQUESTS_PER_SECOND, the ceiling. Each replica publishes which part of the ceiling it wants and which it
 * takes, and reads those of the others. A share falls as soon as it is published. It rises only once the others can know it and have left
 * room, so the sum stays within the ceiling, in whatever order replicas join, leave and publish. Parts instead of requests per second:
 * during a rollout of another ceiling, replicas differ in it.
 *
 * Rejected: an equal share for each. Then idle `api` replicas reserve what only workers need: with as many `api` replicas as workers, half
 * of the budget is not used.
 */

/** The part of the ceiling that a replica wants, and the one that it takes, from 0 to 1. */
export interface PublishedShare {
  readonly demand: number;
  readonly share: number;
}

/** The least demand, as a part of an equal share: an idle replica must be able to begin. */
const LEAST_DEMAND = 0.1;
/** The demand, as a multiple of the requests in the last seconds: a replica whose requests increase seldom waits. */
const DEMAND_OF_USED = 1.25;

/** Returns the demand of a replica that has used a part of the ceiling. `isPaced`: its calls wait for its share. */
export const planDemand = (replicas: number, used: number, isPaced: boolean): number =>
  isPaced ? 1 : Math.min(1, Math.max(LEAST_DEMAND / replicas, DEMAND_OF_USED * used));

/** Returns the share of a replica that wants `mine`, by max-min fairness. A part of the ceiling that nobody wants is divided equally. */
export function planShare(mine: number, others: readonly PublishedShare[]): number {
  const demands = [mine, ...others.map(({ demand }) => demand)].sort((a, b) => a - b);
  let left = 1;
  for (const [index, demand] of demands.entries()) {
    const equal = left / (demands.length - index);
    if (demand >= equal) return Math.min(mine, equal);
    left -= demand;
  }
  return mine + left / demands.length;
}

/** Returns what a replica may use of its published share: at most its previously published share, and what the others leave. */
export function usableShare(before: number, published: number, others: readonly PublishedShare[]): number {
  const left = others.reduce((rest, { share }) => rest - share, 1);
  return Math.max(0, Math.min(before, published, left));
}
