import type pg from 'pg';

/** How long to wait for the responses of the database. */
export interface Patience {
  readonly isShort: boolean;
}

/**
 * For claims, and for writes of outcomes that only this process knows: a silent connection must leave time for a try on another connection.
 * Repeat the write of an outcome with `repeatWhileUnavailable`.
 */
export const OUTCOME: Patience = { isShort: true };

/** Shorter than the lease of every claim. Such a statement takes milliseconds. */
export const OUTCOME_RESPONSE_WITHIN_MS = 4_000;

/** A query with an own limit for the wait for its response, which the types of pg lack. */
interface LimitedQuery extends pg.QueryConfig {
  readonly query_timeout?: number;
}

export const limited = (query: pg.QueryConfig, withinMs: number | undefined): LimitedQuery =>
  withinMs === undefined ? query : { ...query, query_timeout: withinMs };
