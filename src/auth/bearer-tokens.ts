import type { NotSent } from '../remote/outcome.rules.js';

/** A token to send with one call. */
export interface Grant {
  readonly kind: 'token';
  readonly token: string;
  /** Increases with every token that any replica obtains. */
  readonly generation: number;
  /** When the call received the token, by `performance.now()`. */
  readonly grantedAt: number;
  /**
   * Only set in a trial: after a refusal, one call tests for all replicas whether the service accepts calls again. This is the lease of the
   * trial. The caller must report the result.
   */
  readonly trial?: string;
}

export const grantOf = (token: string, generation: number): Grant => ({
  kind: 'token',
  token,
  generation,
  grantedAt: performance.now(),
});

/** Supplies bearer tokens for calls. Callers report which tokens the remote service accepted or refused. */
export interface BearerTokens {
  /** Returns a token that should be valid, or the reason why there is no token. Waits while another call or replica obtains a token. */
  current(): Grant | NotSent | Promise<Grant | NotSent>;
  /** Called after a 401 to a call with this grant. Returns the grant with which to repeat the call once, or the reason not to repeat it. */
  renewed(refused: Grant): Promise<Grant | NotSent>;
  /** Called after a 401 to a call with the renewed grant. Returns the outcome of the call, or null if only this call is refused. */
  refused(grant: Grant): Promise<NotSent | null>;
  /** Called after a response that shows that the service accepted the token. */
  accepted(grant: Grant): void | Promise<void>;
  /** Called if the call ended otherwise. Whether the token is valid remains unknown. */
  abandoned(grant: Grant): void | Promise<void>;
}

/** The source of the "user access token", which the interface names (section 5.7) but does not describe. See docs/remote.md. */
export abstract class UserTokenStrategy {
  /** `userId` is the remote id of the user that the call is about. */
  abstract tokensFor(userId: string | undefined): BearerTokens;
}
