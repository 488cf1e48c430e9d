import { Injectable } from '@nestjs/common';
import { sendWithToken } from '../../src/auth/authorised-remote.service.js';
import { BearerTokens, type Grant } from '../../src/auth/bearer-tokens.js';
import { TenantTokens } from '../../src/auth/tenant-tokens.service.js';
import { readTokenResponse } from '../../src/auth/token.client.js';
import type { NotSent } from '../../src/remote/outcome.rules.js';
import { readObject } from '../../src/remote/wire/read-field.js';
import { outcomeOf } from '../../src/remote/wire/read-response.js';
import { Remote } from '../../src/remote/remote.service.js';

interface UserToken {
  readonly grant: Promise<Grant | NotSent>;
  renewAt: number;
}

const unavailable = (reason: NotSent['reason'], retryAfterMs: number): NotSent => ({
  kind: 'not_sent',
  reason,
  retryAfterMs,
});

/** Assumes that POST /api/v1/ssa/users/{userId}/token, sent with the tenant token, returns a user token in the format of /oauth/token. */
@Injectable()
export class ExchangedUserTokens extends BearerTokens {
  private readonly users = new Map<string, UserToken>();

  constructor(
    private readonly remote: Remote,
    private readonly tenantTokens: TenantTokens,
  ) {
    super();
  }

  /** Returns the user's token; concurrent callers share one request. */
  current(userId = ''): Promise<Grant | NotSent> {
    const known = this.users.get(userId);
    if (known !== undefined && performance.now() < known.renewAt) return known.grant;
    // Until the lifetime is known, all callers wait for this request.
    const token: UserToken = {
      grant: this.obtain(userId, (afterMs) => (token.renewAt = performance.now() + afterMs)),
      renewAt: Infinity,
    };
    this.users.set(userId, token);
    return token.grant;
  }

  async replace(refused: Grant, userId = ''): Promise<Grant | NotSent> {
    const known = await this.users.get(userId)?.grant;
    if (known?.kind === 'token' && known.token === refused.token) this.users.delete(userId);
    return this.current(userId);
  }

  async reject(): Promise<NotSent> {
    return unavailable('credentials_rejected', 60_000);
  }

  async accept(): Promise<void> {}

  async release(): Promise<void> {}

  private async obtain(userId: string, renew: (afterMs: number) => void): Promise<Grant | NotSent> {
    const path = `/api/v1/ssa/users/${encodeURIComponent(userId)}/token`;
    const request = { operation: 'token', method: 'POST', path } as const;
    const sent = await sendWithToken(this.remote, this.tenantTokens, request);
    const outcome = outcomeOf(sent, ({ body }) => readTokenResponse(readObject(body), new Date()));
    if (outcome.kind !== 'done') {
      renew(5_000);
      return outcome.kind === 'not_sent' ? outcome : unavailable('token_unavailable', 5_000);
    }
    const { value: token, life } = outcome.value;
    renew(0.8 * life.lifetimeMs);
    return { kind: 'token', token, generation: 0, grantedAt: performance.now() };
  }
}
