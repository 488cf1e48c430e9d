import { Injectable } from '@nestjs/common';
import { authorisedCall } from '../../src/auth/authorised-remote.service.js';
import { UserTokenStrategy, type BearerTokens, type Grant } from '../../src/auth/bearer-tokens.js';
import { TenantTokens } from '../../src/auth/tenant-tokens.service.js';
import { readTokenResponse } from '../../src/auth/token-request.service.js';
import type { NotSent } from '../../src/remote/outcome.rules.js';
import { readObject } from '../../src/remote/wire/read-field.js';
import { outcomeOf } from '../../src/remote/wire/read-response.js';
import { Remote } from '../../src/remote/remote.service.js';

/** Assumes that POST /api/v1/ssa/users/{userId}/token, sent with the tenant token, returns a user token in the format of /oauth/token. */
@Injectable()
export class ExchangedUserTokens extends UserTokenStrategy {
  private readonly users = new Map<string, UserToken>();

  constructor(
    private readonly remote: Remote,
    private readonly tenantTokens: TenantTokens,
  ) {
    super();
  }

  tokensFor(userId: string | undefined): BearerTokens {
    if (userId === undefined) return this.tenantTokens;
    let token = this.users.get(userId);
    if (!token) this.users.set(userId, (token = new UserToken(userId, this.remote, this.tenantTokens)));
    return token;
  }
}

class UserToken implements BearerTokens {
  private cached: Promise<Grant | NotSent> | undefined;
  private renewAt = 0;
  private generation = 0;

  constructor(
    private readonly userId: string,
    private readonly remote: Remote,
    private readonly tenantTokens: BearerTokens,
  ) {}

  /** Returns the current token; concurrent callers share one request. */
  current(): Promise<Grant | NotSent> {
    if (performance.now() >= this.renewAt) this.cached = undefined;
    return (this.cached ??= this.obtain());
  }

  async renewed(refused: Grant): Promise<Grant | NotSent> {
    if (refused.generation === this.generation) this.cached = undefined;
    return this.current();
  }

  async refused(): Promise<NotSent> {
    return { kind: 'not_sent', reason: 'credentials_rejected', retryAfterMs: 60_000 };
  }

  accepted(): void {}

  abandoned(): void {}

  private async obtain(): Promise<Grant | NotSent> {
    // Until the lifetime is known, all callers wait for this request.
    this.renewAt = Infinity;
    const path = `/api/v1/ssa/users/${encodeURIComponent(this.userId)}/token`;
    const sent = await authorisedCall(this.remote, this.tenantTokens, {
      operation: 'token',
      method: 'POST',
      path,
    });
    const outcome = outcomeOf(sent, ({ body }) => readTokenResponse(readObject(body), new Date()));
    if (outcome.kind !== 'done') {
      this.renewAt = performance.now() + 5_000;
      return outcome.kind === 'not_sent'
        ? outcome
        : { kind: 'not_sent', reason: 'token_unavailable', retryAfterMs: 5_000 };
    }
    const { value, life } = outcome.value;
    this.renewAt = performance.now() + 0.8 * life.lifetimeMs;
    return { kind: 'token', token: value, generation: ++this.generation, grantedAt: performance.now() };
  }
}
