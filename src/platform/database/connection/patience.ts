import type pg from 'pg';

/** Whether to wait for each response only for OUTCOME_RESPONSE_WITHIN_MS, instead of RESPONSE_WITHIN_MS. */
export interface Patience {
  readonly isShort: boolean;
}

/**
 * For claims, and for writes of outcomes that only this process knows: if a connection is silent, there must be time to retry on another
 * connection. Retry the write of an outcome with `repeatWhileUnavailable`.
 */
export const OUTCOME: Patience = { isShort: true };

/** Shorter than every lease in the default configuration. Claims and writes of outcomes take milliseconds. */
export const OUTCOME_RESPONSE_WITHIN_MS = 4_000;

/** A query with its own response timeout, an option that the types of pg lack. */
interface LimitedQuery extends pg.QueryConfig {
  readonly query_timeout?: number;
}

export const limited = (query: pg.QueryConfig, withinMs: number | undefined): LimitedQuery =>
  withinMs === undefined ? query : { ...query, query_timeout: withinMs };
