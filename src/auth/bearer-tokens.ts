import type { NotSent } from '../remote/outcome.rules.js';

/** A token to send with one call. */
export interface Grant {
  readonly kind: 'token';
  readonly token: string;
  /** Grows with every token obtained, over all replicas. */
  readonly generation: number;
  /** When it was given to this call, by `performance.now()`. */
  readonly grantedAt: number;
  /**
   * Given to one call at a time, after the service refused the token before it: whoever holds it finds out for everybody
   * whether calls are accepted again, and must say so with `accepted`, `refused` or `abandoned`.
   */
  readonly trial?: string;
}

/** Where the bearer token of a call comes from, and who is told how the call went. */
export interface BearerTokens {
  /**
   * A token that is valid as far as is known, at once when it is at hand, or why there is none. Waits while another call or replica
   * is obtaining it.
   */
  current(): Grant | NotSent | Promise<Grant | NotSent>;
  /** The service answered 401 to this grant. Answers another one to repeat the call with, once, or why there is none. */
  renewed(refused: Grant): Promise<Grant | NotSent>;
  /** The service answered 401 to the renewed grant too. Answers what the call becomes. */
  refused(grant: Grant): Promise<NotSent>;
  /** The service answered something else than 401. */
  accepted(grant: Grant): void | Promise<void>;
  /** The call ended without an answer, so that it says nothing of the token. */
  abandoned(grant: Grant): void | Promise<void>;
}
