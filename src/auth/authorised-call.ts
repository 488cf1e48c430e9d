import { isDatabaseUnavailable } from '../platform/problem/database-unavailable.js';
import type { NotSent, RemoteRequest, Sent } from '../remote/outcome.rules.js';
import type { Remote } from '../remote/remote.service.js';
import type { BearerTokens, Grant } from './bearer-tokens.js';

/**
 * Sends a request with a token of `tokens`. The service refuses a call with 401 unread, so the call is repeated once with another token,
 * even a POST. A second 401 becomes `credentials_rejected`.
 */
export async function authorisedCall(
  remote: Remote,
  tokens: BearerTokens,
  request: RemoteRequest,
): Promise<Sent> {
  const asked = tokens.current();
  const first = 'kind' in asked ? asked : await orNone(asked);
  if (first.kind === 'not_sent') return first;
  const sent = await remote.send(withToken(request, first));
  if (!isRefusal(sent)) return settle(tokens, first, sent);
  const second = await orNone(tokens.renewed(first));
  if (second.kind === 'not_sent') return second;
  const sentAgain = await remote.send(withToken(request, second));
  return isRefusal(sentAgain) ? orNone(tokens.refused(second)) : settle(tokens, second, sentAgain);
}

/**
 * Returns `token_unavailable` if the database, where tokens are stored, is unavailable. Only for steps before a call or after a 401, when
 * the service has not acted on the request.
 */
async function orNone<T>(asked: Promise<T>): Promise<T | NotSent> {
  try {
    return await asked;
  } catch (error) {
    if (isDatabaseUnavailable(error)) return { kind: 'not_sent', reason: 'token_unavailable' };
    throw error;
  }
}

/** Always `Bearer`, regardless of token_type: the sample shows the scope's name there (interface section 2.2). */
const withToken = (request: RemoteRequest, { token }: Grant): RemoteRequest => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${token}` },
});

const isRefusal = (sent: Sent): boolean => sent.kind === 'answered' && sent.answer.status === 401;

/** Reports the result. Only a trial is awaited, since all other calls are blocked until it ends. */
async function settle(tokens: BearerTokens, grant: Grant, sent: Sent): Promise<Sent> {
  const told = sent.kind === 'answered' ? tokens.accepted(grant) : tokens.abandoned(grant);
  if (told) await told;
  return sent;
}
