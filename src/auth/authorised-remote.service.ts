import { Injectable } from '@nestjs/common';
import type { RemoteRequest, Sent } from '../remote/outcome.rules.js';
import { Remote } from '../remote/remote.service.js';
import { authorisedCall } from './authorised-call.js';
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
   * As `Remote.send`, with the header `authorization`. After a 401 the token is renewed, once for all replicas, and the call
   * repeated once; after a second 401 it is `credentials_rejected`, and so is every other call until a trial succeeds.
   * `user` is for the calls that the interface shows with a user access token (sections 4.3, 4.4, 5.7). While the database, where
   * tokens are kept, is away, a call that needs to ask for one is `token_unavailable`.
   */
  async send(request: RemoteRequest, audience: 'tenant' | 'user', userId?: string): Promise<Sent> {
    const tokens = audience === 'tenant' ? this.tenantTokens : this.userTokens.tokensFor(userId);
    return authorisedCall(this.remote, tokens, request);
  }
}
