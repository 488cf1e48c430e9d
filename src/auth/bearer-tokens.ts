import { isForeignRefusal, isObjectLike, type OperationClass, type Sent } from '../remote/outcome.rules.js';

export interface TokenCall {
  send(token: string): Promise<Sent>;
  readonly operation: OperationClass;
  /** Whether a 401 is about this call, not about the token: other calls were served since the service last refused this call. */
  readonly isOdd: boolean;
}

// The interface names a "user access token" (section 5.7) but does not describe it. See src/remote/README.md.
export abstract class BearerTokens {
  /**
   * Sends a call with a token. After a 401, sends it once more with another token. This is safe even for a POST, because a refused request
   * had no effect. `userId` is the remote id of the user that the call is about.
   */
  abstract send(call: TokenCall, userId?: string): Promise<Sent>;
}

export const isTokenRefused = (sent: Sent, { isOdd }: TokenCall): boolean =>
  sent.kind === 'response' && sent.response.status === 401 && !isOdd;

/** Returns whether the service accepted the token. A 401 or 403 may refuse the token; a 429, 5xx or foreign 4xx may precede its check. */
export const isTokenAccepted = (sent: Sent): boolean =>
  isServed(sent) ||
  (sent.kind === 'response' && isOtherRejection(sent.response.status) && !isForeignRefusal(sent.response));

const isOtherRejection = (status: number): boolean =>
  status >= 400 && status < 500 && ![401, 403, 429].includes(status);

/** Returns whether the service itself served the call. A page or a redirect comes from something in front of the service. */
export const isServed = (sent: Sent): boolean =>
  sent.kind === 'response' &&
  sent.response.status < 300 &&
  (sent.response.isPassed === true || isObjectLike(sent.response.body));
