import type { RemoteRequest, Sent } from '../remote/outcome.js';
import type { Remote } from '../remote/remote.service.js';
import type { BearerTokens, Grant } from './bearer-tokens.js';

/**
 * Sends a request with a token of `tokens`. A 401 was turned away unread, so the call is repeated once with another token, a
 * POST too; after a second 401 it is `credentials_rejected`.
 */
export async function authorisedCall(
  remote: Remote,
  tokens: BearerTokens,
  request: RemoteRequest,
): Promise<Sent> {
  const first = await tokens.current();
  if (first.kind === 'not_sent') return first;
  const sent = await remote.send(withToken(request, first));
  if (!isRefusal(sent)) return settle(tokens, first, sent);
  const second = await tokens.renewed(first);
  if (second.kind === 'not_sent') return second;
  const sentAgain = await remote.send(withToken(request, second));
  return isRefusal(sentAgain) ? tokens.refused(second) : settle(tokens, second, sentAgain);
}

/** `Bearer` whatever token_type says: the sample shows the scope's name there (interface section 2.2). */
const withToken = (request: RemoteRequest, { token }: Grant): RemoteRequest => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${token}` },
});

const isRefusal = (sent: Sent): boolean => sent.kind === 'answered' && sent.answer.status === 401;

/** Nothing but a trial is worth waiting for here: it holds back everybody else. */
async function settle(tokens: BearerTokens, grant: Grant, sent: Sent): Promise<Sent> {
  const told = sent.kind === 'answered' ? tokens.accepted(grant) : tokens.abandoned(grant);
  if (told) await told;
  return sent;
}
