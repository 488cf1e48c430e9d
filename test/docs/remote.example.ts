import { Injectable } from '@nestjs/common';
import { withToken } from '../../src/auth/authorised-remote.service.js';
import { BearerTokens, isTokenRefused, type TokenCall } from '../../src/auth/bearer-tokens.js';
import { TenantTokens } from '../../src/auth/tenant-tokens.service.js';
import { readTokenResponse } from '../../src/auth/token.client.js';
import type { NotSent, Outcome, Sent } from '../../src/remote/outcome.rules.js';
import { readObject } from '../../src/remote/wire/read-field.js';
import { outcomeOf } from '../../src/remote/wire/read-response.js';
import { Remote } from '../../src/remote/remote.service.js';

interface UserToken {
  readonly value: Promise<string | NotSent>;
  renewAt: number;
}

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

  async send(call: TokenCall, userId = ''): Promise<Sent> {
    const used = this.tokenOf(userId);
    const token = await used.value;
    if (typeof token !== 'string') return token;
    const sent = await call.send(token);
    if (!isTokenRefused(sent, call)) return sent;
    if (this.users.get(userId) === used) this.users.delete(userId);
    const other = await this.tokenOf(userId).value;
    return typeof other === 'string' ? call.send(other) : other;
  }

  /** Returns the user's token; concurrent callers share one request. */
  private tokenOf(userId: string): UserToken {
    const known = this.users.get(userId);
    if (known !== undefined && performance.now() < known.renewAt) return known;
    // Until the lifetime is known, all callers wait for this request.
    const token: UserToken = {
      value: this.obtain(userId, (afterMs) => (token.renewAt = performance.now() + afterMs)),
      renewAt: Infinity,
    };
    this.users.set(userId, token);
    return token;
  }

  private async obtain(userId: string, renew: (afterMs: number) => void): Promise<string | NotSent> {
    const path = `/api/v1/ssa/users/${encodeURIComponent(userId)}/token`;
    const request = { operation: 'token', method: 'POST', path } as const;
    const send = (token: string) => this.remote.send(withToken(request, token));
    const sent = await this.tenantTokens.send({ send, operation: 'token', isOdd: false });
    const outcome = outcomeOf(sent, ({ body }) => readTokenResponse(readObject(body), new Date()));
    renew(outcome.kind === 'done' ? 0.8 * outcome.value.life.lifetimeMs : 5_000);
    return outcome.kind === 'done' ? outcome.value.value : withoutToken(outcome);
  }
}

const withoutToken = (outcome: Outcome<unknown>): NotSent =>
  outcome.kind === 'not_sent'
    ? outcome
    : { kind: 'not_sent', reason: 'token_unavailable', retryAfterMs: 5_000 };
