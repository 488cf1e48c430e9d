import type { NotSent } from '../remote/outcome.rules.js';

/** A token to send with one call. */
export interface Grant {
  readonly kind: 'token';
  readonly token: string;
  /** Increases with every token that any replica obtains. */
  readonly generation: number;
  /** When the call received the token, by `performance.now()`. */
  readonly grantedAt: number;
  /** Set if this call is a trial: it tests for all replicas whether the service accepts calls again, after so many refused trials. */
  readonly trial?: { readonly lease: string; readonly failures: number; readonly mayReplace: boolean };
}

/** Supplies bearer tokens. `userId` is the remote id of the user that a call is about. */
// The interface names a "user access token" (section 5.7) but does not describe it. See docs/remote.md.
export abstract class BearerTokens {
  /** Returns a token that should be valid, or why there is none. Waits while another call or replica obtains a token. */
  abstract current(userId?: string): Promise<Grant | NotSent>;
  /** Returns the token with which to repeat a call after a 401, or why not to repeat it. */
  abstract replace(refused: Grant, userId?: string): Promise<Grant | NotSent>;
  /** Records the last 401 to a call. Returns the outcome of the call, or null if the service refuses only this call. */
  abstract reject(grant: Grant): Promise<NotSent | null>;
  /** Records a response which shows that the service accepted the token. */
  abstract accept(grant: Grant): Promise<void>;
  /** Records that a call ended otherwise, so whether the token is valid remains unknown. */
  abstract release(grant: Grant): Promise<void>;
}
