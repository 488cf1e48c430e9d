import { Injectable } from '@nestjs/common';
import type { RemoteRequest, Sent } from '../remote/outcome.rules.js';
import { Remote } from '../remote/remote.service.js';
import { authorisedCall } from './authorised-call.js';
import { TenantTokens } from './tenant-tokens.service.js';
import { UserTokenStrategy } from './user-token.strategy.js';

/** Sends calls with a bearer token (interface section 5.2). */
@Injectable()
export class AuthorisedRemote {
  constructor(
    private readonly remote: Remote,
    private readonly tenantTokens: TenantTokens,
    private readonly userTokens: UserTokenStrategy,
  ) {}

  /**
   * Like `Remote.send`, with the header `authorization`. After a 401 the token is renewed, once for all replicas, and the call is repeated
   * once. After a second 401 this call and all others return `credentials_rejected` until a trial succeeds. `user` is for calls that the
   * interface shows with a user access token (sections 4.3, 4.4, 5.7). If the database, where tokens are stored, is unavailable, a call
   * that has to read a token from it returns `token_unavailable`.
   */
  async send(request: RemoteRequest, audience: 'tenant' | 'user', userId?: string): Promise<Sent> {
    const tokens = audience === 'tenant' ? this.tenantTokens : this.userTokens.tokensFor(userId);
    return authorisedCall(this.remote, tokens, request);
  }
}
