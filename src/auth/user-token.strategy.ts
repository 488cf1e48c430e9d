import { Injectable } from '@nestjs/common';
import type { BearerTokens } from './bearer-tokens.js';
import { TenantTokens } from './tenant-tokens.service.js';

/**
 * The source of the "user access token" of the onboarding calls. The interface names it (section 5.7) but shows neither how it differs from
 * the tenant token nor how to obtain it. Once that is known, replace the provider in auth.module.ts (docs/remote.md has an example).
 */
export abstract class UserTokenStrategy {
  /** `userId` is the remote id of the user that the call is about. */
  abstract tokensFor(userId: string | undefined): BearerTokens;
}

/** Uses the tenant token for every user, as the interface's samples suggest. */
@Injectable()
export class TenantTokenStrategy extends UserTokenStrategy {
  constructor(private readonly tokens: TenantTokens) {
    super();
  }

  tokensFor(): BearerTokens {
    return this.tokens;
  }
}
