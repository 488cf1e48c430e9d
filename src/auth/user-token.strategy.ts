import { Injectable } from '@nestjs/common';
import type { BearerTokens } from './bearer-tokens.js';
import { TenantTokens } from './tenant-tokens.service.js';

/**
 * Where the "user access token" of the onboarding calls comes from. The interface names it (section 5.7), but does not show how
 * it differs from the tenant token or how it is obtained; replace the provider in auth.module.ts once that is known
 * (docs/remote.md has an example).
 */
export abstract class UserTokenStrategy {
  /** `userId` is the remote id of the user that the call is about. */
  abstract tokensFor(userId: string | undefined): BearerTokens;
}

/** The tenant token for every user: what the interface's samples come to, as far as they show it. */
@Injectable()
export class TenantTokenStrategy extends UserTokenStrategy {
  constructor(private readonly tokens: TenantTokens) {
    super();
  }

  tokensFor(): BearerTokens {
    return this.tokens;
  }
}
