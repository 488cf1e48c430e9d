import { Injectable } from '@nestjs/common';
import { isDatabaseUnavailable } from '../platform/problem/database-unavailable.js';
import type { NotSent, RemoteRequest, Sent } from '../remote/outcome.rules.js';
import { Remote } from '../remote/remote.service.js';
import { UserTokenStrategy, type BearerTokens, type Grant } from './bearer-tokens.js';
import { TenantTokens } from './tenant-tokens.service.js';

/** Sends calls with a bearer token (interface section 5.2). */
@Injectable()
export class AuthorisedRemote {
  constructor(
    private readonly remote: Remote,
    private readonly tenantTokens: TenantTokens,
    private readonly userTokens: UserTokenStrategy,
  ) {}

  /** Sends a request. Use the audience `user` if the interface shows the call with a user access token (sections 4.3, 4.4, 5.7). */
  async send(request: RemoteRequest, audience: 'tenant' | 'user', userId?: string): Promise<Sent> {
    const tokens = audience === 'tenant' ? this.tenantTokens : this.userTokens.tokensFor(userId);
    return authorisedCall(this.remote, tokens, request);
  }
}

/**
 * Sends a request. After a 401, renews the token for all replicas and sends the request once more. This is safe even for a POST, because a
 * refused request had no effect.
 */
export async function authorisedCall(
  remote: Remote,
  tokens: BearerTokens,
  request: RemoteRequest,
): Promise<Sent> {
  const first = await orUnavailable(tokens.current());
  if (first.kind === 'not_sent') return first;
  const sent = await remote.send(withToken(request, first));
  if (!isRefusal(sent)) return report(tokens, first, sent);
  const second = await orUnavailable(tokens.renewed(first));
  if (second.kind === 'not_sent') return second;
  const sentAgain = await remote.send(withToken(request, second));
  // If this call is the trial (see Grant), its second 401 blocks all calls until a later trial succeeds.
  return isRefusal(sentAgain) ? orUnavailable(tokens.refused(second)) : report(tokens, second, sentAgain);
}

/**
 * Returns the result of `work`, or `token_unavailable` if the database is unavailable. Call it only if the remote service cannot have acted
 * on the request.
 */
async function orUnavailable<T>(work: T | Promise<T>): Promise<T | NotSent> {
  try {
    return await work;
  } catch (error) {
    if (isDatabaseUnavailable(error)) return { kind: 'not_sent', reason: 'token_unavailable' };
    throw error;
  }
}

/** Always sends the scheme `Bearer`, because in the interface's sample (section 2.2), token_type is the name of the scope. */
const withToken = (request: RemoteRequest, { token }: Grant): RemoteRequest => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${token}` },
});

const isRefusal = (sent: Sent): boolean => sent.kind === 'response' && sent.response.status === 401;

async function report(tokens: BearerTokens, grant: Grant, sent: Sent): Promise<Sent> {
  await (hasAcceptedToken(sent) ? tokens.accepted(grant) : tokens.abandoned(grant));
  return sent;
}

/** A 403 may be about the token, and a 429 or 5xx may precede its check. */
const hasAcceptedToken = (sent: Sent): boolean =>
  sent.kind === 'response' && sent.response.status < 500 && ![403, 429].includes(sent.response.status);
