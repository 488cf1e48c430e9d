import type pg from 'pg';

/**
 * Waits for each response only for OUTCOME_RESPONSE_WITHIN_MS, instead of RESPONSE_WITHIN_MS. For claims, and for writes of outcomes that
 * only this process knows: if a connection is silent, there must be time to retry on another connection. Retry the write of an outcome with
 * `repeatWhileUnavailable`.
 */
export const OUTCOME = 'outcome';

/** Shorter than every lease in the default configuration. Claims and writes of outcomes take milliseconds. */
export const OUTCOME_RESPONSE_WITHIN_MS = 4_000;

/** Returns the query with its own response timeout, an option that the types of pg lack. */
export const limited = (query: pg.QueryConfig, withinMs: number | undefined): pg.QueryConfig =>
  withinMs === undefined ? query : Object.assign({}, query, { query_timeout: withinMs });
