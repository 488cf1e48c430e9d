import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { hideToken } from '../platform/redaction/secrets.js';
import { ContractDrift } from '../remote/drift/contract-drift.service.js';
import type { NotSent, Outcome } from '../remote/outcome.rules.js';
import { outcomeOf } from '../remote/wire/read-response.js';
import { Remote } from '../remote/remote.service.js';
import { backoffMs, coolDownMs, renewAfterMs, type TokenRow } from './token-plan.js';
import {
  findTokenDrift,
  readTokenResponse,
  type TenantCredentials,
  type Token,
  TOKEN_ANSWER,
  tokenRequest,
} from './token.client.js';
import { TokenStore } from './token.store.js';

export type Renewal =
  | {
      readonly kind: 'obtained';
      readonly token: Token;
      readonly generation: number;
      readonly renewInMs: number;
    }
  /** The request took longer than the lease, and another replica has acted in the meantime. */
  | { readonly kind: 'lease_lost' }
  | NotSent;

/** Requests a token and saves the result, on behalf of the holder of the row's lease. */
@Injectable()
export class TokenRenewal {
  private readonly logger = new Logger('Auth');
  private readonly credentials: TenantCredentials;

  constructor(
    private readonly store: TokenStore,
    private readonly remote: Remote,
    private readonly drift: ContractDrift,
    environment: Environment,
  ) {
    this.credentials = {
      clientId: environment.SCS_CLIENT_ID,
      clientSecret: environment.SCS_CLIENT_SECRET,
      scope: environment.SCS_SCOPE,
    };
  }

  /** Obtains and saves a token. `trialLeaseMs` is null outside a trial. */
  async obtain(row: TokenRow, lease: string, trialLeaseMs: number | null): Promise<Renewal> {
    const sent = await this.remote.send(tokenRequest(this.credentials));
    this.drift.examine('token', sent, TOKEN_ANSWER);
    const outcome = outcomeOf(sent, (answer) => readTokenResponse(answer, new Date()));
    if (outcome.kind !== 'done') return this.failed(row, lease, outcome);
    const { value: token } = outcome;
    hideToken(token.value);
    this.drift.report('token', findTokenDrift(token));
    const renewInMs = renewAfterMs(token.life.lifetimeMs, Math.random());
    const generation = await this.store.save(lease, token, renewInMs, trialLeaseMs);
    if (generation === null) return { kind: 'lease_lost' };
    const { reading, lifetimeMs } = token.life;
    this.logger.log(
      `token of generation ${generation}: expires_in read as ${reading}, ${lifetimeMs / 1_000} s`,
    );
    return { kind: 'obtained', token, generation, renewInMs };
  }

  private async failed(
    row: TokenRow,
    lease: string,
    outcome: Exclude<Outcome<Token>, { kind: 'done' }>,
  ): Promise<NotSent> {
    if (outcome.kind === 'not_sent' && outcome.reason === 'stopping') {
      await this.store.release(lease, 0);
      return outcome;
    }
    const rejected = isAboutCredentials(outcome);
    const asked = 'retryAfterMs' in outcome ? (outcome.retryAfterMs ?? 0) : 0;
    const retryAfterMs = rejected
      ? coolDownMs(row.failures + 2)
      : Math.max(backoffMs(row.failures, Math.random()), asked);
    const error = `no token: ${describe(outcome)}`;
    await this.store.fail(lease, error, retryAfterMs, rejected);
    this.logger.warn(`${error}; next attempt in ${Math.round(retryAfterMs)} ms`);
    return {
      kind: 'not_sent',
      reason: rejected ? 'credentials_rejected' : 'token_unavailable',
      retryAfterMs,
    };
  }
}

/**
 * Returns whether the credentials are at fault. OAuth responds to wrong ones with 401 or 400 (RFC 6749, section 5.2); a 404 or 405 concerns
 * the address.
 */
function isAboutCredentials(outcome: Outcome<Token>): boolean {
  if (outcome.kind === 'not_sent') return outcome.reason === 'credentials_rejected';
  return outcome.kind === 'rejected' && outcome.status === 400;
}

function describe(outcome: Exclude<Outcome<Token>, { kind: 'done' }>): string {
  switch (outcome.kind) {
    case 'rejected':
      return `answered with status ${outcome.status}: ${outcome.detail}`;
    case 'not_sent':
    case 'ambiguous':
      return outcome.reason;
    case 'unreadable':
      return `answered with status ${outcome.status}, but ${outcome.reason}`;
  }
}
