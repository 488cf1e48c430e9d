import type { NotSent } from '../remote/outcome.rules.js';

/** A token to send with one call. */
export interface Grant {
  readonly kind: 'token';
  readonly token: string;
  /** Grows with every token obtained, across all replicas. */
  readonly generation: number;
  /** When the call received it, by `performance.now()`. */
  readonly grantedAt: number;
  /**
   * The lease of a trial, given to one call at a time after the service refused the previous token. This call tests for all replicas
   * whether calls are accepted again; it must report the result with `accepted`, `refused` or `abandoned`.
   */
  readonly trial?: string;
}

/** Supplies the bearer tokens of calls and receives the results. */
export interface BearerTokens {
  /**
   * Returns a token believed to be valid, synchronously if it is in memory, or why there is none. Waits while another call or replica
   * obtains one.
   */
  current(): Grant | NotSent | Promise<Grant | NotSent>;
  /** Called after a 401 to this grant. Returns another grant for one repetition of the call, or why there is none. */
  renewed(refused: Grant): Promise<Grant | NotSent>;
  /** Called after a 401 to the renewed grant. Returns the outcome of the call. */
  refused(grant: Grant): Promise<NotSent>;
  /** Called after a response other than 401. */
  accepted(grant: Grant): void | Promise<void>;
  /** Called if the call ended without a response, which says nothing about the token. */
  abandoned(grant: Grant): void | Promise<void>;
}
