import { Injectable } from '@nestjs/common';
import type { RemoteRequest, Sent } from '../remote/outcome.js';
import { Remote } from '../remote/remote.service.js';
import type { BearerTokens, Grant } from './bearer-tokens.js';
import { TenantTokens } from './tenant-tokens.service.js';
import { UserTokenStrategy } from './user-token.strategy.js';

/** Calls with a bearer token (interface section 5.2). */
@Injectable()
export class AuthorisedRemote {
  constructor(
    private readonly remote: Remote,
    private readonly tenantTokens: TenantTokens,
    private readonly userTokens: UserTokenStrategy,
  ) {}

  /**
   * As `Remote.send`, with the header `authorization`. A 401 was turned away unread, so the call is repeated once with another
   * token, a POST too; after a second 401 it is `credentials_rejected`, and so is every other call until a trial succeeds.
   * `user` is for the calls that the interface shows with a user access token (sections 4.3, 4.4, 5.7).
   */
  async send(request: RemoteRequest, audience: 'tenant' | 'user', userId?: string): Promise<Sent> {
    const tokens = audience === 'tenant' ? this.tenantTokens : this.userTokens.tokensFor(userId);
    const first = await tokens.current();
    if (first.kind === 'not_sent') return first;
    const sent = await this.sendWith(request, first);
    if (!isRefusal(sent)) return settle(tokens, first, sent);
    const second = await tokens.renewed(first);
    if (second.kind === 'not_sent') return second;
    const sentAgain = await this.sendWith(request, second);
    return isRefusal(sentAgain) ? tokens.refused(second) : settle(tokens, second, sentAgain);
  }

  private sendWith(request: RemoteRequest, grant: Grant): Promise<Sent> {
    // `Bearer` whatever token_type says: the sample shows the scope's name there (interface section 2.2).
    return this.remote.send({
      ...request,
      headers: { ...request.headers, authorization: `Bearer ${grant.token}` },
    });
  }
}

const isRefusal = (sent: Sent): boolean => sent.kind === 'answered' && sent.answer.status === 401;

/** Nothing but a trial is worth waiting for here: it holds back everybody else. */
async function settle(tokens: BearerTokens, grant: Grant, sent: Sent): Promise<Sent> {
  const told = sent.kind === 'answered' ? tokens.accepted(grant) : tokens.abandoned(grant);
  if (told) await told;
  return sent;
}
