import type pg from 'pg';

/**
 * The patience of claims, and of writes of outcomes that only this process knows. Each response must arrive within
 * OUTCOME_RESPONSE_WITHIN_MS, so that after a silent connection there is time to retry on another one. Retry the write of an outcome with
 * `Database.outcomes`.
 */
export const OUTCOME = 'outcome';

/** The response timeout with OUTCOME: shorter than every lease in the default configuration. These statements take milliseconds. */
export const OUTCOME_RESPONSE_WITHIN_MS = 4_000;

/** How long to repeat the write of an outcome that fails. Most outages of a database are shorter, and a permanent error ends with it. */
export const OUTCOME_PATIENCE_MS = 30_000;

/** Returns the query with its own response timeout, an option that the types of pg lack. */
export const limited = (query: pg.QueryConfig, withinMs: number | undefined): pg.QueryConfig =>
  withinMs === undefined ? query : Object.assign({}, query, { query_timeout: withinMs });
